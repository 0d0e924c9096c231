package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	iofs "io/fs"
	"path"

	"github.com/spf13/pflag"

	"recfs/nodes"
)

var lsCommand = command{
	name:    "ls",
	args:    "[PATH...]",
	summary: "List directories of an archive",
	about:   aboutPaths,
	run:     runLs,
}

func runLs(flags *pflag.FlagSet) runFunc {
	l := lister{}
	flags.BoolVarP(&l.long, "long", "l", false, "show kind, size and time as well")
	flags.BoolVarP(&l.recursive, "recursive", "R", false, "list directories in directories too")
	return readFlags(flags).opened(func(ctx context.Context, e *env, a *archive, args []string) error {
		w := bufio.NewWriter(e.stdout)
		l.env, l.w, l.headings = e, w, len(args) > 1 || l.recursive
		for _, name := range args {
			entry, err := a.resolve(ctx, name)
			if err == nil {
				err = l.show(ctx, name, entry)
			}
			if err != nil {
				l.fail(name, err)
			}
			if err := w.Flush(); err != nil {
				return err
			}
		}
		return l.result()
	})
}

type lister struct {
	failures
	w         io.Writer
	long      bool
	recursive bool
	headings  bool
	later     bool // something was listed before
}

// show lists e, which was named name.
func (l *lister) show(ctx context.Context, name string, e nodes.Entry) error {
	if e.Dir == nil {
		e.Name = name
		return l.line(ctx, e)
	}
	if l.headings {
		if l.later {
			fmt.Fprintln(l.w)
		}
		fmt.Fprintf(l.w, "%s:\n", l.env.fileName(name))
	}
	l.later = true
	var below []nodes.Entry
	for child, err := range entries(ctx, e) {
		if err != nil && child.Name == "" {
			return err
		}
		if err == nil {
			err = l.line(ctx, child)
		}
		if err != nil {
			l.fail(path.Join(name, child.Name), err)
		} else if child.Dir != nil && l.recursive {
			below = append(below, child)
		}
	}
	for _, child := range below {
		if err := l.show(ctx, path.Join(name, child.Name), child); err != nil {
			l.fail(path.Join(name, child.Name), err)
		}
	}
	return nil
}

// line prints one entry. A file whose size cannot be told is printed too, and an error.
func (l *lister) line(ctx context.Context, e nodes.Entry) error {
	if !l.long {
		_, err := fmt.Fprintln(l.w, l.env.fileName(e.Name))
		return err
	}
	size, arrow := "-", ""
	var failed error
	switch e.Type() {
	case iofs.ModeDir:
	case iofs.ModeSymlink:
		arrow = " -> " + e.Link
	default:
		n, err := e.File.Size(ctx)
		if size = fmt.Sprint(n); err != nil {
			size, failed = "?", err
		}
	}
	_, err := fmt.Fprintf(l.w, "%s %12s %s %s\n", modeOf(e), size, e.Time.Local().Format("2006-01-02 15:04"), l.env.fileName(e.Name+arrow))
	if err != nil {
		return err
	}
	return failed
}

// modeOf is type and permissions of an entry as ls(1) shows them.
func modeOf(e nodes.Entry) string {
	mode := []byte(e.Mode().String())
	if e.Type() == iofs.ModeSymlink {
		mode[0] = 'l'
	}
	return string(mode)
}
