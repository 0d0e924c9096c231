package main

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"recfs/formats/catalogue"
	"recfs/fs"
	"recfs/nodes"
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

// valueCandidates completes the value of a flag, where the last of words is one: after --flag= or a
// word that is a flag with a value.
func valueCandidates(ctx context.Context, flags *pflag.FlagSet, words []string) (out []string, ok bool) {
	before, last := words[len(words)-2], words[len(words)-1]
	lead, value, given := strings.Cut(last, "=")
	flag := flagCalled(flags, before)
	if given && strings.HasPrefix(lead, "--") {
		flag, lead = flagCalled(flags, lead), lead+"="
	} else {
		lead, value = "", last
	}
	if flag == nil || flag.NoOptDefVal != "" && lead == "" {
		return nil, false
	}
	for _, candidate := range flagValues(ctx, flags, flag, value, words[1:]) {
		out = append(out, lead+candidate)
	}
	return out, true
}

// flagCalled returns the flag that a word is, nil if it is none.
func flagCalled(flags *pflag.FlagSet, word string) *pflag.Flag {
	if name, ok := strings.CutPrefix(word, "--"); ok {
		return flags.Lookup(name)
	}
	if len(word) == 2 && word[0] == '-' {
		return flags.ShorthandLookup(word[1:])
	}
	return nil
}

// flagValues returns the values of one of flags that begin with prefix, after args. That one is a
// file or a player is told by the word for it in the usage, and a|b are all that there are.
func flagValues(ctx context.Context, flags *pflag.FlagSet, flag *pflag.Flag, prefix string, args []string) []string {
	out := withPrefix(slices.Clone(flag.Annotations[offered]), prefix)
	switch word, _ := pflag.UnquoteUsage(flag); {
	case word == "FILE":
		out = append(out, pathCandidates(ctx, prefix)...)
	case word == "DIR":
		out = append(out, slices.DeleteFunc(pathCandidates(ctx, prefix), func(name string) bool { return !strings.HasSuffix(name, "/") })...)
	case word == "PLAYER":
		out = append(out, playerCandidates(ctx, args, prefix)...)
	case word == "OPTIONS":
		out = append(out, optionCandidates(flags, prefix)...)
	case strings.Contains(word, "|"):
		out = withPrefix(strings.Split(word, "|"), prefix)
	}
	return out
}

// optionCandidates completes the last of the mount options that flags are, too.
func optionCandidates(flags *pflag.FlagSet, prefix string) (out []string) {
	lead := prefix[:strings.LastIndex(prefix, ",")+1]
	flags.VisitAll(func(f *pflag.Flag) {
		option := lead + strings.ReplaceAll(f.Name, "-", "_")
		if f.NoOptDefVal == "" {
			option += "="
		}
		if f.Shorthand == "" && !f.Hidden && strings.HasPrefix(option, prefix) {
			out = append(out, option)
		}
	})
	return out
}

const maxCandidates = 500

// completionTime is how long somebody who pressed a key waits for candidates.
var completionTime = 2 * time.Second

// pathCandidates completes a path, also where it leads into a recording.
func pathCandidates(ctx context.Context, prefix string) []string {
	dir, start := path.Split(prefix)
	var out []string
	looking(ctx, func(ctx context.Context, a *archive) {
		for _, name := range a.expand(ctx, []string{cmp.Or(fromHome(dir), ".")}) {
			if e, err := a.resolve(ctx, name); err == nil && e.Dir != nil {
				out = append(out, startingWith(ctx, e, dir, start)...)
			}
			if len(out) >= maxCandidates {
				break
			}
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// looking calls look with the flags' defaults, for as long as somebody waits.
func looking(ctx context.Context, look func(context.Context, *archive)) {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	if a, err := readFlags(pflag.NewFlagSet("", pflag.ContinueOnError)).open(&env{stderr: io.Discard}); err == nil {
		defer a.close()
		look(ctx, a)
	}
}

// fromHome returns a path as the shell gives it that begins with ~/.
func fromHome(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return path.Join(os.Getenv("HOME"), rest)
	}
	return name
}

// playerCandidates returns the players of the recordings in args whose names begin with prefix.
func playerCandidates(ctx context.Context, args []string, prefix string) (out []string) {
	looking(ctx, func(ctx context.Context, a *archive) {
		for _, arg := range args {
			if e, err := a.resolve(ctx, sourceOf(fromHome(arg))); err == nil {
				known, _, _ := catalogue.Summarize(ctx, e.Dir)
				out = append(out, withPrefix(known.Players, prefix)...)
			}
		}
	})
	return slices.DeleteFunc(out, func(name string) bool { return printable(name) != name }) // shells take one a line
}

func startingWith(ctx context.Context, e nodes.Entry, dir, start string) []string {
	var out []string
	for child, err := range nodes.Entries(ctx, e) {
		if err != nil || len(out) == maxCandidates {
			break
		}
		if !strings.HasPrefix(child.Name, start) || start == "" && strings.HasPrefix(child.Name, ".") {
			continue
		}
		if printable(child.Name) != child.Name { // shells take one candidate a line
			continue
		}
		name := dir + child.Name
		if child.Dir != nil {
			name += "/"
		}
		out = append(out, name)
	}
	return out
}

// shellWords returns the words of a line as a shell divides and unquotes it; the last one, which is
// empty after a blank, need not be complete.
func shellWords(line string) []string {
	words := []string{""}
	last := &words[0]
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == '\\' && quote != '\'' && i+1 < len(line) && (quote == 0 || strings.IndexByte("$`\"\\", line[i+1]) >= 0):
			i++
			*last += line[i : i+1]
		case quote == 0 && (c == ' ' || c == '\t'):
			if *last != "" {
				words = append(words, "")
				last = &words[len(words)-1]
			}
		default:
			*last += line[i : i+1]
		}
	}
	return words
}
