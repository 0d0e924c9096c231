package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	iofs "io/fs"

	"github.com/spf13/pflag"

	archives "recfs/formats/archive"
	"recfs/nodes"
)

var lsCommand = command{
	name:    "ls",
	args:    "[PATH...]",
	summary: "List directories of an archive",
	about: aboutPaths + `

One name a line; names that begin with a dot are listed, too. With --json there is an object for each entry,
with its whole path and all that -l shows.`,
	run: runLs,
}

func runLs(flags *pflag.FlagSet) runFunc {
	l := lister{}
	flags.BoolVarP(&l.long, "long", "l", false, "show kind, size and time as well")
	flags.BoolVarP(&l.human, "human-readable", "h", false, "show sizes as 1.5 KiB")
	flags.BoolVarP(&l.recursive, "recursive", "R", false, "list directories in directories too")
	flags.BoolVarP(&l.itself, "directory", "d", false, "list each PATH itself, not what is in it")
	flags.BoolVar(&l.asJSON, "json", false, "print a JSON object for each entry")
	flags.BoolP("all", "a", false, "changes nothing: every name is listed anyway")
	flags.BoolP("one", "1", false, "changes nothing: there is one name a line anyway")
	color := registerColor(flags)
	return readFlags(flags).onPaths(func(ctx context.Context, e *env, a *archive, args []string) error {
		e.colors = color.on(e)
		w := bufio.NewWriter(e.stdout)
		l.env, l.w, l.headings = e, w, len(args) > 1 || l.recursive
		e.far = func() string { return count(l.listed, "entry", "entries") + " listed" + fromStart }
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
		return nil
	})
}

type lister struct {
	*env
	w         io.Writer
	long      bool
	human     bool
	recursive bool
	itself    bool
	asJSON    bool
	headings  bool
	later     bool // something was listed before
	listed    int  // entries
}

// show lists e, which was named name.
func (l *lister) show(ctx context.Context, name string, e nodes.Entry) error {
	if e.Dir == nil || l.itself {
		e.Name = name
		return l.line(ctx, name, e)
	}
	l.heading(name)
	if !l.long && !l.asJSON && !l.recursive {
		return l.names(ctx, e.Dir)
	}
	var below []nodes.Entry
	for child, err := range nodes.Entries(ctx, e) {
		if err != nil && child.Name == "" {
			return err
		}
		if err == nil {
			err = l.line(nodes.Listing(ctx), joinName(name, child.Name), child)
		}
		if err == nil && l.recursive {
			err = archives.Unread(ctx, child.File)
		}
		if err != nil {
			l.fail(joinName(name, child.Name), err)
		} else if child.Dir != nil && l.recursive {
			below = append(below, child)
		}
	}
	for _, child := range below {
		if err := l.show(ctx, joinName(name, child.Name), child); err != nil {
			l.fail(joinName(name, child.Name), err)
		}
	}
	return nil
}

// names prints the names in a directory, and asks for nothing else.
func (l *lister) names(ctx context.Context, dir nodes.Dir) error {
	now, err := nodes.Snapshot(ctx, dir)
	if err != nil {
		return err
	}
	for i, err := range nodes.Indexes(ctx, now) {
		if err != nil {
			return err
		}
		b, mode, err := nodes.AppendName(ctx, now, nil, i)
		if err == nil {
			err = l.name(mode, string(b))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// heading prints the name of a directory above what is in it.
func (l *lister) heading(name string) {
	if !l.headings || l.asJSON {
		return
	}
	if l.later {
		fmt.Fprintln(l.w)
	}
	fmt.Fprintf(l.w, "%s:\n", l.env.fileName(name))
	l.later = true
}

// name prints the name of one entry.
func (l *lister) name(mode iofs.FileMode, name string) error {
	l.listed++
	_, err := fmt.Fprintln(l.w, l.env.colors.name(mode, l.env.fileName(name)))
	return err
}

// line prints one entry, which is called name. A file whose size cannot be told is printed too, and
// an error.
func (l *lister) line(ctx context.Context, name string, e nodes.Entry) error {
	if !l.long && !l.asJSON {
		return l.name(e.Type(), e.Name)
	}
	l.listed++
	size, failed := sizeOf(ctx, e)
	if l.asJSON {
		line := newEntryLine(name, e)
		line.Size = size
		if failed != nil {
			line.Error = reason(name, failed).Error()
		}
		if err := writeJSON(l.w, line); err != nil {
			return err
		}
		return failed
	}
	arrow := ""
	if e.Type() == iofs.ModeSymlink {
		arrow = l.env.fileName(" -> " + e.Link)
	}
	_, err := fmt.Fprintf(l.w, "%s %12s %s %s\n", modeOf(e), l.sizeText(size, failed), e.Time.Local().Format("2006-01-02 15:04"), l.env.colors.name(e.Type(), l.env.fileName(e.Name))+arrow)
	if err != nil {
		return err
	}
	return failed
}

// sizeOf returns how many bytes a file has, nil for what is none.
func sizeOf(ctx context.Context, e nodes.Entry) (*int64, error) {
	if e.File == nil {
		return nil, nil
	}
	n, err := e.File.Size(ctx)
	if err != nil {
		return nil, err
	}
	return &n, nil
}

// sizeText is the size in a long line.
func (l *lister) sizeText(size *int64, failed error) string {
	switch {
	case failed != nil:
		return "?"
	case size == nil:
		return "-"
	case l.human:
		return humanSize(*size)
	}
	return fmt.Sprint(*size)
}
