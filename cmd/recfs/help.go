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
		about: `
'recfs help flags' lists the flags that all commands have which read recordings.`,
		run: func(*pflag.FlagSet) runFunc {
			return func(_ context.Context, e *env, args []string) error {
				if len(args) == 0 {
					return overview(e.stdout, table())
				}
				if args[0] == sharedTopic {
					return sharedHelp(e.stdout, e.width())
				}
				cmd := table().named(args[0])
				if cmd.run == nil {
					return usagef("help: unknown command %q%s", args[0], didYouMean(args[0], append(table().names(), sharedTopic)))
				}
				return cmd.help(e.stdout, e.width())
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
	b.WriteString("\n'recfs help COMMAND' tells more about one of them, 'recfs help flags' what all share that read recordings.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// sharedTopic is what help calls the flags of all commands that read recordings.
const sharedTopic = "flags"

// sharedHelp explains the flags of all commands that read recordings.
func sharedHelp(w io.Writer, width int) error {
	flags := newFlagSet("")
	readFlags(flags)
	_, err := io.WriteString(w, "Flags of all commands that read recordings:\n"+flagUsages(flags, width))
	return err
}

// help prints all there is to know about cmd but the flags that it shares.
func (cmd command) help(w io.Writer, width int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\nUsage:\n  %s\n", cmd.summary, cmd.usage())
	for paragraph := range strings.SplitSeq(strings.TrimSpace(cmd.about), "\n\n") {
		if paragraph != "" {
			b.WriteString("\n" + wrap(paragraph, width))
		}
	}
	own, shared := cmd.flags()
	if own.HasAvailableFlags() {
		b.WriteString("\nFlags:\n" + flagUsages(own, width))
	}
	if shared.HasAvailableFlags() {
		b.WriteString("\n" + wrap("It also has the flags of all commands that read recordings, which 'recfs help flags' lists: "+
			strings.Join(flagNames(shared, "--"), ", ")+".", width))
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
