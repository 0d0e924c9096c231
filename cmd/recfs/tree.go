package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	iofs "io/fs"

	"github.com/spf13/pflag"

	"recfs/formats"
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
	color := registerColor(flags)
	return readFlags(flags).onPaths(func(ctx context.Context, e *env, a *archive, args []string) error {
		e.colors = color.on(e)
		if *depth < 0 {
			return usagef("tree: the level cannot be negative")
		}
		t := treePrinter{env: e, w: bufio.NewWriter(e.stdout), depth: *depth}
		e.far = func() string { return count(t.dirs+t.files, "entry", "entries") + " drawn" + fromStart }
		for _, name := range args {
			entry, err := a.resolve(ctx, name)
			switch {
			case err != nil:
				t.fail(name, err)
			case *asJSON:
				entry.Name = name
				t.element(ctx, name, entry, 1)
				fmt.Fprintln(t.w)
			default:
				t.tree(ctx, name, entry)
			}
		}
		if !*asJSON {
			fmt.Fprintf(t.w, "\n%s, %s\n", count(t.dirs, "directory", "directories"), count(t.files, "file", "files"))
		}
		return t.w.Flush()
	})
}

// A treePrinter prints trees while they are walked: no tree has to fit into memory.
type treePrinter struct {
	*env
	w           *bufio.Writer // whose Flush tells of errors
	depth       int           // how many levels; 0 is no limit
	dirs, files int
}

// tree draws the tree of e, which is called name.
func (t *treePrinter) tree(ctx context.Context, name string, e nodes.Entry) {
	fmt.Fprintln(t.w, t.env.colors.name(e.Type(), printable(name)))
	if e.Dir == nil {
		t.files++
	}
	t.below(ctx, name, e, "", 1)
}

// below draws what e holds, each line after indent.
func (t *treePrinter) below(ctx context.Context, name string, e nodes.Entry, indent string, level int) {
	if !t.opens(e, level) {
		return
	}
	t.children(ctx, name, e, func(at string, child nodes.Entry, last bool) {
		branch, bar := "├── ", "│   "
		if last {
			branch, bar = "└── ", "    "
		}
		t.line(indent+branch, child)
		t.below(ctx, at, child, indent+bar, level+1)
	})
}

// opens reports whether what e holds is printed.
func (t *treePrinter) opens(e nodes.Entry, level int) bool {
	return e.Dir != nil && (t.depth == 0 || level <= t.depth)
}

// children calls draw for each entry in e, which is called name, when the next one is known: the
// last one looks different.
func (t *treePrinter) children(ctx context.Context, name string, e nodes.Entry, draw func(at string, child nodes.Entry, last bool)) {
	var pending nodes.Entry
	flush := func(last bool) {
		if pending.Name != "" {
			draw(joinName(name, pending.Name), pending, last)
		}
	}
	for child, err := range nodes.Entries(ctx, e) {
		if err == nil {
			flush(false)
			pending = child
			err = archives.Unread(ctx, child.File)
		}
		if err != nil {
			t.fail(joinName(name, child.Name), err)
		}
	}
	flush(true)
}

func (t *treePrinter) line(before string, e nodes.Entry) {
	t.count(e)
	arrow := ""
	if e.Type() == iofs.ModeSymlink {
		arrow = printable(" -> " + e.Link)
	}
	fmt.Fprintln(t.w, before+t.env.colors.name(e.Type(), printable(e.Name))+arrow)
}

func (t *treePrinter) count(e nodes.Entry) {
	if e.Type() == iofs.ModeDir {
		t.dirs++
	} else {
		t.files++
	}
}

// A treeLine is an element of what tree --json prints. A directory also has contents, the elements
// in it, unless it lies too deep to be looked into.
type treeLine struct {
	Name    string `json:"name"`
	NameHex string `json:"name_hex,omitempty"` // if the name is not UTF-8
	Type    string `json:"type"`               // file, directory or link
	Target  string `json:"target,omitempty"`   // of a link
}

// element writes e as JSON, at is its path.
func (t *treePrinter) element(ctx context.Context, at string, e nodes.Entry, level int) {
	t.count(e)
	var b bytes.Buffer
	_ = writeJSON(&b, treeLine{Name: e.Name, NameHex: formats.HexOf(e.Name), Type: typeName(e), Target: e.Link}) // into memory, of plain values
	t.w.Write(bytes.TrimSuffix(b.Bytes(), []byte("}\n")))
	if t.opens(e, level) {
		fmt.Fprint(t.w, `,"contents":[`)
		t.children(ctx, at, e, func(at string, child nodes.Entry, last bool) {
			t.element(ctx, at, child, level+1)
			if !last {
				fmt.Fprint(t.w, ",")
			}
		})
		fmt.Fprint(t.w, "]")
	}
	fmt.Fprint(t.w, "}")
}
