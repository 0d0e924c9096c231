package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// helpCommand explains the commands of table, itself among them.
func helpCommand(table func() commandTable) command {
	return command{
		name:    "help",
		args:    "[COMMAND]",
		summary: "Explain recfs or one of its commands",
		run: func(*pflag.FlagSet) runFunc {
			return func(_ context.Context, e *env, args []string) error {
				if len(args) == 0 {
					return overview(e.stdout, table())
				}
				cmd := table().named(args[0])
				if cmd.run == nil {
					return usagef("help: unknown command %q", args[0])
				}
				return cmd.help(e.stdout)
			}
		},
	}
}

// overview prints the commands, one a line.
func overview(w io.Writer, table commandTable) error {
	var b strings.Builder
	b.WriteString("recfs shows an archive of game recordings as a read-only tree of plain files.\n\n")
	b.WriteString("Usage:\n  recfs SOURCE MOUNTPOINT      the same as recfs mount\n  recfs COMMAND [ARGUMENTS]\n\nCommands:\n")
	for _, cmd := range table {
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

// flags divides the flags of cmd into its own and those of all commands that read recordings.
func (cmd command) flags() (own, shared *pflag.FlagSet) {
	own, shared = newFlagSet(cmd.name), newFlagSet(cmd.name)
	common := newFlagSet("")
	readFlags(common)
	all, _ := cmd.parse()
	all.VisitAll(func(f *pflag.Flag) {
		if common.Lookup(f.Name) != nil {
			shared.AddFlag(f)
		} else {
			own.AddFlag(f)
		}
	})
	return own, shared
}
