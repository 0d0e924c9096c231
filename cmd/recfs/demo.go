package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"recfs/formats/outfile"
	"recfs/nodes"
)

var demoCommand = command{
	name:    "demo",
	args:    "FILE [FROM] [TO]",
	summary: "Make a demo that the DDNet client plays",
	about: `
FILE is a teehistorian recording. The demo shows the ticks FROM to TO, at most half an hour; times of the
recording such as 1:02:03 or 75:30 will do, too. With --run it is the fastest run of a player to the finish,
or of all. It goes to standard output or to the file that -o names. The client plays it if it has the map.`,
	run: runDemo,
}

// A demoRequest is what recfs demo was asked for.
type demoRequest struct {
	follow, run, output string
}

func runDemo(flags *pflag.FlagSet) runFunc {
	q := &demoRequest{}
	flags.StringVar(&q.follow, "follow", "", "let the camera follow the player `NAME`, or the one with that directory in players/")
	flags.StringVar(&q.run, "run", "", "the fastest run of `PLAYER`, or with best that of all players")
	offer(flags, "run", "best")
	flags.StringVarP(&q.output, "output", "o", "", "write to `FILE`, in a directory under the name that the demo has in a mount")
	return readFlags(flags).opened(func(ctx context.Context, e *env, a *archive, args []string) error {
		switch ticks := len(args) == 3; {
		case q.run != "" && (len(args) > 1 || q.follow != ""):
			return usagef("demo: --run goes without FROM, TO and --follow")
		case q.run == "" && !ticks:
			return usagef("demo: FROM and TO are missing, or --run")
		}
		if q.output == "-" || q.output == "/dev/stdout" {
			q.output = ""
		}
		f := failures{env: e}
		e.far = func() string {
			if q.output != "" {
				return nothingWritten
			}
			return "the demo is not whole" + fromStart
		}
		if err := q.make(ctx, e, a, args); err != nil {
			f.fail(args[0], err)
		}
		return f.result()
	})
}

// make makes the demo.
func (q *demoRequest) make(ctx context.Context, e *env, a *archive, args []string) error {
	recording, err := a.resolve(ctx, args[0])
	if err != nil {
		return err
	}
	if recording.Dir == nil {
		return errNoDemos
	}
	dir, err := nodes.Child(ctx, recording.Dir, "demos")
	switch {
	case errors.Is(err, iofs.ErrNotExist) || err == nil && dir.Dir == nil:
		return errNoDemos
	case err != nil:
		return err
	}
	var demo nodes.Entry
	if q.run != "" {
		demo, err = findRun(ctx, recording.Dir, q.run)
	} else {
		demo, err = q.findDemo(ctx, recording.Dir, dir.Dir, args[1], args[2])
	}
	if err != nil {
		return err
	}
	return q.write(ctx, e, args[0], demo.Inherit(dir.Inherit(recording.Attr).Attr))
}

var errNoDemos = errors.New("is no recording of which there are demos")

// write writes the demo, which was made of the recording called name.
func (q *demoRequest) write(ctx context.Context, e *env, name string, demo nodes.Entry) error {
	if q.output == "" {
		if e.terminal {
			return errors.New("a terminal cannot show a demo; -o writes it to a file")
		}
		return copyFile(ctx, e.stdout, demo.File)
	}
	target := q.output
	if w := e.stream(target); w != nil {
		return copyFile(ctx, w, demo.File)
	}
	if info, err := os.Stat(target); err == nil && info.IsDir() {
		target = filepath.Join(target, demo.Name)
	}
	if err := checkTarget(name, target); err != nil {
		return err
	}
	f, err := outfile.Create(target, modeOfCopy(demo, 0o666))
	if err != nil {
		return notWritten(target, err)
	}
	defer f.Discard()
	told, err := copyOut(ctx, demo, f)
	return cmp.Or(err, told)
}

// findDemo returns the demo of ticks or times.
func (q *demoRequest) findDemo(ctx context.Context, recording, demos nodes.Dir, from, to string) (nodes.Entry, error) {
	demo, err := nodes.Child(ctx, demos, from+"-"+to+".demo")
	if errors.Is(err, iofs.ErrNotExist) {
		return demo, noDemo(ctx, recording, from, to)
	}
	if err != nil || q.follow == "" {
		return demo, err
	}
	var first, last int32
	span, _ := strings.CutSuffix(demo.Name, ".demo")
	if _, err := fmt.Sscanf(span, "%d-%d", &first, &last); err != nil {
		return demo, err
	}
	list, err := readStays(ctx, recording)
	if err != nil {
		return demo, err
	}
	dirs := dirsOf(list, q.follow, func(s *stayOf) bool {
		return s.FirstTick <= last && (s.DropTick == nil || *s.DropTick >= first)
	})
	switch len(dirs) {
	case 0:
		return demo, fmt.Errorf("there is no player %q in these ticks", q.follow)
	case 1:
		return nodes.Child(ctx, demos, span+"-"+dirs[0]+".demo")
	}
	return demo, fmt.Errorf("there are %d players %q in these ticks: --follow takes one of %s", len(dirs), q.follow, strings.Join(dirs, ", "))
}

// noDemo says why there is no demo from one tick or time to another.
func noDemo(ctx context.Context, recording nodes.Dir, from, to string) error {
	var d struct {
		Totals struct {
			FirstTick *int32 `json:"first_tick"`
			LastTick  *int32 `json:"last_tick"`
		} `json:"totals"`
	}
	if err := readJSON(ctx, recording, "index.json", &d); err != nil {
		return err
	}
	if d.Totals.FirstTick == nil || d.Totals.LastTick == nil {
		return errors.New("the recording has no ticks")
	}
	return fmt.Errorf("there is no demo from %s to %s: the recording has the ticks %d to %d, and a demo is at most half an hour long",
		from, to, *d.Totals.FirstTick, *d.Totals.LastTick)
}

// A stayOf is an element of players.json (docs/tree/teehistorian.md section 7).
type stayOf struct {
	Dir       string   `json:"dir"`
	Names     []string `json:"names"`
	FirstTick int32    `json:"first_tick"`
	DropTick  *int32   `json:"drop_tick"`
	Finishes  []struct {
		Tick      int32 `json:"tick"`
		TimeTicks int32 `json:"time_ticks"`
	} `json:"finishes"`
}

// is reports whether the stay is that of the player, by its name or its directory.
func (s *stayOf) is(player string) bool { return s.Dir == player || slices.Contains(s.Names, player) }

func readStays(ctx context.Context, recording nodes.Dir) ([]stayOf, error) {
	var d struct {
		Players []stayOf `json:"players"`
	}
	err := readJSON(ctx, recording, "players.json", &d)
	return d.Players, err
}

// dirsOf returns the directories of a player's stays that keep holds for. A name that is a directory
// means only that.
func dirsOf(list []stayOf, player string, keep func(*stayOf) bool) (dirs []string) {
	for i := range list {
		if s := &list[i]; s.is(player) && keep(s) {
			if s.Dir == player {
				return []string{s.Dir}
			}
			dirs = append(dirs, s.Dir)
		}
	}
	return dirs
}

// anybody is the player of whom recfs demo --run takes the best of all runs.
const anybody = "best"

// findRun returns the demo of the fastest run of a player; of equal ones the first.
func findRun(ctx context.Context, recording nodes.Dir, player string) (nodes.Entry, error) {
	list, err := readStays(ctx, recording)
	if err != nil {
		return nodes.Entry{}, err
	}
	type run struct {
		tick, time int32
		dir        string
	}
	var runs []run
	for _, s := range list {
		for _, f := range s.Finishes {
			if player == anybody || s.is(player) {
				runs = append(runs, run{f.Tick, f.TimeTicks, s.Dir})
			}
		}
	}
	slices.SortStableFunc(runs, func(a, b run) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.tick, b.tick))
	})
	for _, r := range runs {
		demo, err := nodes.Lookup(ctx, recording, fmt.Sprintf("demos/runs/%08d-%s.demo", r.tick, r.dir))
		if !errors.Is(err, iofs.ErrNotExist) {
			return demo, err
		}
	}
	if player == anybody {
		return nodes.Entry{}, errors.New("nobody finished")
	}
	return nodes.Entry{}, fmt.Errorf("%q did not finish", player)
}
