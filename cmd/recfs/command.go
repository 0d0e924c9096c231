package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// A command is one row of the table from which dispatch, help, completion and the manual page come.
type command struct {
	name    string
	args    string // as usage shows them; completion takes words in capitals as paths
	summary string // one line
	about   string // paragraphs for help and the manual page

	// run adds the flags and returns what to do once they are parsed.
	run func(*pflag.FlagSet) runFunc

	// rewrite, if set, makes the arguments of this command of those that another program gives it.
	rewrite func(args []string) []string

	raw     bool // arguments reach run as they are
	hidden  bool // not in help, completion or manual
	trouble int  // exit code of an error; 0: exitFailed
}

// alias returns the row of another name, which help does not list.
func (cmd command) alias(name string) command {
	cmd.name, cmd.hidden = name, true
	return cmd
}

// A runFunc does the work of a command. An error ends it with the exit code 2 if it is a
// usageError, 1 if it is errReported, else with that of the command.
type runFunc func(ctx context.Context, e *env, args []string) error

// A commandTable is all commands, in the order of help.
type commandTable []command

// named returns the row called name, or the zero command.
func (t commandTable) named(name string) command {
	for _, cmd := range t {
		if cmd.name == name {
			return cmd
		}
	}
	return command{}
}

// names returns the names of the commands that help lists.
func (t commandTable) names() (names []string) {
	for _, cmd := range t {
		if !cmd.hidden {
			names = append(names, cmd.name)
		}
	}
	return names
}

// aboutPaths explains the arguments of all commands that work without a mount.
const aboutPaths = `
No mount is needed: a PATH goes on inside a recording, as in run.hcrp/ticks/12.json. Names and bytes are
the same as in a mount. A PATH in quotes may have * ? and [a-z], which stand for names in recordings, too:
'days/*/*.hcrp/markers.json'. ** stands for any directories: 'days/**/markers.json'.`

// checkArgs says when a command line has too many or too few arguments.
func (cmd command) checkArgs(args []string) error {
	least, most := 0, 0
	for word := range strings.FieldsSeq(cmd.args) {
		if !strings.HasPrefix(word, "[") {
			least++
		}
		most++
		if strings.Contains(word, "...") {
			most = len(args)
		}
	}
	switch {
	case slices.Contains(args, ""):
		return usagef("%s: an argument is empty", cmd.name)
	case len(args) < least:
		return usagef("%s: the usage is %s", cmd.name, cmd.usage())
	case len(args) > most && most == 0:
		return usagef("%s: takes no arguments", cmd.name)
	case len(args) > most:
		return usagef("%s: too many arguments: the usage is %s", cmd.name, cmd.usage())
	}
	return nil
}

// usage is the form of a command line.
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

// parse returns the flags of cmd, not yet parsed, and what runs after that.
func (cmd command) parse() (*pflag.FlagSet, runFunc) {
	flags := newFlagSet(cmd.name)
	return flags, cmd.run(flags)
}

func newFlagSet(name string) *pflag.FlagSet {
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.SortFlags = false
	return flags
}
