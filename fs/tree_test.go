package fs

import (
	"context"
	"fmt"
	iofs "io/fs"
	"sync"
	"time"

	"recfs/nodes"
)

var sampleTime = time.Date(2024, 2, 29, 12, 30, 0, 123456789, time.UTC)

// sampleTree is a small tree with everything an adapter has to show.
func sampleTree() nodes.Dir {
	broken := nodes.Func(func(context.Context) ([]byte, error) { return nil, fmt.Errorf("damaged") })
	none := nodes.Sized(0, func(context.Context) ([]byte, error) { return nil, fmt.Errorf("damaged") })
	short := nodes.Sized(10, func(context.Context) ([]byte, error) { return []byte("short"), nil })
	return nodes.List(
		sampleRecording(5000),
		nodes.Entry{Name: "damaged", Attr: nodes.Attr{Time: sampleTime.Add(time.Hour)}, Dir: nodes.List(
			nodes.Entry{Name: "broken", File: broken},
			nodes.Entry{Name: "nothing", File: none},
			nodes.Entry{Name: "short", File: short},
			nodes.Entry{Name: "whole", File: nodes.Bytes([]byte("whole\n"))},
		)},
		nodes.Entry{Name: "link", Attr: nodes.Attr{Time: sampleTime}, Link: "../elsewhere/x"},
		nodes.Entry{Name: "notes.txt", Attr: nodes.Attr{Time: sampleTime}, File: nodes.Bytes([]byte("notes\n"))},
	)
}

// soundTree has nothing that cannot be read.
func soundTree() nodes.Dir {
	return nodes.List(
		sampleRecording(600),
		nodes.Entry{Name: "live", Attr: nodes.Attr{Time: sampleTime}, Dir: newLiveDir(
			nodes.Entry{Name: "x", File: nodes.Bytes([]byte("x"))},
		)},
		nodes.Entry{Name: "notes.txt", Attr: nodes.Attr{Time: sampleTime}, File: nodes.Bytes([]byte("notes\n"))},
	)
}

// sampleRecording has n ticks.
func sampleRecording(n int) nodes.Entry {
	return nodes.Entry{Name: "a.recording", Attr: nodes.Attr{Time: sampleTime}, Dir: nodes.List(
		nodes.Entry{Name: "empty", File: nodes.Bytes(nil)},
		nodes.Entry{Name: "header.json", File: nodes.Bytes([]byte("{}\n"))},
		nodes.Entry{Name: "raw", File: nodes.Section(nodes.BytesContent(pattern(3<<20+17)), 5, 3<<20)},
		nodes.Entry{Name: "states", Dir: &nodes.Series{
			Suffix: ".json", Width: 8, N: 3, Number: func(i int) int64 { return int64(i) * 10 },
			File:  func(n int64) nodes.File { return nodes.Bytes(fmt.Appendf(nil, "{\"tick\":%d}\n", n)) },
			Extra: func(_ context.Context, n int64) (bool, error) { return n < 25, nil },
		}},
		nodes.Entry{Name: "ticks", Dir: ticks(n)},
	)}
}

func ticks(n int) nodes.Dir {
	return &nodes.Series{
		Suffix: ".json", Width: 8, N: n,
		File: func(n int64) nodes.File { return nodes.Bytes(fmt.Appendf(nil, "{\"tick\":%d,\"x\":%d}\n", n, n*n)) },
	}
}

func pattern(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

// A liveDir is a volatile directory that tests change.
type liveDir struct {
	mu      sync.Mutex
	entries map[string]nodes.Entry
}

func newLiveDir(entries ...nodes.Entry) *liveDir {
	d := &liveDir{entries: map[string]nodes.Entry{}}
	for _, e := range entries {
		d.set(e)
	}
	return d
}

func (d *liveDir) set(e nodes.Entry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries[e.Name] = e
}

func (d *liveDir) remove(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.entries, name)
}

func (d *liveDir) list() nodes.Dir {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []nodes.Entry
	for _, e := range d.entries {
		list = append(list, e)
	}
	return nodes.List(list...)
}

func (d *liveDir) Len(ctx context.Context) (int, error)               { return d.list().Len(ctx) }
func (d *liveDir) At(ctx context.Context, i int) (nodes.Entry, error) { return d.list().At(ctx, i) }
func (d *liveDir) Find(ctx context.Context, name string) (int, error) {
	return d.list().Find(ctx, name)
}
func (d *liveDir) Snapshot(context.Context) (nodes.Dir, error) { return d.list(), nil }

func (d *liveDir) Lookup(_ context.Context, name string) (nodes.Entry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, ok := d.entries[name]
	if !ok {
		return nodes.Entry{}, iofs.ErrNotExist
	}
	return e, nil
}
