package main

import (
	"context"
	"fmt"
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
					return e.tell(overview(table()))
				}
				if args[0] == sharedTopic {
					return e.tell(sharedHelp(e.width()))
				}
				cmd := table().named(args[0])
				if cmd.run == nil {
					return usagef("help: unknown command %q%s", args[0], didYouMean(args[0], append(table().names(), sharedTopic)))
				}
				return e.tell(cmd.help(e.width()))
			}
		},
	}
}

// overview has the commands, one a line.
func overview(table commandTable) string {
	var b strings.Builder
	b.WriteString("recfs shows an archive of game recordings as a read-only tree of plain files.\n\n")
	b.WriteString("Usage:\n  recfs SOURCE MOUNTPOINT      the same as recfs mount\n  recfs COMMAND [ARGUMENTS]\n\nCommands:\n")
	for _, cmd := range table {
		if !cmd.hidden {
			fmt.Fprintf(&b, "  %-16s %s\n", cmd.name, cmd.summary)
		}
	}
	b.WriteString("\n'recfs help COMMAND' tells more about one of them, 'recfs help flags' what all share that read recordings.\n")
	return b.String()
}

// sharedTopic is what help calls the flags of all commands that read recordings.
const sharedTopic = "flags"

// sharedHelp explains the flags of all commands that read recordings.
func sharedHelp(width int) string {
	flags := newFlagSet("")
	readFlags(flags)
	return "Flags of all commands that read recordings:\n" + flagUsages(flags, width)
}

// help is all there is to know about cmd but the flags that it shares.
func (cmd command) help(width int) string {
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
	return b.String()
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
