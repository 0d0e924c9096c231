package teehistorian

import (
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"

	"recfs/cache"
	"recfs/nodes"
)

// The directory demos (docs/tree/teehistorian.md section 10).

func (d demoID) key(s span) demoKey { return demoKey{s, d.follow, d.run} }

func (t *tree) newDemoMemos(c *cache.Cache) demoMemos {
	return demoMemos{
		demos:      cache.NewMemo(c, t.loadDemos),
		shots:      cache.NewMemo(c, t.loadShot),
		demoBlocks: cache.NewMemo(c, t.loadDemoBlock),
		demoEnds:   cache.NewMemo(c, t.loadDemoEnds),
		runSizes: cache.NewMemo(c, t.loadRunSizes).Durable(
			func(struct{}) cache.Place { return t.Place(name, "demos") }, (*runSizes).encode, t.resumeRunSizes),
	}
}

func (t *tree) loadDemos(ctx context.Context, _ struct{}) (*demos, int64, error) {
	r, err := t.named(ctx)
	if err != nil {
		return nil, 0, err
	}
	list, finishes := r.runs()
	return &demos{list, finishes}, int64(16*cap(list) + 4*cap(finishes)), nil
}

// demosDir is the directory demos: it lists the runs and opens demos of any ticks. What it has
// never changes, but those are too many to have a number each, so that it is looked up by name like
// a directory that may change.
type demosDir struct {
	nodes.Dir // what is listed
	t         *tree
}

func (t *tree) demosDir() nodes.Dir {
	runs := nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) {
		r, d, err := t.runs(ctx)
		return &runsDir{t, r, d}, err
	})
	return &demosDir{nodes.List(nodes.Entry{Name: "runs", Dir: runs}), t}
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
	return nodes.Entry{Name: r.demoName(id), File: demoFile{d.t, id}}, nil
}

// runsDir is the directory demos/runs.
type runsDir struct {
	t *tree
	*recording
	*demos
}

// Len implements nodes.Dir.
func (d *runsDir) Len(context.Context) (int, error) { return len(d.demos.runs), nil }

// At implements nodes.Dir.
func (d *runsDir) At(_ context.Context, i int) (nodes.Entry, error) {
	name, err := d.name(i)
	if err != nil {
		return nodes.Entry{}, err
	}
	n := &d.demos.runs[i]
	first, last := d.runTicks(n)
	return nodes.Entry{Name: name, File: demoFile{d.t, demoID{first, last, n.stay, int32(i)}}}, nil
}

// AppendName implements nodes.Namer.
func (d *runsDir) AppendName(_ context.Context, b []byte, i int) ([]byte, fs.FileMode, error) {
	name, err := d.name(i)
	return append(b, name...), 0, err
}

func (d *runsDir) name(i int) (string, error) {
	runs := d.demos.runs
	if i < 0 || i >= len(runs) {
		return "", nodes.NotExist("lookup", fmt.Sprint(i))
	}
	return d.runName(&runs[i]), nil
}

// Find implements nodes.Dir.
func (d *runsDir) Find(_ context.Context, name string) (int, error) {
	digits, rest, _ := strings.Cut(name, "-")
	if tick, ok := parsePadded(digits); ok {
		listed := fmt.Sprintf("%0*d-%s", tickDigits, tick, rest)
		i, ok := slices.BinarySearchFunc(d.demos.runs, listed, func(n run, name string) int {
			return strings.Compare(d.runName(&n), name)
		})
		if ok {
			return i, nil
		}
	}
	return 0, nodes.NotExist("lookup", name)
}

// loadShot returns what the demo of a run shows.
func (t *tree) loadShot(ctx context.Context, run int32) (*shot, int64, error) {
	r, d, err := t.runs(ctx)
	if err != nil {
		return nil, 0, err
	}
	if int(run) >= len(d.runs) {
		return nil, 0, nodes.ErrStale
	}
	s, err := r.runShot(ctx, t.header, &d.runs[run])
	if err != nil {
		return nil, 0, stale(err)
	}
	return s, int64(64 + 16*len(s.shown)), nil
}

// shotOf returns what the demo shows that has a stay followed, or is that of a run.
func (t *tree) shotOf(ctx context.Context, follow, run int32) (*shot, error) {
	if run == noRun {
		return &shot{follow: follow}, nil
	}
	return t.shots.Get(ctx, run)
}

// loadDemoBlock renders one block of a demo.
func (t *tree) loadDemoBlock(ctx context.Context, k demoKey) ([]byte, int64, error) {
	var b []byte
	err := t.render(ctx, demoID{k.first, k.last, k.follow, k.run}, []span{k.span}, func(_ int, block []byte) { b = block })
	return b, int64(cap(b)), err
}

// render renders blocks of a demo that follow each other.
func (t *tree) render(ctx context.Context, d demoID, list []span, done func(i int, block []byte)) error {
	v, err := t.get(ctx)
	if err != nil {
		return err
	}
	s, err := t.shotOf(ctx, d.follow, d.run)
	if err != nil {
		return err
	}
	f, err := v.film(ctx, t.header, list[0].first-1)
	if err != nil {
		return stale(err)
	}
	for i, part := range list {
		b, err := f.block(part, s)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return stale(err)
		}
		done(i, slices.Clone(b))
	}
	return nil
}

// loadDemoEnds returns where the header and each block of a demo ends. It renders the blocks, on
// all processors.
func (t *tree) loadDemoEnds(ctx context.Context, d demoID) ([]int64, int64, error) {
	list := d.spans()
	ends := make([]int64, len(list)+1)
	ends[0] = t.header.demoHeader(d.first, d.last, false, nil).Size()
	const least = 4 // a stretch of fewer blocks costs as much to find
	parts := max(min(runtime.GOMAXPROCS(0), len(list)/least), 1)
	errs := make([]error, parts)
	var wg sync.WaitGroup
	for part := range parts {
		from, to := len(list)*part/parts, len(list)*(part+1)/parts
		wg.Go(func() {
			errs[part] = t.render(ctx, d, list[from:to], func(i int, block []byte) {
				ends[from+i+1] = int64(len(block))
				t.demoBlocks.Put(d.key(list[from+i]), block, int64(len(block)))
			})
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, 0, err
		}
	}
	for i := range list {
		ends[i+1] += ends[i]
	}
	return ends, int64(8 * cap(ends)), nil
}
