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

	raw    bool // arguments reach run as they are
	hidden bool // not in help, completion or manual
}

// A runFunc does the work of a command. An error ends it with exit code 1, or 2 if it is a usageError.
type runFunc func(ctx context.Context, e *env, args []string) error

// commands is the table, in the order of help.
func commands() []command {
	return []command{
		{
			name: "mount", args: "SOURCE MOUNTPOINT", summary: "Show an archive as a directory of plain files", about: `
SOURCE is a directory or a recording. The mount is read-only and in the background; the command returns
when it can be used. MOUNTPOINT is made if it is not there, and removed again when the mount ends. If it
has files, they are hidden until then. SIGINT, SIGTERM and SIGHUP end the mount; the process then goes on
for those who still use it, until the next signal.`,
			run: mountCommand,
		},
		{
			name: "umount", args: "MOUNTPOINT", summary: "End a mount",
			run: umountCommand,
		},
		{
			name: "ls", args: "[PATH...]", summary: "List directories of an archive", about: aboutPaths,
			run: lsCommand,
		},
		{
			name: "cat", args: "PATH...", summary: "Print files of an archive", about: aboutPaths,
			run: catCommand,
		},
		{
			name: "tree", args: "[PATH...]", summary: "Draw what is in an archive", about: aboutPaths,
			run: treeCommand,
		},
		{
			name: "cp", args: "PATH... DESTINATION", summary: "Copy out of an archive", about: aboutPaths + `

If DESTINATION is a directory, copies go into it under their names, else it is the name of the copy. A
file that cannot be read to its end is reported and not left behind half.`,
			run: cpCommand,
		},
		{
			name: "info", args: "FILE...", summary: "Tell what a recording is, in a screenful", about: `
What it is, when it was made, how long and how big it is, who takes part, and what is damaged. FILE is a
recording, a directory of recordings, or either of them in a mount.`,
			run: infoCommand,
		},
		{
			name: "find", args: "[PATH...]", summary: "Find recordings by format, player, map, time, length or damage", about: `
Prints the paths of the recordings below PATH, an archive or a mount of one, that match all flags. It reads
headers and the indexes that exist, nothing else, and keeps what it learns: the next run is faster.`,
			run: findCommand,
		},
		{
			name: "check", args: "PATH...", summary: "Read everything and tell what is damaged", about: aboutPaths + `

Each problem is one line: path, format, chunk or file in the recording, offset, reason. The exit code is 1
if there is a problem.`,
			run: checkCommand,
		},
		{
			name: "index", args: "PATH...", summary: "Make the indexes of recordings ahead of time", about: `
Some recordings have to be read once before their ticks are known. This does it now, so that nobody waits
for it later: mounts and all other commands find the indexes in the cache directory.`,
			run: indexCommand,
		},
		{
			name: "compact", args: "DIRECTORY OUTPUT", summary: "Make one file out of an HCRP recording in segments", about: `
DIRECTORY holds the segments of one recording, OUTPUT must not exist yet. Every chunk is compressed again. From
damaged segments it keeps what is whole, says what is missing, and exits with 1.`,
			run: compactCommand,
		},
		{
			name: "stats", args: "MOUNTPOINT", summary: "Show what a mount has done and what it uses", about: `
The numbers are those of MOUNTPOINT/.recfs/stats.json.`,
			run: statsCommand,
		},
		{
			name: "cache", args: "[ls|prune|clear]", summary: "Look after the cache on disk", about: `
'ls' shows what it holds, 'prune' shrinks it to --cache-disk, 'clear' empties it. All of it can be made again.`,
			run: cacheCommand,
		},
		{
			name: "install-helpers", summary: "Teach mount(8) and fstab(5) the type recfs", about: `
Makes the links mount.recfs and mount.fuse.recfs. Then 'mount -t recfs SOURCE MOUNTPOINT' works.`,
			run: installHelpersCommand,
		},
		{
			name: "completion", args: "SHELL", summary: "Print the completion script for bash, zsh or fish", about: `
Bash reads it with 'source <(recfs completion bash)', zsh with 'source <(recfs completion zsh)', fish with
'recfs completion fish | source'. Paths are completed into recordings.`,
			run: completionCommand,
		},
		{
			name: "version", summary: "Print the version",
			run: versionCommand,
		},
		{
			name: "help", args: "[COMMAND]", summary: "Explain recfs or one of its commands",
			run: helpCommand,
		},
		{
			name: "__complete", summary: "Print candidates for the last word of a command line",
			run: completeCommand, raw: true, hidden: true,
		},
	}
}

// aboutPaths explains the arguments of all commands that work without a mount.
const aboutPaths = `
No mount is needed: a PATH goes on inside a recording, as in run.hcrp/ticks/12.json. Names and bytes are
the same as in a mount.`

// commandNamed returns the row called name, or the zero command.
func commandNamed(name string) command {
	for _, cmd := range commands() {
		if cmd.name == name {
			return cmd
		}
	}
	return command{}
}

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

// parse returns the flags of cmd, not yet parsed, and what runs after that.
func (cmd command) parse() (*pflag.FlagSet, runFunc) {
	flags := newFlagSet(cmd.name)
	return flags, cmd.run(flags)
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

func newFlagSet(name string) *pflag.FlagSet {
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.SortFlags = false
	return flags
}
