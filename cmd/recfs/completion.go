package main

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"recfs/fs"
)

// completionScripts ask recfs itself for candidates. Each has the name of its shell.
//
//go:embed completions
var completionScripts embed.FS

var completionCommand = command{
	name:    "completion",
	args:    "SHELL",
	summary: "Print the completion script for bash, zsh or fish",
	about: `
Bash reads it with 'source <(recfs completion bash)', zsh with 'source <(recfs completion zsh)', fish with
'recfs completion fish | source'. Paths are completed into recordings.`,
	run: runCompletion,
}

func runCompletion(*pflag.FlagSet) runFunc {
	return func(_ context.Context, e *env, args []string) error {
		script, err := completionScripts.ReadFile("completions/" + args[0])
		if err != nil {
			return usagef("completion: name one of bash, zsh and fish")
		}
		_, err = e.stdout.Write(script)
		return err
	}
}

// completeCommand prints candidates for the last of its words, one a line: the word and, after a
// tab, what it means.
func completeCommand(table func() commandTable) command {
	return completer("__complete", func(ctx context.Context, words []string) []string {
		return complete(ctx, table(), words)
	})
}

// completeLineCommand does the same for Readline, whose words also end at = : @ and the like. It
// has the line up to the cursor and the part of it that a candidate replaces.
func completeLineCommand(table func() commandTable) command {
	return completer("__complete-line", func(ctx context.Context, args []string) (out []string) {
		if len(args) != 2 {
			return nil
		}
		words, replaced := shellWords(args[0]), shellWords(args[1])
		if len(replaced) > 1 { // the quote before it is left out
			replaced = shellWords(`"` + args[1])
		}
		stays := max(len(words[len(words)-1])-len(replaced[0]), 0)
		for _, c := range complete(ctx, table(), words[1:]) {
			out = append(out, c[min(stays, len(c)):])
		}
		return out
	})
}

func completer(name string, candidates func(ctx context.Context, args []string) []string) command {
	return command{
		name:    name,
		summary: "Print candidates for the last word of a command line",
		raw:     true,
		hidden:  true,
		run: func(*pflag.FlagSet) runFunc {
			return func(ctx context.Context, e *env, args []string) error {
				for _, c := range candidates(ctx, args) {
					if _, err := fmt.Fprintln(e.stdout, c); err != nil {
						return err
					}
				}
				return nil
			}
		},
	}
}

func complete(ctx context.Context, table commandTable, words []string) []string {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	if len(words) == 1 {
		return append(commandCandidates(table, last), pathCandidates(ctx, last)...)
	}
	cmd := table.named(words[0])
	if cmd.run == nil {
		return nil
	}
	flags, _ := cmd.parse()
	if out, ok := valueCandidates(ctx, flags, words); ok {
		return out
	}
	switch {
	case strings.HasPrefix(last, "-"):
		return flagCandidates(flags, last)
	case cmd.name == "help":
		return append(commandCandidates(table, last), withPrefix([]string{sharedTopic}, last)...)
	case cmd.name == "cache":
		return withPrefix([]string{"clear", "ls", "prune"}, last)
	case cmd.name == "completion":
		return withPrefix([]string{"bash", "fish", "zsh"}, last)
	case cmd.name == "export" && len(words) == 2:
		return withPrefix([]string{"tables"}, last)
	case cmd.name == "umount" || cmd.name == "stats":
		if mounts := withPrefix(fs.Mounts(), last); len(mounts) > 0 {
			return mounts
		}
		return pathCandidates(ctx, last)
	case strings.ContainsAny(cmd.args, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"):
		return pathCandidates(ctx, last)
	}
	return nil
}

func commandCandidates(table commandTable, prefix string) []string {
	var out []string
	for _, cmd := range table {
		if !cmd.hidden && strings.HasPrefix(cmd.name, prefix) {
			out = append(out, cmd.name+"\t"+cmd.summary)
		}
	}
	return out
}

func flagCandidates(flags *pflag.FlagSet, prefix string) []string {
	var out []string
	flags.VisitAll(func(f *pflag.Flag) {
		if name := "--" + f.Name; !f.Hidden && strings.HasPrefix(name, prefix) {
			_, usage := pflag.UnquoteUsage(f)
			out = append(out, name+"\t"+usage)
		}
	})
	return out
}

func withPrefix(words []string, prefix string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, prefix) })
}
