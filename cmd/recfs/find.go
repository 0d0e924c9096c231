package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/catalogue"
	"recfs/formats/container"
	"recfs/fs"
)

// finder says which recordings find prints, and how.
type finder struct {
	*env
	a     *archive
	flush func() error

	format, mapName     string
	players             []string // patterns, each of which a player matches
	items, monsters     []string // the same for what the last save has
	since, until, at    *time.Time
	longer, shorter     *time.Duration
	damaged, incomplete bool

	long, null bool
	columns    int  // of a long line
	indexes    bool // first
	finished   bool // runs, not recordings

	filters []filter // what of this is asked for
	found   []finishedRun
	printed map[string]bool // recordings

	judged   int // recordings
	unknown  int // those that a filter could not judge
	unlisted int // containers of which it is not known what they hold
}

var findCommand = command{
	name:    "find",
	args:    "[PATH...]",
	summary: "Find recordings by format, player, map, time, length or damage",
	about: `
Prints the paths of the recordings below PATH, an archive or a mount of one, that match all flags. It reads
headers and the indexes that exist, and for --item and --monster the last save of a game, nothing else, and
keeps what it learns: the next run is faster. The exit code is 1 if a recording could not be read, or not be judged because it has no index yet, and
unless it asks for these with --damaged or --format, if a container is damaged: recordings in it may be missing.`,
	run: runFind,
}

func runFind(flags *pflag.FlagSet) runFunc {
	f := &finder{}
	flags.StringVar(&f.format, "format", "", "recordings of the format `NAME`: "+strings.Join(formatList(), ", ")+", also called "+strings.Join(calledList(), ", ")+"; or damaged containers: tar, zip, tar.xz and the like")
	offer(flags, "format", formatWords()...)
	flags.StringArrayVar(&f.players, "player", nil, "with a player whose name matches `PATTERN`: * and ? are wildcards, without them a part of the name is enough (may be repeated: with each of them)")
	flags.StringArrayVar(&f.items, "item", nil, "with an item whose name matches `PATTERN` in the pack when the game was saved last (NetHack; may be repeated)")
	flags.StringArrayVar(&f.monsters, "monster", nil, "with a monster whose name matches `PATTERN` on the level when the game was saved last (NetHack; may be repeated)")
	flags.StringVar(&f.mapName, "map", "", "on a map or in a world whose name matches `PATTERN`")
	flags.Func("since", "that began at `TIME` or later: 2026-11-21, 2026-11-21T18:00:00Z, or 36h or 7d before now", optional(&f.since, parseMoment))
	flags.Func("until", "that began before `TIME`", optional(&f.until, parseMoment))
	flags.Func("at", "that cover `TIME`: they began at it or before, and ended at it or later", optional(&f.at, parseMoment))
	flags.Func("longer-than", "that are longer than `TIME`: 90s, 36h or 7d", optional(&f.longer, parseSpan))
	flags.Func("shorter-than", "that are shorter than `TIME`", optional(&f.shorter, parseSpan))
	flags.BoolVar(&f.damaged, "damaged", false, "that have problems or do not open")
	flags.BoolVar(&f.incomplete, "incomplete", false, "not finished or not complete: still running, crashed, cut or damaged")
	flags.BoolVarP(&f.long, "long", "l", false, "print start, length, size, map, result and players as well, cut to the width of the terminal")
	flags.Bool("json", false, "print a JSON object for each recording")
	flags.BoolVarP(&f.null, "null", "0", false, "end each path with a NUL, for xargs -0")
	flags.BoolVar(&f.indexes, "index", false, "first make the indexes that are missing")
	flags.BoolVar(&f.finished, "finished", false, "print the finished runs of these recordings (of the players of --player): time in seconds, tick, demo, map and player, on each map the best first; of a recording below a directory the best 4096")
	registerJobs(flags)
	return readFlags(flags).onPaths(func(ctx context.Context, e *env, a *archive, args []string) error {
		if known := formatWords(); f.format != "" && !slices.Contains(known, f.format) {
			return usagef("find: there is no format %q: name one of %s", f.format, strings.Join(known, ", "))
		}
		f.env, f.a, f.columns, f.printed = e, a, cmp.Or(e.columns(), math.MaxInt), map[string]bool{}
		e.told, e.far = map[string]bool{}, f.far
		if f.indexes {
			if err := f.makeIndexes(ctx, args); err != nil {
				return err
			}
		}
		return f.find(ctx, args)
	})
}

// makeIndexes makes those that are missing.
func (f *finder) makeIndexes(ctx context.Context, args []string) error {
	far, told := f.env.far, f.told
	err := newIndexer(f.env, f.a, args).runMissing(ctx)
	if f.told = told; err == nil {
		f.env.far = far
	}
	return err
}

// judgeAll judges the recordings below directories.
func (f *finder) judgeAll(ctx context.Context, args []string) {
	f.compile()
	f.judged, f.unknown, f.unlisted, f.found = 0, 0, 0, nil
	f.startMeter("looking at")
	before := f.a.catalogue.Looked()
	f.meter.change(func() { f.meter.looked = func() int { return f.a.catalogue.Looked() - before } })
	defer f.meter.close()
	for _, dir := range args {
		for s, err := range f.a.summaries(ctx, dir) {
			if err != nil {
				f.fail(dir, err)
				continue
			}
			f.judge(ctx, dir, s)
		}
	}
}

// find prints the recordings that match.
func (f *finder) find(ctx context.Context, args []string) error {
	f.flush = f.buffer()
	judge := func() {
		f.judgeAll(ctx, args)
		_ = f.flush() // the last one tells
		f.tellUnknown(withIndexes)
	}
	judge()
	if f.unknown+f.unlisted > 0 && f.a.options.Disk != nil && f.agrees(ctx, "Make them now?") {
		if err := f.makeIndexes(ctx, args); err != nil {
			return err
		}
		judge()
	}
	f.printRuns()
	f.failures += f.unknown + f.unlisted
	return f.flush()
}

// far says how far the search came.
func (f *finder) far() string {
	looked := max(f.a.catalogue.Looked(), f.judged) // that of a mount is its server's
	return fmt.Sprintf("%s looked at, %d of them judged", count(looked, "recording", "recordings"), f.judged) +
		"; another run takes over what the disk cache keeps of them"
}

// judge prints a recording that was found below dir, or keeps its runs, if it is looked for.
func (f *finder) judge(ctx context.Context, dir string, s catalogue.Summary) {
	name := joinName(dir, s.Place())
	f.judged++
	if s.Unread() || s.IsContainer() && !f.damaged && !slices.Contains(container.Formats(), f.format) {
		f.fail(name, errors.New(s.Error))
	}
	switch {
	case s.Format == "" && s.Error == "":
		f.unlisted++
	case s.Format == "" || !f.match(s) || !f.holds(ctx, name, s):
	case !f.finished:
		if f.long && s.Indexed && fs.Mounted(dir) {
			s.Result = f.resultOf(ctx, name)
		}
		f.print(name, s)
	default:
		if err := f.addRuns(ctx, name, s); err != nil {
			f.fail(name, err)
		}
	}
}

// resultOf returns the result of a recording, called name, as far as what is saved tells: the
// catalogue of a mount does not.
func (f *finder) resultOf(ctx context.Context, name string) string {
	e, err := f.a.resolve(ctx, sourceOf(name))
	if err != nil {
		return ""
	}
	_, known, _ := catalogue.Summarize(cache.SavedOnly(ctx), e.Dir)
	return known.Result
}

// withIndexes is the command that first makes the indexes that are missing.
const withIndexes = "recfs find --index"

// tellUnknown says what could not be judged, and which command changes that.
func (f *finder) tellUnknown(command string) {
	if f.unknown > 0 {
		fmt.Fprintf(f.env.stderr, "recfs: %s could not be judged without an index; '%s' makes them first\n",
			count(f.unknown, "recording", "recordings"), command)
	}
	if f.unlisted > 0 {
		fmt.Fprintf(f.env.stderr, "recfs: what is in %s is not known yet; '%s' reads it first\n",
			count(f.unlisted, "container", "containers"), command)
	}
}

// A verdict is what one filter says of a recording.
type verdict int

const (
	no verdict = iota
	unknown
	yes
)

// A filter is what one flag says of a recording.
type filter func(s *catalogue.Summary) verdict

// ask asks about a value. One that is missing although the index was read is not what is looked
// for.
func ask[T any](s *catalogue.Summary, value *T, ok func(T) bool) verdict {
	switch {
	case value != nil && ok(*value):
		return yes
	case value == nil && !s.Indexed:
		return unknown
	}
	return no
}

// match reports whether s is looked for. It counts the recordings of which that is not known.
func (f *finder) match(s catalogue.Summary) bool {
	v := f.verdict(&s)
	if v == unknown && !s.Unread() {
		f.unknown++
	}
	return v == yes
}

// verdict is the worst of what the filters say.
func (f *finder) verdict(s *catalogue.Summary) verdict {
	all := yes
	for _, ask := range f.filters {
		if all = min(all, ask(s)); all == no {
			break
		}
	}
	return all
}

// compile makes the filters of what is asked for.
func (f *finder) compile() {
	f.filters = nil
	add := func(asked bool, ask filter) {
		if asked {
			f.filters = append(f.filters, ask)
		}
	}
	length := func(ok func(time.Duration) bool) filter {
		return func(s *catalogue.Summary) verdict {
			return ask(s, s.DurationMS, func(ms int64) bool { return ok(time.Duration(ms) * time.Millisecond) })
		}
	}
	start := func(ok func(time.Time) bool) filter {
		return func(s *catalogue.Summary) verdict {
			return ask(s, s.Start, func(text string) bool { return ok(parseTime(text)) })
		}
	}
	only := func(ok func(s *catalogue.Summary) bool) filter {
		return func(s *catalogue.Summary) verdict {
			if ok(s) {
				return yes
			}
			return no
		}
	}
	ofGame := len(f.players) > 0 || f.mapName != "" || f.since != nil || f.until != nil || f.at != nil || f.longer != nil || f.shorter != nil
	add(ofGame, only(func(s *catalogue.Summary) bool { return !f.a.formatNamed(s.Format).Timeless }))
	add(f.format != "", only(func(s *catalogue.Summary) bool {
		return f.format == s.Format || f.format == f.a.formatNamed(s.Format).Called
	}))
	for _, player := range f.players {
		matches := like(player)
		add(true, func(s *catalogue.Summary) verdict {
			var players *[]string
			if s.Players != nil {
				players = &s.Players
			}
			return ask(s, players, func(names []string) bool { return slices.ContainsFunc(names, matches) })
		})
	}
	onMap := like(f.mapName)
	add(f.mapName != "", func(s *catalogue.Summary) verdict { return ask(s, s.Map, onMap) })
	add(f.since != nil, start(func(t time.Time) bool { return !t.Before(*f.since) }))
	add(f.until != nil, start(func(t time.Time) bool { return t.Before(*f.until) }))
	add(f.at != nil, start(func(t time.Time) bool { return !t.After(*f.at) }))
	add(f.at != nil, func(s *catalogue.Summary) verdict {
		return ask(s, s.DurationMS, func(ms int64) bool {
			return s.Start == nil || f.at.Sub(parseTime(*s.Start)) <= time.Duration(ms)*time.Millisecond
		})
	})
	add(f.longer != nil, length(func(d time.Duration) bool { return d > *f.longer }))
	add(f.shorter != nil, length(func(d time.Duration) bool { return d < *f.shorter }))
	add(f.damaged, func(s *catalogue.Summary) verdict {
		return ask(s, s.Problems, func(n int64) bool { return n > 0 })
	})
	not := func(v bool) bool { return !v }
	add(f.incomplete, func(s *catalogue.Summary) verdict { return max(ask(s, s.Complete, not), ask(s, s.Finished, not)) })
}

// like returns a test for names: a pattern if it has * or ?, else a part. Case does not matter.
func like(pattern string) func(string) bool {
	pattern = strings.ToLower(pattern)
	if !strings.ContainsAny(pattern, "*?") {
		return func(name string) bool { return strings.Contains(strings.ToLower(name), pattern) }
	}
	whole := regexp.MustCompile("(?s)^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern)) + "$")
	return func(name string) bool { return whole.MatchString(strings.ToLower(name)) }
}

// print writes one recording, called name.
func (f *finder) print(name string, s catalogue.Summary) {
	if f.printed[name] {
		return
	}
	if f.answers != nil { // else nothing is judged again
		f.printed[name] = true
	}
	text := f.fileName(name) + "\n"
	switch {
	case f.null:
		text = name + "\x00"
	case f.long:
		line := fmt.Sprintf("%-19s %9s %9s  ", cmp.Or(localTime(s.Start), "-"), cmp.Or(length(s.DurationMS), "-"), humanSize(s.Size))
		text = line + fit(printable(name), printable(about(s)), f.columns-len(line)) + "\n"
	}
	s.Path, s.PathHex = name, formats.HexOf(name)
	f.env.print(s, text)
	if f.terminal { // a person sees each line at once, and no meter in the middle of one
		_ = f.flush() // the last one tells
	}
}

// fit returns a name and what is said about it in at most width characters. A long name leaves at
// least half of them to that, and begins with … then.
func fit(name, about string, width int) string {
	most := max(1, width/2, width-utf8.RuneCountInString(about))
	if runes := []rune(name); len(runes) > most {
		name = "…" + string(runes[len(runes)-most+1:])
	}
	return name + cut(about, width-utf8.RuneCountInString(name))
}

// about is the end of a long line: the map, the result, the players and how much is damaged.
func about(s catalogue.Summary) string {
	var b strings.Builder
	players := strings.Join(s.Players, ", ")
	if !slices.ContainsFunc(s.Players, func(name string) bool { return !strings.Contains(s.Result, name) }) {
		players = "" // the result has them
	}
	for _, column := range []string{value(s.Map), s.Result, players} {
		if column != "" {
			b.WriteString("  " + column)
		}
	}
	if s.Problems != nil && *s.Problems > 0 {
		b.WriteString("  " + count(int(*s.Problems), "problem", "problems"))
	}
	return b.String()
}
