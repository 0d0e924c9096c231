package hcrp

import (
	"context"
	"fmt"
	"sync"

	"recfs/nodes"
)

// entryCost is what an entry of tracks/ takes in memory, about.
const entryCost = 256

// trackList returns tracks/, and what it takes in memory.
func (rec *recording) trackList(x *index) (nodes.Dir, int64) {
	var entries []nodes.Entry
	for i := range x.tracks {
		t := &x.tracks[i]
		name := fmt.Sprintf("entity-%d.csv", t.Entity)
		if t.Life > 1 {
			name = fmt.Sprintf("entity-%d-%d.csv", t.Entity, t.Life)
		}
		entries = append(entries, nodes.Entry{
			Name: name, Grows: rec.src.Grows,
			File: rec.rowsFile(t.Bytes()+int64(len(trackHead)), func(th *playback) nodes.Content { return th.track(t) }),
		})
	}
	return nodes.List(entries...), int64(len(entries)) * entryCost
}

// rowsFile is a CSV file of rows made from the index.
func (rec *recording) rowsFile(size int64, content func(*playback) nodes.Content) nodes.File {
	return nodes.Stream(size, func(ctx context.Context) (nodes.Content, error) {
		x, err := rec.tree.Index(ctx)
		if err != nil {
			return nil, err
		}
		return content(rec.playback(x)), nil
	})
}

// openGhost opens export/ghost.csv, whose size is in the index.
func (rec *recording) openGhost(ctx context.Context) (nodes.Content, error) {
	x, err := rec.tree.Index(ctx)
	if err != nil {
		return nil, err
	}
	return rec.playback(x).ghost(), nil
}

// openMarkers opens markers.json, whose lines are made a tick range at a time.
func (rec *recording) openMarkers(ctx context.Context) (nodes.Content, error) {
	x, err := rec.tree.Index(ctx)
	if err != nil {
		return nil, err
	}
	var pieces []int // tick ranges
	for i := range x.ranges {
		if x.ranges[i].Markers > 0 {
			pieces = append(pieces, i)
		}
	}
	head, tail := "{\n  \"markers\": [", "]\n}\n"
	if len(pieces) > 0 {
		tail = "\n  " + tail
	}
	f := nodes.NewPieces(func(ctx context.Context, i int) (b []byte, err error) {
		switch i {
		case 0:
			return []byte(head), nil
		case len(pieces) + 1:
			return []byte(tail), nil
		}
		err = rec.eachMarker(ctx, x, pieces[i-1], 0, func(m *marker) bool {
			b = m.appendLine(b)
			return true
		})
		if i == 1 && len(b) > 0 {
			b = b[1:] // without the comma
		}
		return b, err
	})
	f.Add(int64(len(head)))
	for i, number := range pieces {
		n := x.ranges[number].Markers
		if i == 0 {
			n--
		}
		f.Add(n)
	}
	f.Add(int64(len(tail)))
	return f, nil
}

// eachMarker calls fn for the markers of a tick range from a tick on, until it returns false.
func (rec *recording) eachMarker(ctx context.Context, x *index, number int, from int64, fn func(*marker) bool) error {
	r := &x.ranges[number]
	if r.Markers == 0 {
		return nil
	}
	list := x.markers.between(max(r.First, from), r.Last)
	if x.markers.many {
		c, err := rec.chunks.Get(ctx, int(r.Chunk))
		if err != nil {
			return err
		}
		list = c.markers(max(r.First, from), r.Last)
	}
	list(fn)
	return nil
}

// A rowMaker is an observer that makes rows.
type rowMaker interface {
	observer
	text() []byte
}

// rows returns the content of a CSV file: a head, then pieces whose rows the observers make that
// watch returns. Read in order, each tick range is played once.
func (t *playback) rows(head string, pieces []piece, watch func(p *replay, c *chunk) rowMaker) nodes.Content {
	var p *replay // as it is before range next
	next := 0
	f := nodes.NewPieces(oneByOne(func(ctx context.Context, i int) ([]byte, error) {
		if i == 0 {
			return []byte(head), nil
		}
		number := pieces[i-1].Range
		var err error
		if p == nil || next != number {
			p, err = t.before(ctx, number)
		}
		var rows rowMaker
		if err == nil {
			err = t.play(ctx, p, number, t.index.ranges[number].Last, func(c *chunk) observer {
				rows = watch(p, c)
				return rows
			})
		}
		if err != nil {
			p = nil
			return nil, err
		}
		next = number + 1
		return rows.text(), nil
	}))
	f.Add(int64(len(head)))
	for _, p := range pieces {
		f.Add(p.Size)
	}
	return f
}

// ghost returns the content of export/ghost.csv.
func (t *playback) ghost() nodes.Content {
	var pieces []piece
	for i := range t.index.ranges {
		if n := t.index.ranges[i].Ghost; n > 0 {
			pieces = append(pieces, piece{i, n})
		}
	}
	return t.rows(ghostHead, pieces, func(p *replay, _ *chunk) rowMaker {
		return &ghostRows{replay: p, write: true}
	})
}

// track returns the content of a file in tracks/.
func (t *playback) track(tr *track) nodes.Content {
	return t.rows(trackHead, tr.Pieces, func(p *replay, c *chunk) rowMaker {
		return &trackRows{track: tr, replay: p, chunk: c}
	})
}

// oneByOne returns load as a function that runs once at a time and remembers the piece that it made
// last: readers ask for a part of a piece at a time, mostly in order.
func oneByOne(load func(ctx context.Context, i int) ([]byte, error)) func(ctx context.Context, i int) ([]byte, error) {
	var mu sync.Mutex
	var text []byte
	last := -1
	return func(ctx context.Context, i int) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		if last == i {
			return text, nil
		}
		last = -1
		piece, err := load(ctx, i)
		if err == nil {
			last, text = i, piece
		}
		return piece, err
	}
}
