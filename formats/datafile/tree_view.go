package datafile

import (
	"cmp"
	"context"
	"io"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes"
)

// A view is an open datafile with what is remembered of it. Every file of the tree is made from it.
type view struct {
	src    formats.Input
	r      *Reader
	m      *Map
	cache  *cache.Cache
	data   *cache.Memo[int, []byte]   // contents of data items
	sound  *cache.Memo[int, struct{}] // whether they can be read to their ends
	large  int64                      // from which size on they are not held in memory
	points Points
}

func newView(src formats.Input, t *Tables, c *cache.Cache) *view {
	r := &Reader{t, src.ReaderAt}
	return &view{
		src: src, r: r, m: r.Map(), cache: c, points: r.Points(),
		data: newContents(c, r.ReadData).Peak(func(i int) int64 {
			return r.Data[i].Stored + r.Data[i].Size + r.Data[i].Size/8 // it moves as it grows
		}),
		sound: cache.NewMemo(c, func(ctx context.Context, i int) (v struct{}, cost int64, err error) {
			const known = 8
			_, err = r.CheckData(ctx, i, io.Discard)
			return v, known, err
		}),
		large: max(minLarge, c.Budget()/8),
	}
}

// minLarge is from which size on data is streamed however small the cache is.
const minLarge = 1 << 20

func newContents(c *cache.Cache, content func(context.Context, int) ([]byte, error)) *cache.Memo[int, []byte] {
	return cache.NewMemo(c, func(ctx context.Context, i int) ([]byte, int64, error) {
		b, err := content(ctx, i)
		return b, int64(cap(b)), err
	})
}

// files returns files that are made to learn their sizes, too, by their numbers. The sizes are
// remembered longer than the contents.
func (v *view) files(content func(context.Context, int) ([]byte, error)) func(i int) nodes.File {
	contents := newContents(v.cache, content)
	sizes := cache.NewMemo(v.cache, func(ctx context.Context, i int) (int64, int64, error) {
		const cost = 8
		b, err := contents.Get(ctx, i)
		return int64(len(b)), cost, err
	})
	return func(i int) nodes.File {
		return nodes.LazyFile(func(ctx context.Context) (nodes.File, error) {
			size, err := sizes.Get(ctx, i)
			if err != nil {
				return nil, err
			}
			return nodes.Sized(size, func(ctx context.Context) ([]byte, error) { return contents.Get(ctx, i) }), nil
		})
	}
}

// file returns a file that is made to learn its size, too.
func (v *view) file(content func(context.Context) ([]byte, error)) nodes.File {
	return v.files(func(ctx context.Context, _ int) ([]byte, error) { return content(ctx) })(0)
}

// entrySize is roughly what a directory keeps alive for each entry.
const entrySize = 256

// dir returns a directory that is listed when it is looked into.
func (v *view) dir(list func(context.Context) ([]nodes.Entry, error)) nodes.Dir {
	dirs := cache.NewMemo(v.cache, func(ctx context.Context, _ struct{}) (nodes.Dir, int64, error) {
		entries, err := list(ctx)
		return nodes.List(entries...), int64(len(entries)) * entrySize, err
	})
	return nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) { return dirs.Get(ctx, struct{}{}) })
}

// dataFile shows a data item. What is stored as it is, is not copied.
func (v *view) dataFile(i int) nodes.File {
	d := v.r.Data[i]
	if !v.r.compressed(i) && v.r.checkStored(i) == nil {
		return nodes.Section(v.src, d.Offset, d.Stored)
	}
	if d.Size > v.large {
		return nodes.Stream(d.Size, func(context.Context) (nodes.Content, error) { return v.r.stream(i) })
	}
	return nodes.Sized(d.Size, func(ctx context.Context) ([]byte, error) { return v.data.Get(ctx, i) })
}

// hold counts data item i for as long as the request goes on, and returns its content.
func (v *view) hold(ctx context.Context, i int) ([]byte, *formats.Held, error) {
	held, err := formats.Charge(ctx, v.r.Data[i].Size)
	if err != nil {
		return nil, nil, err
	}
	data, err := v.data.Get(ctx, i)
	return data, held, err
}

// content returns the data of at most limit bytes that a field of an item refers to.
func (v *view) content(ctx context.Context, ref int32, e *Element, what string, limit int64) ([]byte, error) {
	if err := v.r.checkText(ref, v.r.Items[e.Item].Offset, what, limit); err != nil {
		return nil, err
	}
	return v.data.Get(ctx, int(ref))
}

// text returns the string that a field refers to, nil if there is none or it cannot be read.
func (v *view) text(ctx context.Context, ref int32, e *Element, limit int64) (*Text, error) {
	if ref == noData {
		return nil, nil
	}
	b, err := v.content(ctx, ref, e, "text", limit)
	if isFault(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, _ := bytesToText(b)
	return &s, nil
}

// tiles returns the tiles of a layer that passed checkContent. Those in memory count as long as the
// request goes on, or until they are let go.
func (v *view) tiles(ctx context.Context, l *Layer) (*Tiles, error) {
	t, i := l.tiles(), int(*l.Data)
	switch {
	case !l.runs():
		return t, v.open(ctx, t, i)
	case v.manyTiles(l):
		return t, v.openRuns(ctx, t, l)
	}
	data, held, err := v.hold(ctx, i)
	if err != nil {
		return nil, err
	}
	t.held = held
	t.Records, err = v.r.layerRecords(l, data)
	return t, err
}

// manyTiles reports whether the tiles of a layer that passed checkContent are too many to be held in memory.
func (v *view) manyTiles(l *Layer) bool { return v.many(l.tiles(), int(*l.Data)) }

// many reports whether records, or the data item that begins with them, are too long to be held in memory.
func (v *view) many(t *Tiles, i int) bool { return max(t.length(), v.r.Data[i].Size) > v.large }

// open gives t its records, with which data item i begins.
func (v *view) open(ctx context.Context, t *Tiles, i int) (err error) {
	if !v.many(t, i) {
		t.Records, t.held, err = v.hold(ctx, i)
		t.Records = t.Records[:min(t.length(), int64(len(t.Records)))]
		return err
	}
	if t.stream, err = v.stream(i); err != nil {
		return err
	}
	t.check = func(ctx context.Context) error {
		_, err := v.sound.Get(ctx, i)
		return err
	}
	if t.length() < v.r.Data[i].Size { // what is behind them is not read
		return t.verify(ctx)
	}
	return nil
}

// openRuns gives t the tiles of a layer of run lengths, which are expanded as they are read.
func (v *view) openRuns(ctx context.Context, t *Tiles, l *Layer) error {
	var runs runCounter
	i := int(*l.Data)
	if _, err := v.r.CheckData(ctx, i, &runs); err != nil {
		return err
	}
	data, err := v.stream(i)
	t.stream = &runStream{data: data, size: v.r.Data[i].Size, turn: make(chan struct{}, 1)}
	return cmp.Or(err, v.r.checkRuns(l, runs.tiles()))
}

// stream returns data item i as it is read piece by piece.
func (v *view) stream(i int) (formats.ReaderAt, error) {
	if v.r.compressed(i) {
		return v.r.stream(i)
	}
	return nodes.SectionContent(v.r.src, v.r.Data[i].Offset, v.r.Data[i].Stored), v.r.checkStored(i)
}
