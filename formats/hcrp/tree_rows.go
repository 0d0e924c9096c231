package hcrp

import (
	"context"
	"fmt"

	"recfs/formats/views"
	"recfs/nodes"
)

// entryCost is about how much memory an entry of tracks/ takes.
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
		entries = append(entries, nodes.Entry{Name: name, Grows: rec.Grows, File: rec.Text("tracks", i, rec.trackText(i))})
	}
	return nodes.List(entries...), int64(len(entries)) * entryCost
}

// trackText is the file of the i-th track.
func (rec *recording) trackText(i int) func(context.Context, *index) (*views.Text, error) {
	return func(_ context.Context, x *index) (*views.Text, error) {
		return rec.rowsText(x, trackHead, x.tracks[i].Pieces, func(x *index, p *replay, out *[]byte) observer {
			t := &x.tracks[i]
			return &placementRows{replay: p, lives: map[int64][]*track{t.Entity: {t}}, row: func(n int64, p *placement) {
				*out = appendTrackRow(*out, n, &p.pos, nil)
			}}
		}), nil
	}
}

// ghostText is export/ghost.csv.
func (rec *recording) ghostText(_ context.Context, x *index) (*views.Text, error) {
	var pieces []piece
	for i := range x.ranges {
		if n := x.ranges[i].Ghost; n > 0 {
			pieces = append(pieces, piece{i, n})
		}
	}
	return rec.rowsText(x, ghostHead, pieces, func(_ *index, p *replay, out *[]byte) observer {
		return &ghostRows{replay: p, out: out}
	}), nil
}

// A rowsPart is a part of a CSV file: the tick ranges from begin up to end, which are played
// together.
type rowsPart struct{ begin, end int }

// rowsPerFile is how many bytes of rows a part of a CSV file has at most, if it is of more than one
// tick range.
const rowsPerFile = 1 << 20

// rowsText is a CSV file: a head, then the rows of pieces. The observer that watch makes appends
// them to out. Each part of the file begins at a checkpoint, unless a stretch has too many rows.
func (rec *recording) rowsText(x *index, head string, pieces []piece, watch func(x *index, p *replay, out *[]byte) observer) *views.Text {
	sizes, parts, last := []int64{int64(len(head))}, []rowsPart{{}}, -2
	for _, p := range pieces {
		k, n := x.stretch(p.Range), len(parts)-1
		if k != last || sizes[n]+p.Size > rowsPerFile {
			parts, sizes, n = append(parts, rowsPart{begin: p.Range}), append(sizes, 0), n+1
		}
		sizes[n], parts[n].end, last = sizes[n]+p.Size, p.Range+1, k
	}
	return &views.Text{N: len(parts), Sizes: sizes, Cost: int64(16 * cap(parts)), Make: func(ctx context.Context, i int, _ any) (views.Part, error) {
		if i == 0 {
			return views.Part{Bytes: []byte(head)}, nil
		}
		x, err := rec.Index(ctx)
		if err != nil {
			return views.Part{}, err
		}
		out := make([]byte, 0, sizes[i])
		err = rec.playback(x).walk(ctx, parts[i].begin, parts[i].end, func(p *replay) observer { return watch(x, p, &out) }, nil)
		return views.Part{Bytes: out}, err
	}}
}

// markersText is markers.json, a part for each tick range that has some.
func (rec *recording) markersText(_ context.Context, x *index) (*views.Text, error) {
	var ranges []int
	for i := range x.ranges {
		if x.ranges[i].Markers > 0 {
			ranges = append(ranges, i)
		}
	}
	list := &views.List{
		Document: func(context.Context) (any, error) {
			return struct {
				Markers []struct{} `json:"markers"`
			}{[]struct{}{}}, nil
		},
		Key: "markers", N: len(ranges), Cost: int64(8 * cap(ranges)),
		Append: func(ctx context.Context, b []byte, part int) ([]byte, error) {
			x, err := rec.Index(ctx)
			if err != nil {
				return nil, err
			}
			err = rec.eachMarker(ctx, x, ranges[part], 0, func(m *marker) bool {
				b = m.appendLine(b)
				return true
			})
			return b, err
		},
	}
	return list.Text(), nil
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
