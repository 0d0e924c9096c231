package hcrp

import (
	"context"
	"fmt"
	"sync"

	"recfs/nodes"
)

// trackList returns tracks/.
func (rec *recording) trackList(x *index) nodes.Dir {
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
	return nodes.List(entries...)
}

// rowsFile is a CSV file of rows made from the index.
func (rec *recording) rowsFile(size int64, content func(*playback) nodes.Content) nodes.File {
	return nodes.Stream(size, func(ctx context.Context) (nodes.Content, error) {
		s, err := rec.index(ctx)
		if err != nil {
			return nil, err
		}
		return content(rec.playback(s)), nil
	})
}

// openGhost opens export/ghost.csv, whose size is in the index.
func (rec *recording) openGhost(ctx context.Context) (nodes.Content, error) {
	s, err := rec.index(ctx)
	if err != nil {
		return nil, err
	}
	return rec.playback(s).ghost(), nil
}

// markersText returns markers.json.
func (rec *recording) markersText(ctx context.Context) ([]byte, error) {
	s, err := rec.index(ctx)
	if err != nil {
		return nil, err
	}
	list, err := rec.markers(s.index)
	if err != nil {
		return nil, err
	}
	b := append([]byte(`{"markers":[`), list...)
	return document(append(b, ']', '}')), nil
}

// markers returns the markers, elements of a JSON list, if they are not too many to be shown.
func (rec *recording) markers(x *index) ([]byte, error) {
	if limit := rec.Reader.limits.Text; len(x.markers) > limit {
		return nil, fmt.Errorf("the markers are more than %d bytes long", limit)
	}
	return x.markers, nil
}

// A rowMaker is an observer that makes rows.
type rowMaker interface {
	observer
	text() []byte
}

// rows returns the content of a CSV file: a head, then pieces whose rows the observers make that
// watch returns. Read in order, each tick range is played once.
func (t *playback) rows(head string, pieces []piece, watch func(p *replay, c *chunk, size int64) rowMaker) nodes.Content {
	var p *replay // as it is before range next
	next := 0
	f := nodes.NewPieces(oneByOne(func(ctx context.Context, i int) ([]byte, error) {
		if i == 0 {
			return []byte(head), nil
		}
		number := pieces[i-1].Range
		if err := checkPiece(pieces[i-1].Size); err != nil {
			return nil, err
		}
		var err error
		if p == nil || next != number {
			p, err = t.before(ctx, number)
		}
		var rows rowMaker
		if err == nil {
			err = t.play(ctx, p, number, t.index.ranges[number].Last, func(c *chunk) observer {
				rows = watch(p, c, pieces[i-1].Size)
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
	return t.rows(ghostHead, pieces, func(p *replay, _ *chunk, size int64) rowMaker {
		return &ghostRows{replay: p, write: true, limit: size}
	})
}

// track returns the content of a file in tracks/.
func (t *playback) track(tr *track) nodes.Content {
	return t.rows(trackHead, tr.Pieces, func(p *replay, c *chunk, _ int64) rowMaker {
		return &trackRows{track: tr, replay: p, chunk: c}
	})
}

// maxPiece bounds how many bytes one piece of a CSV file may have: ghost.csv has a row for every
// tick of a hole, which may be billions.
const maxPiece = 256 << 20

// checkPiece refuses a piece of n bytes that is too large to be made at once.
func checkPiece(n int64) error {
	if n > maxPiece {
		return fmt.Errorf("a piece of %d bytes, %d are the limit", n, maxPiece)
	}
	return nil
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
