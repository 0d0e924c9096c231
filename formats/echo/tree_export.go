package echo

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/flate"

	"recfs/cache"
	"recfs/formats/columnar"
	"recfs/formats/internal/zipfile"
	"recfs/formats/views"
	"recfs/nodes"
)

// lines is a file of lines/.
func (t *tree) lines(x *Index, n int) (nodes.File, error) {
	if x.Chunks[n].Ticks == 0 {
		return nil, fmt.Errorf("chunk %d: %w", n, errNoFrames)
	}
	return t.Text(viewLines.name, n, func(_ context.Context, x *Index) (*views.Text, error) {
		return t.pieces(x, viewLines, n, n+1), nil
	}), nil
}

// export is export/.
func (t *tree) export(x *Index) nodes.Dir {
	if x.Ticks == 0 {
		return nodes.List()
	}
	file := func(v *view) nodes.File {
		return t.Text(v.name, 0, func(_ context.Context, x *Index) (*views.Text, error) {
			return t.pieces(x, v, 0, len(x.Chunks)), nil
		})
	}
	name := ExportName(t.rec.Name, "."+t.rec.Format) + ".echoreplay"
	archive := func(kept string, method uint16) nodes.File {
		return t.Text(kept, 0, func(_ context.Context, x *Index) (*views.Text, error) {
			return t.archive(x, name, method), nil
		})
	}
	entries := []nodes.Entry{
		{Name: name, File: archive("archive", zip.Store)},
		{Name: name + ".txt", Grows: t.rec.Grows, File: file(viewText)},
		{Name: "players.csv", Grows: t.rec.Grows, File: file(viewPlayers)},
	}
	if !t.rec.Combat {
		entries = append(entries, nodes.Entry{Name: "disc.csv", Grows: t.rec.Grows, File: file(viewDisc)})
	}
	deflated := nodes.Entry{Name: name, File: archive(deflatedView, zip.Deflate)}
	return nodes.Unlisted(nodes.List(entries...), nodes.Entry{Name: "deflated", Dir: nodes.List(deflated)})
}

// eventsTogether is how many events are rendered at once.
const eventsTogether = 1 << 10

// events is events.jsonl.
func (t *tree) events(_ context.Context, x *Index) (*views.Text, error) {
	return &views.Text{N: (len(x.Events) + eventsTogether - 1) / eventsTogether, Make: func(ctx context.Context, i int, _ any) (views.Part, error) {
		x, err := t.Index(ctx)
		if err != nil {
			return views.Part{}, err
		}
		var b []byte
		for j := i * eventsTogether; j < min((i+1)*eventsTogether, len(x.Events)); j++ {
			b = x.Events[j].appendLine(b)
		}
		return views.Part{Bytes: b}, nil
	}}, nil
}

// A pieceKey names a piece of a part.
type pieceKey struct {
	partKey
	piece int
}

// pieces returns the text of a view: its head, then the pieces of the chunks from first to end.
func (t *tree) pieces(x *Index, v *view, first, end int) *views.Text {
	keys := []pieceKey{{}}
	sizes := []int64{int64(len(v.head))}
	for n := first; n < end; n++ {
		for part, p := range x.Chunks[n].Parts {
			for i := range p.Pieces {
				keys = append(keys, pieceKey{partKey{n, part}, i})
				sizes = append(sizes, p.Pieces[i].Sizes[v.number])
			}
		}
	}
	return &views.Text{
		N: len(keys), Sizes: sizes, Cost: int64(24 * cap(keys)),
		Make: func(ctx context.Context, i int, _ any) (views.Part, error) {
			if i == 0 {
				return views.Part{Bytes: []byte(v.head)}, nil
			}
			b, err := t.piece(ctx, v, keys[i])
			return views.Part{Bytes: b}, err
		},
	}
}

// deflatedView is the name under which the sizes of the parts are kept. The number changes when the
// same text is deflated to other bytes.
const deflatedView = "deflated1"

// archive returns the text of the .echoreplay archive, whose entry is stored or deflated. Then each
// piece is deflated by itself, so that it can be made without those before.
func (t *tree) archive(x *Index, name string, method uint16) *views.Text {
	text := t.pieces(x, viewText, 0, len(x.Chunks))
	size, first, crc := int64(0), time.UnixMilli(x.First), x.CRC
	for _, n := range text.Sizes {
		size += n
	}
	z, end := zipfile.NewSingle(name, first, method, size, size, crc), ""
	text.Sizes[0] = int64(len(z.Head)) // the text has no head
	text.Sizes = append(text.Sizes, int64(len(z.Tail)))
	if method == zip.Deflate {
		text.Sizes, text.Keep, end = nil, true, deflateEnd
	}
	piece := text.Make
	text.N++
	text.Make = func(ctx context.Context, i int, at any) (views.Part, error) {
		switch i {
		case 0:
			return views.Part{Bytes: z.Head}, nil
		case text.N - 1:
			stored := int64(len(end))
			for _, n := range text.Sizes[1:i] {
				stored += n
			}
			return views.Part{Bytes: append([]byte(end), zipfile.NewSingle(name, first, method, stored, size, crc).Tail...)}, nil
		}
		p, err := piece(ctx, i, at)
		if err == nil && method == zip.Deflate {
			p.Bytes, err = deflate(p.Bytes)
		}
		return p, err
	}
	return text
}

// deflateEnd is a last block of nothing (RFC 1951, section 3.2.6).
const deflateEnd = "\x03\x00"

// deflaters have flate writers, each of which takes a megabyte.
var deflaters = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, 3) // there is such a level
	return w
}}

// deflate returns b in blocks that end at a whole byte, none of which is marked as the last.
func deflate(b []byte) ([]byte, error) {
	var out bytes.Buffer
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	w.Reset(&out)
	_, err := w.Write(b)
	err = cmp.Or(err, w.Flush())
	return out.Bytes(), err
}

// smallText is the number of bytes up to which rendering is not charged.
const smallText = 128 << 10

// rendering charges the memory that rendering n bytes takes.
func rendering(ctx context.Context, n int64) (*cache.Held, error) {
	if n <= smallText {
		return nil, nil
	}
	if n > largeChunk {
		runtime.GC() // so that what was made before does not stay in memory as well
	}
	return cache.Charge(ctx, n)
}

// piece renders a piece.
func (t *tree) piece(ctx context.Context, v *view, k pieceKey) ([]byte, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, err
	}
	part := &x.Chunks[k.chunk].Parts[k.part]
	p := &part.Pieces[k.piece]
	c, err := t.chunks.Get(ctx, k.partKey)
	if err != nil {
		return nil, err
	}
	room := p.Sizes[v.number] + frameRoom // for the key of bones, which is taken back if there are none
	held, err := rendering(ctx, room)
	if err != nil {
		return nil, err
	}
	defer held.Free()
	return v.render(c.Run(part.first(k.piece), p.Frames), make([]byte, 0, room), x.First), nil
}

// ExportName returns the name of a recording without its extension, and without that of an outer
// compression.
func ExportName(name, extension string) string {
	base := name
	for _, outer := range []string{".xz", ".zst", ".gz", ".bz2"} {
		if s, ok := strings.CutSuffix(base, outer); ok {
			base = s
			break
		}
	}
	if s, ok := strings.CutSuffix(base, extension); ok {
		return s
	}
	return name
}

// tables declares the tables.
func (t *tree) tables() []views.Table[Index] {
	rows := func(of func(tableRows) *columnar.Batch) func(context.Context, *Index, *columnar.Batch, int) error {
		return func(ctx context.Context, x *Index, b *columnar.Batch, chunk int) error {
			for part := 0; part < len(x.Chunks[chunk].Parts) && !b.Full(); part++ {
				r, err := t.rows.Get(ctx, partKey{chunk, part})
				if err != nil {
					return err
				}
				b.Append(of(r))
			}
			return nil
		}
	}
	columns := func(list []columnar.Column) func(*Index) []columnar.Column {
		return func(x *Index) []columnar.Column { return x.columns(list) }
	}
	return []views.Table[Index]{{
		Name: "frames", Schema: columns(framesColumns), Groups: func(x *Index) []columnar.Group { return x.Frames.Groups() },
		Chunks: (*Index).count, Rows: rows(func(r tableRows) *columnar.Batch { return r.frames }),
	}, {
		Name: "players", Schema: columns(playersOf(t.rec.Text)), Groups: func(x *Index) []columnar.Group { return x.Players.Groups() },
		Chunks: (*Index).count, Rows: rows(func(r tableRows) *columnar.Batch { return r.players }),
	}, {
		Name: "events", Columns: eventsColumns, Schema: columns(eventsColumns), Known: eventRows,
	}}
}

// tableRows are the rows that a part of a chunk has in frames and players. They take a quarter of
// the memory of the frames, and have no pointers for the garbage collector to follow.
type tableRows struct{ frames, players *columnar.Batch }

// loadRows makes the rows of a part of a chunk. It does not keep the frames.
func (t *tree) loadRows(ctx context.Context, k partKey) (r tableRows, size int64, err error) {
	x, err := t.Index(ctx)
	if err != nil {
		return r, 0, err
	}
	info := x.Chunks[k.chunk].part(k.part)
	err = t.eachFrame(ctx, x, k, func(i int, f *Frame) error {
		if i == 0 { // the others may have as many players
			players := len(f.Teams[0].Players) + len(f.Teams[1].Players) + len(f.Teams[2].Players)
			r.frames = columnar.NewRows(framesColumns, min(info.Ticks, framesRoom))
			r.players = columnar.NewRows(playersOf(t.rec.Text), min(players*info.Ticks, playersRoom))
		}
		frameRow(r.frames, info.FirstTick+int64(i), k.chunk, f)
		playerRows(r.players, info.FirstTick+int64(i), f, func() {})
		return nil
	})
	if r.frames == nil || err != nil {
		r = tableRows{columnar.NewRows(framesColumns, 0), columnar.NewRows(playersOf(t.rec.Text), 0)}
	}
	return r, r.frames.Size() + r.players.Size(), err
}

// eachFrame calls fn for each frame of a part of a chunk, with what tables need. It may begin again
// at the first frame.
func (t *tree) eachFrame(ctx context.Context, x *Index, k partKey, fn func(i int, f *Frame) error) error {
	info, n := x.Chunks[k.chunk].part(k.part), 0
	next := func(f *Frame) error {
		n++
		return fn(n-1, f)
	}
	c, ok := t.chunks.Peek(k)
	if !ok {
		var err error
		if ok, err = t.rec.Visit(ctx, k.chunk, info, next); err != nil || ok && n == info.Ticks {
			return err
		}
		n = 0
		if c, err = t.chunks.Get(ctx, k); err != nil {
			return err
		}
	}
	for i := range c.Frames {
		if err := next(&c.Frames[i]); err != nil {
			return err
		}
	}
	return nil
}

// The number of rows that there is room for at first.
const (
	framesRoom  = 1 << 10
	playersRoom = framesRoom * 8
)
