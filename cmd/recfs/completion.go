package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// completionScripts ask recfs itself for candidates.
var completionScripts = map[string]string{
	"bash": `_recfs() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("${line%%$'\t'*}")
    done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]] && compopt -o nospace
}
complete -o default -o filenames -F _recfs recfs
`,
	"zsh": `#compdef recfs
_recfs() {
    local line value
    local -a plain described
    while IFS= read -r line; do
        value="${line%%$'\t'*}"
        if [[ $line == *$'\t'* ]]; then
            described+=("${value//:/\\:}:${line#*$'\t'}")
        else
            plain+=("$value")
        fi
    done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    (( ${#described} )) && _describe recfs described
    (( ${#plain} )) && compadd -S '' -- "${plain[@]}"
    (( ${#described} + ${#plain} )) || _files
}
if [[ ${funcstack[1]} == _recfs ]]; then # read from a directory of functions, to be called now
    _recfs "$@"
else
    compdef _recfs recfs
fi
`,
	"fish": `function __recfs_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] __complete $words[2..-1] 2>/dev/null
end
complete -c recfs -f -a '(__recfs_complete)'
`,
}

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
		if completionScripts[args[0]] == "" {
			return usagef("completion: name one of bash, zsh and fish")
		}
		_, err := io.WriteString(e.stdout, completionScripts[args[0]])
		return err
	}
}

// completeCommand prints candidates for the last of its words, one a line: the word and, after a
// tab, what it means.
func completeCommand(table func() commandTable) command {
	return command{
		name:    "__complete",
		summary: "Print candidates for the last word of a command line",
		raw:     true,
		hidden:  true,
		run: func(*pflag.FlagSet) runFunc {
			return func(ctx context.Context, e *env, words []string) error {
				for _, c := range complete(ctx, table(), words) {
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
	switch {
	case cmd.run == nil:
		return nil
	case strings.HasPrefix(last, "-"):
		return flagCandidates(cmd, last)
	case cmd.name == "help":
		return append(commandCandidates(table, last), withPrefix([]string{sharedTopic}, last)...)
	case cmd.name == "cache":
		return withPrefix([]string{"clear", "ls", "prune"}, last)
	case cmd.name == "completion":
		return withPrefix([]string{"bash", "fish", "zsh"}, last)
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

func flagCandidates(cmd command, prefix string) []string {
	var out []string
	flags, _ := cmd.parse()
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
