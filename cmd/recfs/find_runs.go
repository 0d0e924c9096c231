package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"path"
	"slices"
	"time"

	"recfs/formats"
	"recfs/formats/catalogue"
	"recfs/nodes"
)

// A finishedRun is a line of find --finished.
type finishedRun struct {
	jsonPath        // of the recording
	Map      string `json:"map"`
	Player   string `json:"player"` // the first name of the stay
	TimeMS   int64  `json:"time_ms"`
	Tick     int32  `json:"tick"`
	Demo     string `json:"demo,omitempty"` // its path, if there is one
	DemoHex  string `json:"demo_hex,omitempty"`
}

// addRuns adds the runs in a recording, called name, of the players that are looked for. The catalogue of
// a mount has none: there the documents of the recording tell them.
func (f *finder) addRuns(ctx context.Context, name string, s catalogue.Summary) error {
	format, ok := f.formats[s.Format]
	switch {
	case !ok || !format.Runs:
		return nil
	case !s.Indexed:
		f.unknown++
		return nil
	case s.Runners == nil && s.Error == "":
		var err error
		if s.Runners, err = readRunners(ctx, f.a, name, format.TickLength); err != nil {
			return err
		}
	}
	for _, who := range s.Runners {
		if f.runs(who.Names) {
			f.addRunner(name, s.Map, who)
		}
	}
	return nil
}

// addRunner adds the runs of a stay in a recording called name.
func (f *finder) addRunner(name string, mapName *string, who formats.Runner) {
	for _, run := range who.Runs {
		r := finishedRun{jsonPath: newJSONPath(name), Tick: run.Tick, TimeMS: run.TimeMS}
		if mapName != nil {
			r.Map = *mapName
		}
		if len(who.Names) > 0 {
			r.Player = who.Names[0]
		}
		if run.Demo != "" {
			r.Demo = path.Join(name, run.Demo)
			r.DemoHex = formats.HexOf(r.Demo)
		}
		f.found = append(f.found, r)
	}
}

// readRunners returns the runs that the players.json and the demos of a recording tell.
func readRunners(ctx context.Context, a *archive, name string, tick time.Duration) ([]formats.Runner, error) {
	e, err := a.resolve(ctx, name)
	if err != nil || e.Dir == nil {
		return nil, err
	}
	stays, err := readStays(ctx, e.Dir)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil // it does not open
	}
	if err != nil {
		return nil, err
	}
	var list []formats.Runner
	taken := map[string]bool{}
	for i := range stays {
		who := formats.Runner{Names: stays[i].Names}
		for _, finish := range stays[i].Finishes {
			run := formats.Run{Tick: finish.Tick, TimeMS: int64(finish.TimeTicks) * tick.Milliseconds()}
			if run.Demo, err = runDemoOf(ctx, e.Dir, finish.Tick, stays[i].Dir, taken); err != nil {
				return nil, err
			}
			who.Runs = append(who.Runs, run)
		}
		list = append(list, who)
	}
	return list, nil
}

// runs reports whether a stay with these names is of one of the players that are looked for.
func (f *finder) runs(names []string) bool {
	return len(f.players) == 0 || slices.ContainsFunc(f.players, func(pattern string) bool {
		return slices.ContainsFunc(names, like(pattern))
	})
}

// runDemoOf returns the path of the demo of a run in its recording, "" if it has none. Of several runs of a
// stay in one tick each has the next number (docs/tree/teehistorian.md section 10).
func runDemoOf(ctx context.Context, recording nodes.Dir, tick int32, dir string, taken map[string]bool) (string, error) {
	base := fmt.Sprintf("demos/runs/%08d-%s", tick, dir)
	name := base
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	_, err := nodes.Lookup(ctx, recording, name+".demo")
	if errors.Is(err, iofs.ErrNotExist) {
		return "", nil
	}
	taken[name] = true
	return name + ".demo", err
}

// printRuns writes the runs by map, on each the best first.
func (f *finder) printRuns() {
	slices.SortStableFunc(f.found, func(a, b finishedRun) int {
		return cmp.Or(cmp.Compare(a.Map, b.Map), cmp.Compare(a.TimeMS, b.TimeMS))
	})
	for _, r := range f.found {
		where := cmp.Or(r.Demo, r.Path)
		switch {
		case f.asJSON:
			_ = writeJSON(f.w, r) // to memory; Flush tells
		case f.null:
			fmt.Fprintf(f.w, "%s\x00", where)
		default:
			fmt.Fprintf(f.w, "%10.2f %9d  %s  %s  %s\n", float64(r.TimeMS)/1000, r.Tick, printable(where), printable(r.Map), printable(r.Player))
		}
	}
}
