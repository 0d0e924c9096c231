package main

import (
	"bytes"
	"context"
	"fmt"
	iofs "io/fs"

	"github.com/spf13/pflag"

	"recfs/formats"
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
	flags.Bool("json", false, "print a JSON object for each entry")
	flags.BoolP("all", "a", false, "changes nothing: every name is listed anyway")
	flags.BoolP("one", "1", false, "changes nothing: there is one name a line anyway")
	registerColor(flags)
	return readFlags(flags).onPaths(func(ctx context.Context, e *env, a *archive, args []string) error {
		flush := e.buffer()
		l.env, l.headings = e, len(args) > 1 || l.recursive
		e.far = func() string { return count(l.listed, "entry", "entries") + " listed" + fromStart }
		for _, name := range args {
			entry, err := a.resolve(ctx, name)
			if err == nil {
				err = l.show(ctx, name, entry)
			}
			if err != nil {
				l.fail(name, err)
			}
			if err := flush(); err != nil {
				return err
			}
		}
		return nil
	})
}

type lister struct {
	*env
	long      bool
	human     bool
	recursive bool
	itself    bool
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
		if err != nil {
			return err
		}
		l.name(mode, string(b))
	}
	return nil
}

// heading prints the name of a directory above what is in it.
func (l *lister) heading(name string) {
	if !l.headings || l.asJSON {
		return
	}
	if l.later {
		fmt.Fprintln(l.stdout)
	}
	fmt.Fprintf(l.stdout, "%s:\n", l.fileName(name))
	l.later = true
}

// name prints the name of one entry.
func (l *lister) name(mode iofs.FileMode, name string) {
	l.listed++
	fmt.Fprintln(l.stdout, l.colors.name(mode, l.fileName(name)))
}

// line prints one entry, which is called name. A file whose size cannot be told is printed too, and
// an error.
func (l *lister) line(ctx context.Context, name string, e nodes.Entry) error {
	if !l.long && !l.asJSON {
		l.name(e.Type(), e.Name)
		return nil
	}
	l.listed++
	line, err := newEntryLine(ctx, name, e)
	if err != nil {
		line.Error = reason(name, err).Error()
	}
	l.print(line, fmt.Sprintf("%s %12s %s %s\n", line.Mode, l.sizeText(line), e.Time.Local().Format("2006-01-02 15:04"), l.shown(e, l.fileName)))
	return err
}

// sizeText is the size in a long line.
func (l *lister) sizeText(line entryLine) string {
	switch {
	case line.Error != "":
		return "?"
	case line.Size == nil:
		return "-"
	case l.human:
		return humanSize(*line.Size)
	}
	return fmt.Sprint(*line.Size)
}

// shown is the name of an entry, painted, and where a link leads.
func (e *env) shown(of nodes.Entry, printable func(string) string) string {
	name := e.colors.name(of.Type(), printable(of.Name))
	if of.Type() == iofs.ModeSymlink {
		name += printable(" -> " + of.Link)
	}
	return name
}

var treeCommand = command{
	name:    "tree",
	args:    "[PATH...]",
	summary: "Draw what is in an archive",
	about:   aboutPaths,
	run:     runTree,
}

func runTree(flags *pflag.FlagSet) runFunc {
	depth := flags.IntP("level", "L", 0, "show only this many levels; 0 is no limit")
	flags.Bool("json", false, "print a JSON object for each PATH, with its contents")
	flags.BoolP("all", "a", false, "changes nothing: every name is shown anyway")
	registerColor(flags)
	return readFlags(flags).onPaths(func(ctx context.Context, e *env, a *archive, args []string) error {
		if *depth < 0 {
			return usagef("tree: the level cannot be negative")
		}
		flush := e.buffer()
		t := treePrinter{env: e, depth: *depth}
		e.far = func() string { return count(t.dirs+t.files, "entry", "entries") + " drawn" + fromStart }
		for _, name := range args {
			entry, err := a.resolve(ctx, name)
			if err != nil {
				t.fail(name, err)
				continue
			}
			entry.Name = name
			t.element(ctx, name, entry, "", "", 1)
			t.put("\n", "")
		}
		t.put("", fmt.Sprintf("\n%s, %s\n", count(t.dirs, "directory", "directories"), count(t.files, "file", "files")))
		return flush()
	})
}

// A treePrinter prints trees while they are walked: no tree has to fit into memory.
type treePrinter struct {
	*env
	depth       int // how many levels; 0 is no limit
	dirs, files int
}

// element prints e, whose path is at, as a line that begins with branch or as JSON, and then what
// it holds, each line after indent.
func (t *treePrinter) element(ctx context.Context, at string, e nodes.Entry, branch, indent string, level int) {
	if e.Type() != iofs.ModeDir {
		t.files++
	} else if level > 1 || t.asJSON {
		t.dirs++
	}
	if t.asJSON {
		var b bytes.Buffer
		_ = writeJSON(&b, treeLine{Name: e.Name, NameHex: formats.HexOf(e.Name), Type: typeName(e), Target: e.Link}) // into memory, of plain values
		t.stdout.Write(bytes.TrimSuffix(b.Bytes(), []byte("}\n")))
	} else {
		fmt.Fprintln(t.stdout, branch+t.shown(e, printable))
	}
	if e.Dir != nil && (t.depth == 0 || level <= t.depth) {
		t.put(`,"contents":[`, "")
		t.children(ctx, at, e, func(at string, child nodes.Entry, last bool) {
			branch, bar, more := "├── ", "│   ", ","
			if last {
				branch, bar, more = "└── ", "    ", ""
			}
			t.element(ctx, at, child, indent+branch, indent+bar, level+1)
			t.put(more, "")
		})
		t.put("]", "")
	}
	t.put("}", "")
}

// put prints a piece of what is drawn, with --json one of JSON.
func (t *treePrinter) put(json, text string) {
	if t.asJSON {
		text = json
	}
	_ = t.tell(text)
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

// A treeLine is an element of what tree --json prints. A directory also has contents, the elements
// in it, unless it lies too deep to be looked into.
type treeLine struct {
	Name    string `json:"name"`
	NameHex string `json:"name_hex,omitempty"` // if the name is not UTF-8
	Type    string `json:"type"`               // file, directory or link
	Target  string `json:"target,omitempty"`   // of a link
}
