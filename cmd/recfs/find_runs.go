package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

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

// addRuns adds the runs in a recording, called name, of the players that are looked for. The
// catalogue of a mount has none: the index of the recording tells them.
func (f *finder) addRuns(ctx context.Context, name string, s catalogue.Summary) error {
	runs := f.a.formatNamed(s.Format).Runs
	switch {
	case runs == nil:
		return nil
	case !s.Indexed:
		f.unknown++
		return nil
	case s.Runners == nil && s.Error == "":
		_, x, err := f.index(ctx, name)
		if err != nil {
			return err
		}
		s.Runners = runs(x)
	}
	for _, who := range s.Runners {
		if f.runs(who.Names) {
			f.addRunner(name, s.Map, who)
		}
	}
	return nil
}

// index returns the tree and the index of a recording.
func (f *finder) index(ctx context.Context, name string) (nodes.Dir, formats.Index, error) {
	e, _, o, err := f.a.recording(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	x, err := o.Index(ctx)
	return e.Dir, x, err
}

// addRunner adds the runs of a stay in a recording called name.
func (f *finder) addRunner(name string, mapName *string, who formats.Runner) {
	for _, run := range who.Runs {
		r := finishedRun{jsonPath: newJSONPath(name), Map: value(mapName), Tick: run.Tick, TimeMS: run.TimeMS}
		if len(who.Names) > 0 {
			r.Player = who.Names[0]
		}
		if run.Demo != "" {
			r.Demo = joinName(name, run.Demo)
			r.DemoHex = formats.HexOf(r.Demo)
		}
		f.found = append(f.found, r)
	}
}

// runs reports whether a stay with these names is of one of the players that are looked for.
func (f *finder) runs(names []string) bool {
	return len(f.players) == 0 || slices.ContainsFunc(f.players, func(pattern string) bool {
		return slices.ContainsFunc(names, like(pattern))
	})
}

// sortRuns sorts the runs by map, on each the best first.
func (f *finder) sortRuns() {
	slices.SortStableFunc(f.found, func(a, b finishedRun) int {
		return cmp.Or(cmp.Compare(a.Map, b.Map), cmp.Compare(a.TimeMS, b.TimeMS))
	})
}

// printRuns writes the runs as they are sorted.
func (f *finder) printRuns() {
	f.sortRuns()
	for _, r := range f.found {
		where := cmp.Or(r.Demo, r.Path)
		text := where + "\x00"
		if !f.null {
			text = fmt.Sprintf("%10.2f %9d  %s  %s  %s\n", float64(r.TimeMS)/1000, r.Tick, printable(where), printable(r.Map), printable(r.Player))
		}
		f.env.print(r, text)
	}
}

// holds reports whether the last save of a recording, which is called name, has the items in the
// pack and the monsters on the level that are looked for.
func (f *finder) holds(ctx context.Context, name string, s catalogue.Summary) bool {
	things := f.a.formatNamed(s.Format).Things
	switch {
	case len(f.items) == 0 && len(f.monsters) == 0:
		return true
	case things == nil:
		return false
	case !s.Indexed:
		f.unknown++
		return false
	}
	tree, x, err := f.index(ctx, name)
	var last formats.Things
	if err == nil {
		last, err = things(ctx, tree, x)
	}
	if err != nil {
		f.fail(name, err)
		return false
	}
	return hasEach(last.Items, f.items) && hasEach(last.Monsters, f.monsters)
}

// hasEach reports whether for each pattern there is a name that matches.
func hasEach(names, patterns []string) bool {
	return !slices.ContainsFunc(patterns, func(pattern string) bool { return !slices.ContainsFunc(names, like(pattern)) })
}
