package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/compare"
	"recfs/nodes"
	"recfs/nodes/play"
)

var diffCommand = command{
	name:    "diff",
	args:    "A B",
	summary: "Tell how two recordings, maps or saves differ",
	about: `
Two maps are compared by info, settings, images, sounds, envelopes, groups, layers and tiles; other recordings
by header, totals, players and the first tick that differs; documents such as run.nhgame/states/12.json by their
fields, and so are the saves of NetHack, of whose levels the changed squares are drawn beside each other. A and B may be in recordings, containers or mounts.

A line begins with + for what only B has, - for what only A has, and ~ for what is different. The exit code is 0
if there is no difference, 1 if there is one, and 2 if something could not be compared. Called by git as an
external diff it takes what git gives, names each file, tells what a new or removed recording is, and the exit
code is 0.`,
	run:     runDiff,
	rewrite: gitArgs,
	trouble: exitTrouble,
}

// shownOfPart is how many differences of one layer, list or object are shown to people.
const shownOfPart = 12

// A differ is what recfs diff was asked for.
type differ struct {
	all        bool
	png        string
	sideBySide bool
}

func runDiff(flags *pflag.FlagSet) runFunc {
	d := &differ{}
	flags.Bool("json", false, "print each difference as a JSON object")
	flags.BoolVar(&d.all, "all", false, fmt.Sprintf("print all differences of a part, not only %d", shownOfPart))
	flags.StringVar(&d.png, "png", "", "also draw the tiles of two maps that differ, to `FILE`")
	flags.BoolVar(&d.sideBySide, "side-by-side", false, "draw the old map and the new one beside each other, with --png")
	registerColor(flags)
	return readFlags(flags).opened(func(ctx context.Context, e *env, a *archive, args []string) error {
		if !calledByGit() {
			return d.run(ctx, e, a, args)
		}
		var err error
		switch os.DevNull {
		case args[0]:
			err = d.alone(ctx, e, a, args[1], compare.Added)
		case args[1]:
			err = d.alone(ctx, e, a, args[0], compare.Removed)
		default:
			err = d.run(ctx, e, a, args)
		}
		if err != nil && err != errReported && ctx.Err() == nil { // another exit code ends git
			e.report(err)
		}
		e.failures = 0
		return ctx.Err()
	})
}

// alone tells what a recording is that is new or gone.
func (d *differ) alone(ctx context.Context, e *env, a *archive, name string, kind compare.Kind) error {
	for found := range a.find(ctx, []string{name}, e.fail) {
		if !found.isRecording {
			return named(name, errNoRecording)
		}
		s, err := summarize(ctx, newNeedFinder(a, nil), found)
		if err != nil {
			return named(name, err)
		}
		s.Path = filepath.Base(name) // it is a copy of git's
		if e.asJSON {
			return writeJSON(e.stdout, compare.Change{Kind: kind, Path: s.Path})
		}
		for line := range strings.Lines(s.text(false, false)) {
			fmt.Fprintln(e.stdout, e.colors.paint(changeColors[kind], changeSigns[kind]+strings.TrimSpace(line)))
		}
	}
	return nil
}

// calledByGit reports whether git runs this program as an external diff.
func calledByGit() bool { return os.Getenv("GIT_DIFF_PATH_COUNTER") != "" }

// gitArgs takes the old and the new file of what git gives to an external diff: PATH OLD-FILE
// OLD-HEX OLD-MODE NEW-FILE NEW-HEX NEW-MODE, and after a renaming more.
func gitArgs(args []string) []string {
	if calledByGit() && len(args) >= 7 {
		return []string{args[1], args[4]}
	}
	return args
}

func (d *differ) run(ctx context.Context, e *env, a *archive, args []string) error {
	p := &changePrinter{env: e, differ: d}
	if calledByGit() {
		p.file = filepath.Base(args[1]) // it is a copy of git's
	}
	e.far = func() string { return count(p.n, "difference", "differences") + " found so far" + fromStart }
	var sides [2]compare.Side
	for i, name := range args {
		e, err := a.resolve(ctx, sourceOf(name))
		if err == nil {
			sides[i], err = a.side(ctx, e)
		}
		if err != nil {
			return named(name, err)
		}
	}
	var picture *compare.Picture
	var marks compare.Marks
	if d.sideBySide && d.png == "" {
		return errors.New("--side-by-side is for --png")
	}
	if d.png != "" {
		if sides[0].Dir == nil || sides[1].Dir == nil {
			return errors.New("--png is for two maps")
		}
		err := cmp.Or(checkTarget(args[0], d.png), checkTarget(args[1], d.png))
		if err != nil {
			return err
		}
		if picture, err = compare.NewPicture(ctx, sides[0], sides[1], d.sideBySide); err != nil {
			return err
		}
		marks = picture.Mark
	}
	err := compare.Entries(ctx, sides[0], sides[1], marks, p.print)
	p.end()
	if picture != nil && err == nil {
		err = e.create(d.png, 0o666, picture.Encode)
	}
	switch {
	case err != nil:
		return err
	case p.n > 0:
		return errReported
	}
	return nil
}

// side returns one side of a comparison, with the parts that its format knows.
func (a *archive) side(ctx context.Context, e nodes.Entry) (compare.Side, error) {
	s := compare.Side{Entry: e}
	var h formats.HeaderHead
	if s.Dir == nil {
		return s, nil
	}
	if text, err := nodes.ReadFile(ctx, s.Dir, "header.json"); err != nil || json.Unmarshal(text, &h) != nil {
		return s, nil
	}
	return s, s.ReadParts(ctx, a.formatNamed(h.Format).Parts)
}

// diffMaps tells how two maps differ, nil if one is none.
func (a *archive) diffMaps(ctx context.Context, x, y nodes.Dir) (*play.MapDiff, error) {
	var sides [2]compare.Side
	for i, dir := range []nodes.Dir{x, y} {
		var err error
		if sides[i], err = a.side(ctx, nodes.Entry{Dir: dir}); err != nil {
			return nil, err
		}
		held, err := cache.Charge(ctx, sides[i].Cost())
		if err != nil {
			return nil, err
		}
		defer held.Free()
	}
	diff, err := compare.Maps(ctx, sides[0], sides[1])
	if errors.Is(err, compare.ErrNothing) {
		return nil, nil
	}
	return diff, err
}

// A changePrinter prints differences as they come.
type changePrinter struct {
	*env
	*differ
	file   string // that git asks about, to be told before its differences
	n      int
	part   string // of the last one
	inPart int    // without the rows
	rows   []drawingRow
}

func (p *changePrinter) print(c compare.Change) error {
	if p.n++; p.n == 1 && p.file != "" {
		p.write(compare.Change{Kind: compare.Changed, Path: p.file})
	}
	if p.asJSON {
		p.write(c)
		return nil
	}
	if part := partOf(c.Path); part != p.part {
		p.end()
		p.part, p.inPart, p.rows = part, 0, nil
	}
	if row, ok := rowOf(c); ok {
		p.rows = append(p.rows, row)
		return nil
	}
	if p.inPart++; p.inPart > shownOfPart && !p.all {
		return nil
	}
	p.write(c)
	return nil
}

func (p *changePrinter) write(c compare.Change) {
	p.env.print(c, p.colors.paint(changeColors[c.Kind], changeText(c))+"\n")
}

// end prints the drawing of the last part, and tells how many of its differences were left out.
func (p *changePrinter) end() {
	if len(p.rows) > 0 {
		_ = p.tell(p.colors.drawing(p.part, p.rows))
	}
	if left := p.inPart - shownOfPart; left > 0 && !p.all && !p.asJSON {
		fmt.Fprintf(p.stdout, "  … and %s of %s\n", count(left, "more difference", "more differences"), printable(p.part))
	}
}

// partOf returns what a path of a change begins with: a file, or a key of a document.
func partOf(name string) string {
	if i := strings.IndexAny(name, ".["); i > 0 && !strings.Contains(name[:i], "/") {
		return name[:i]
	}
	if i := strings.Index(name, "."); i > 0 {
		return name[:i]
	}
	return name
}

// maxShown is how much of a value is shown to people.
const maxShown = 60

var (
	changeSigns  = map[compare.Kind]string{compare.Added: "+ ", compare.Removed: "- ", compare.Changed: "~ "}
	changeColors = map[compare.Kind]string{compare.Added: green, compare.Removed: red, compare.Changed: yellow}
)

func changeText(c compare.Change) string {
	sign := changeSigns[c.Kind]
	var tells []string
	switch {
	case c.Old != nil && c.New != nil:
		same := commonStart(c.Old, c.New)
		tells = append(tells, shorten(c.Old, same)+" → "+shorten(c.New, same))
	case c.Old != nil || c.New != nil:
		tells = append(tells, shorten(append(c.Old, c.New...), 0))
	}
	if c.Tiles != nil {
		tells = append(tells, tilesText(c.Tiles))
	}
	if c.Note != "" {
		tells = append(tells, c.Note)
	}
	text := strings.Join(tells, ", ")
	if c.Path == "" {
		return printable(sign + text)
	}
	if text == "" {
		return printable(sign + c.Path)
	}
	return printable(sign + c.Path + ": " + text)
}

// shorten returns the part of a long value that is of interest: from a little before where it
// differs from another.
func shorten(text []byte, same int) string {
	runes := []rune(string(text))
	if len(runes) <= maxShown {
		return string(runes)
	}
	start, end := "", "…"
	from := len([]rune(string(text[:same])))
	if from > maxShown/2 {
		start, runes = "…", runes[from-maxShown/4:]
	}
	if len(runes) <= maxShown {
		end = ""
	}
	return start + string(runes[:min(len(runes), maxShown)]) + end
}

// commonStart returns how many bytes both begin with.
func commonStart(a, b []byte) int {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return i
}

// shownReplaced is how many kinds of replaced tiles are shown to people.
const shownReplaced = 6

func tilesText(t *compare.Tiles) string {
	var kinds []string
	for _, r := range t.Replaced[:min(len(t.Replaced), shownReplaced)] {
		kinds = append(kinds, fmt.Sprintf("%s → %s (%d)", cmp.Or(r.OldName, r.Old), cmp.Or(r.NewName, r.New), r.Count))
	}
	if len(t.Replaced) > shownReplaced {
		kinds = append(kinds, "…")
	}
	return fmt.Sprintf("%s in columns %d to %d of rows %d to %d: %s", count(t.Count, "tile differs", "tiles differ"),
		t.X, t.X+t.Width-1, t.Y, t.Y+t.Height-1, strings.Join(kinds, ", "))
}
