// Command recfs mounts an archive of game recordings as a read-only tree of plain files, and reads
// the same tree without a mount.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
)

func main() {
	setHome()
	e := &env{stdout: os.Stdout, stderr: os.Stderr, terminal: isTerminal(os.Stdout)}
	if e.terminal && isTerminal(os.Stdin) && isTerminal(os.Stderr) {
		e.answers = os.Stdin
	}
	os.Exit(run(e, os.Args))
}

// setHome names the home of the user to all that look for his files, where the environment does
// not: whom fstab or a unit starts has no HOME.
func setHome() {
	if _, err := os.UserHomeDir(); err == nil {
		return
	}
	if u, err := user.Current(); err == nil {
		os.Setenv("HOME", u.HomeDir)
	}
}

// run executes a command line, argv[0] included, and returns the exit code.
func run(e *env, argv []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second one is not waited for

	cmd, args, err := dispatch(argv)
	if err == nil {
		err = cmd.execute(ctx, e, args)
	}
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errReported):
		return exitFailed
	case errors.As(err, &usage):
		e.report(err)
		fmt.Fprintf(e.stderr, "Try '%s' for more.\n", strings.TrimSpace("recfs help "+cmd.name))
		return exitUsage
	}
	e.report(err)
	return cmp.Or(cmd.trouble, exitFailed)
}

// dispatch finds the command that argv names and its arguments. Under the names by which mount(8)
// looks for helpers recfs is one, and a SOURCE and a MOUNTPOINT without a command mean mount.
func dispatch(argv []string) (command, []string, error) {
	name, args := strings.TrimSuffix(filepath.Base(argv[0]), ".exe"), argv[1:]
	if slices.Contains(helperNames, name) {
		return mountHelper, args, nil
	}
	if len(args) == 0 {
		args = []string{"help"}
	}
	flags := map[string]string{"-h": "help", "--help": "help", "-V": "version", "--version": "version"}
	if cmd := commands().named(cmp.Or(flags[args[0]], args[0])); cmd.run != nil {
		return cmd, args[1:], nil
	}
	if strings.HasPrefix(args[0], "-") {
		for _, word := range args[1:] {
			if commands().named(word).run != nil && isTypo(word) {
				return command{}, nil, usagef("%s comes before its flags: recfs %s %s ...", word, word, args[0])
			}
		}
	}
	if len(args) == 1 && (strings.HasPrefix(args[0], "-") || isTypo(args[0])) {
		return command{}, nil, usagef("unknown command %q%s", args[0], didYouMean(args[0], commands().names()))
	}
	if isTypo(args[0]) {
		return command{}, nil, usagef("%q is neither a command nor a source%s", args[0], didYouMean(args[0], commands().names()))
	}
	return commands().named("mount"), args, nil
}

// isTypo reports whether a word that is no command cannot be a SOURCE either.
func isTypo(word string) bool {
	if strings.HasPrefix(word, "-") || strings.ContainsAny(word, `/\`) {
		return false
	}
	_, err := os.Lstat(word)
	return errors.Is(err, os.ErrNotExist)
}

// execute parses the flags of cmd and runs it.
func (cmd command) execute(ctx context.Context, e *env, args []string) error {
	if cmd.raw {
		return cmd.run(nil)(ctx, e, args)
	}
	flags, run := cmd.parse()
	err := flags.Parse(notFlags(args))
	if errors.Is(err, pflag.ErrHelp) {
		return e.tell(cmd.help(e.width()))
	}
	if err != nil {
		return usagef("%s: %s", cmd.name, flagError(err, flags))
	}
	args = flags.Args()
	if cmd.rewrite != nil {
		args = cmd.rewrite(args)
	}
	if err := cmd.checkArgs(args); err != nil {
		return err
	}
	for i, arg := range args {
		args[i] = behindLinks(arg)
	}
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	own := &env{stderr: e.stderr, terminal: e.terminal, answers: e.answers}
	own.stdout = &output{e.stdout, own, stop}
	own.take(flags)
	err = run(working, own, args)
	own.meter.close()
	if err == nil && own.failures > 0 {
		err = errReported
	}
	switch {
	case ctx.Err() != nil && err != nil && own.far != nil:
		return fmt.Errorf("%w: %s", errInterrupted, own.far())
	case ctx.Err() != nil && err != nil:
		return errInterrupted
	case ctx.Err() == nil && working.Err() != nil:
		return context.Cause(working)
	}
	return err
}

// commands is the table of all commands, in the order of help. Each command has a file of its own,
// and no file but main.go refers to this one: help and completion are given the table.
func commands() commandTable {
	return commandTable{
		mountCommand,
		umountCommand,
		serveCommand,
		lsCommand,
		catCommand,
		treeCommand,
		cpCommand,
		infoCommand,
		findCommand,
		demoCommand,
		diffCommand,
		checkCommand,
		indexCommand,
		exportCommand,
		compactCommand,
		compactCommand.alias("rescue"),
		statsCommand,
		cacheCommand,
		installHelpersCommand,
		completionCommand,
		versionCommand,
		helpCommand(commands),
		completeCommand(commands),
		completeLineCommand(commands),
	}
}
