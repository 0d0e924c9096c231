package teehistorian

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"recfs/formats/views"
	"recfs/nodes"
)

// The directory demos (docs/tree/teehistorian.md section 10).

// A demoKey names a block of a demo.
type demoKey struct {
	span
	follow, run int32
}

func (t *tree) loadRuns(ctx context.Context, _ struct{}) ([]run, int64, error) {
	r, err := t.named(ctx)
	if err != nil {
		return nil, 0, err
	}
	list := r.runs()
	return list, int64(16 * cap(list)), nil
}

// allRuns returns the indexed recording and its runs.
func (t *tree) allRuns(ctx context.Context) (*recording, []run, error) {
	r, err := t.named(ctx)
	if err != nil {
		return nil, nil, err
	}
	runs, err := t.runs.Get(ctx, struct{}{})
	return r, runs, err
}

// run returns one of the runs.
func (t *tree) run(ctx context.Context, i int32) (*recording, *run, error) {
	r, runs, err := t.allRuns(ctx)
	if err != nil {
		return nil, nil, err
	}
	if int(i) >= len(runs) {
		return nil, nil, nodes.ErrStale
	}
	return r, &runs[i], nil
}

// demosDir is the directory demos: it lists the runs and opens demos of any ticks. Those never
// change, but are too many to have a number each, so they are looked up by name, as in a directory
// that may change.
type demosDir struct {
	nodes.Dir // what is listed
	t         *tree
}

func (t *tree) listedDemos(context.Context) (nodes.Dir, error) {
	return nodes.List(nodes.Entry{Name: "runs", Dir: nodes.Deferred[demoRuns]{Target: demoRuns{t}}}), nil
}

// demoRuns is the directory demos/runs by its tree: a value, so that two look-ups give equal ones.
type demoRuns struct{ t *tree }

// Resolve returns the runs.
func (d demoRuns) Resolve(ctx context.Context) (nodes.Dir, error) {
	r, runs, err := d.t.allRuns(ctx)
	return &runsDir{d.t, r, runs}, err
}

// Snapshot implements nodes.Volatile.
func (d *demosDir) Snapshot(context.Context) (nodes.Dir, error) { return d.Dir, nil }

// Lookup implements nodes.Volatile.
func (d *demosDir) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	parsed, ok := parseDemoName(name)
	if !ok {
		i, err := d.Find(ctx, name)
		if err != nil {
			return nodes.Entry{}, err
		}
		return d.At(ctx, i)
	}
	r, err := d.t.named(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	id, ok := parsed.find(r)
	if !ok {
		return nodes.Entry{}, nodes.NotExist("lookup", name)
	}
	return nodes.Entry{Name: r.demoName(id), File: d.t.HeadText(demosView, id, d.t.demo(id))}, nil
}

// runsDir is the directory demos/runs.
type runsDir struct {
	t *tree
	*recording
	list []run
}

// Len implements nodes.Dir.
func (d *runsDir) Len(context.Context) (int, error) { return len(d.list), nil }

// At implements nodes.Dir.
func (d *runsDir) At(_ context.Context, i int) (nodes.Entry, error) {
	name, err := d.name(i)
	if err != nil {
		return nodes.Entry{}, err
	}
	n := &d.list[i]
	first, last := d.runTicks(n)
	return nodes.Entry{Name: name, File: d.t.TextOf(demosView, i, len(d.list), d.t.demo(demoID{first, last, n.stay, int32(i)}))}, nil
}

// AppendName implements nodes.Namer.
func (d *runsDir) AppendName(_ context.Context, b []byte, i int) ([]byte, fs.FileMode, error) {
	name, err := d.name(i)
	return append(b, name...), 0, err
}

func (d *runsDir) name(i int) (string, error) {
	if i < 0 || i >= len(d.list) {
		return "", nodes.NotExist("lookup", fmt.Sprint(i))
	}
	return d.runName(&d.list[i]), nil
}

// Find implements nodes.Dir.
func (d *runsDir) Find(_ context.Context, name string) (int, error) {
	digits, rest, _ := strings.Cut(name, "-")
	if tick, ok := parsePadded(digits); ok {
		listed := fmt.Sprintf("%0*d-%s", tickDigits, tick, rest)
		i, ok := slices.BinarySearchFunc(d.list, listed, func(n run, name string) int {
			return strings.Compare(d.runName(&n), name)
		})
		if ok {
			return i, nil
		}
	}
	return 0, nodes.NotExist("lookup", name)
}

// demosView names the texts of demos, and the file on disk with the sizes of runs.
const demosView = "demos"

// demo opens a demo as a text: its header, and a part for each block.
func (t *tree) demo(id demoID) func(context.Context) (*views.Text, error) {
	part := func(ctx context.Context, i int, at any) (p views.Part, err error) {
		if i == 0 {
			p.Bytes, err = t.demoHead(ctx, id)
			return p, err
		}
		f, ok := at.(*film)
		if !ok {
			if f, err = t.film(ctx, id, id.block(i-1).first-1); err != nil {
				return p, stale(err)
			}
		}
		b, err := f.block(id.block(i - 1))
		return views.Part{Bytes: slices.Clone(b), Next: f}, stale(err)
	}
	return func(context.Context) (*views.Text, error) {
		return &views.Text{N: 1 + id.blocks(), Apart: true, Make: part, Share: func(i int) any {
			if i == 0 {
				return id
			}
			return demoKey{id.block(i - 1), id.follow, id.run}
		}}, nil
	}
}

// demoHead returns the header of a demo, for which the index is enough.
func (t *tree) demoHead(ctx context.Context, id demoID) ([]byte, error) {
	if id.run != noRun {
		_, n, err := t.run(ctx, id.run)
		if err != nil {
			return nil, err
		}
		return t.header.demoHeader(id, []int32{n.tick}), nil
	}
	r, err := t.get(ctx)
	if err != nil {
		return nil, err
	}
	return t.header.demoHeader(id, r.markers(id.first, id.last)), nil
}

// film returns the film of a demo, after all records of a tick.
func (t *tree) film(ctx context.Context, id demoID, tick int32) (*film, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, err
	}
	s := &shot{follow: id.follow}
	if id.run != noRun {
		if s, err = t.shots.Get(ctx, id.run); err != nil {
			return nil, err
		}
	}
	return r.film(ctx, t.header, s, tick)
}

// loadShot returns what the demo of a run shows.
func (t *tree) loadShot(ctx context.Context, i int32) (*shot, int64, error) {
	r, n, err := t.run(ctx, i)
	if err != nil {
		return nil, 0, err
	}
	s, err := r.runShot(ctx, t.header, n)
	if err != nil {
		return nil, 0, stale(err)
	}
	return s, int64(64 + 16*len(s.shown)), nil
}
