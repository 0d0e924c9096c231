package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

func helpCommand(*pflag.FlagSet) runFunc {
	return func(_ context.Context, e *env, args []string) error {
		if len(args) == 0 {
			return overview(e.stdout)
		}
		cmd := commandNamed(args[0])
		if cmd.run == nil {
			return usagef("help: unknown command %q", args[0])
		}
		return cmd.help(e.stdout)
	}
}

// overview prints the commands, one a line.
func overview(w io.Writer) error {
	var b strings.Builder
	b.WriteString("recfs shows an archive of game recordings as a read-only tree of plain files.\n\n")
	b.WriteString("Usage:\n  recfs SOURCE MOUNTPOINT      the same as recfs mount\n  recfs COMMAND [ARGUMENTS]\n\nCommands:\n")
	for _, cmd := range commands() {
		if !cmd.hidden {
			fmt.Fprintf(&b, "  %-16s %s\n", cmd.name, cmd.summary)
		}
	}
	b.WriteString("\n'recfs help COMMAND' tells more about one of them.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// help prints all there is to know about cmd.
func (cmd command) help(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\nUsage:\n  %s\n", cmd.summary, cmd.usage())
	if cmd.about != "" {
		b.WriteString("\n" + strings.TrimSpace(cmd.about) + "\n")
	}
	own, shared := cmd.flags()
	if own.HasAvailableFlags() {
		b.WriteString("\nFlags:\n" + own.FlagUsages())
	}
	if shared.HasAvailableFlags() {
		b.WriteString("\nFlags of all commands that read recordings:\n" + shared.FlagUsages())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (cmd command) usage() string {
	words := []string{"recfs", cmd.name}
	if flags, _ := cmd.parse(); flags.HasAvailableFlags() {
		words = append(words, "[FLAGS]")
	}
	if cmd.args != "" {
		words = append(words, cmd.args)
	}
	return strings.Join(words, " ")
}
