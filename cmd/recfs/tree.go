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

var treeCommand = command{
	name:    "tree",
	args:    "[PATH...]",
	summary: "Draw what is in an archive",
	about:   aboutPaths,
	run:     runTree,
}

func runTree(flags *pflag.FlagSet) runFunc {
	depth := flags.IntP("level", "L", 0, "show only this many levels; 0 is no limit")
	return readFlags(flags).opened(func(ctx context.Context, e *env, a *archive, args []string) error {
		if *depth < 0 {
			return usagef("tree: the level cannot be negative")
		}
		w := bufio.NewWriter(e.stdout)
		t := treePrinter{failures: failures{env: e}, w: w, depth: *depth}
		for _, name := range args {
			entry, err := a.resolve(ctx, name)
			if err != nil {
				t.fail(name, err)
				continue
			}
			fmt.Fprintln(w, printable(name))
			if entry.Dir == nil {
				t.files++
			}
			t.below(ctx, name, entry, "", 1)
		}
		fmt.Fprintf(w, "\n%s, %s\n", count(t.dirs, "directory", "directories"), count(t.files, "file", "files"))
		if err := w.Flush(); err != nil {
			return err
		}
		return t.result()
	})
}

type treePrinter struct {
	failures
	w           io.Writer
	depth       int
	dirs, files int
}

// below prints what e holds, each line after indent. A line is printed when the next one is known,
// because the last of a directory looks different.
func (t *treePrinter) below(ctx context.Context, name string, e nodes.Entry, indent string, level int) {
	if e.Dir == nil || t.depth > 0 && level > t.depth {
		return
	}
	var pending nodes.Entry
	flush := func(branch, bar string) {
		if pending.Name == "" {
			return
		}
		t.line(indent+branch, pending)
		t.below(ctx, path.Join(name, pending.Name), pending, indent+bar, level+1)
	}
	for child, err := range entries(ctx, e) {
		if err != nil {
			t.fail(path.Join(name, child.Name), err)
			continue
		}
		flush("├── ", "│   ")
		pending = child
	}
	flush("└── ", "    ")
}

func (t *treePrinter) line(before string, e nodes.Entry) {
	arrow := ""
	switch e.Type() {
	case iofs.ModeDir:
		t.dirs++
	case iofs.ModeSymlink:
		t.files++
		arrow = " -> " + e.Link
	default:
		t.files++
	}
	fmt.Fprintf(t.w, "%s%s\n", before, printable(e.Name+arrow))
}
