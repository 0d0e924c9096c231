package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	iofs "io/fs"
	"path"

	"github.com/spf13/pflag"

	archives "recfs/formats/archive"
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
	asJSON := flags.Bool("json", false, "print a JSON object for each PATH, with its contents")
	flags.BoolP("all", "a", false, "changes nothing: every name is shown anyway")
	return readFlags(flags).onPaths(func(ctx context.Context, e *env, a *archive, args []string) error {
		if *depth < 0 {
			return usagef("tree: the level cannot be negative")
		}
		w := bufio.NewWriter(e.stdout)
		t := treePrinter{failures: failures{env: e}, w: w, depth: *depth}
		j := treeEncoder{failures: failures{env: e}, w: w, depth: *depth}
		e.far = func() string { return count(t.dirs+t.files+j.drawn, "entry", "entries") + " drawn" + fromStart }
		for _, name := range args {
			entry, err := a.resolve(ctx, name)
			switch {
			case err != nil:
				t.fail(name, err)
			case *asJSON:
				j.tree(ctx, name, entry)
			default:
				t.tree(ctx, name, entry)
			}
		}
		if !*asJSON {
			fmt.Fprintf(w, "\n%s, %s\n", count(t.dirs, "directory", "directories"), count(t.files, "file", "files"))
		}
		if err := w.Flush(); err != nil {
			return err
		}
		t.n += j.n
		return t.result()
	})
}

type treePrinter struct {
	failures
	w           io.Writer
	depth       int
	dirs, files int
}

// tree prints the tree of e, which is called name.
func (t *treePrinter) tree(ctx context.Context, name string, e nodes.Entry) {
	fmt.Fprintln(t.w, printable(name))
	if e.Dir == nil {
		t.files++
	}
	t.below(ctx, name, e, "", 1)
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
		if err == nil {
			flush("├── ", "│   ")
			pending = child
			err = archives.Unread(ctx, child.File)
		}
		if err != nil {
			t.fail(path.Join(name, child.Name), err)
		}
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
