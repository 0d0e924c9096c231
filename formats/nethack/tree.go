package nethack

import (
	"context"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/views"
	"recfs/nodes"
)

// Format opens logs of NetHack 4.3 and its forks.
var Format = formats.Format{
	Name:       name,
	Extensions: []string{".nhgame"},
	Match:      match,
	Open:       open,
	ReadHead:   readHead,
	Scan:       scan,
	Prefixes:   true,
	ReadIndex:  readIndex,
	Steady:     steady,
	HoldsBack:  true,
	Tree: func(rec formats.Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
		return newTree(rec, c).dir()
	},
	Summary: summary,
	Things:  lastThings,
}

func newTree(rec formats.Recording, c *cache.Cache) *recording {
	h := rec.Head.(*header)
	rec.ReaderAt = live(rec.Input, h)
	r := &recording{Tree: views.New[index](name, rec, c), header: h, cache: c}
	r.listings = cache.NewMemo(c, r.loadListing)
	// Both claim little at first, and count more of it while they work. So a state is made beside
	// an index of any size, which the cache would otherwise give up for it and read again.
	r.saves = cache.NewMemo(c, r.loadSave).Peak(func(int) int64 { return littlePeak })
	r.documents = cache.NewMemo(c, r.loadDocument).Peak(func(int64) int64 { return littlePeak })
	return r
}

func (rec *recording) dir() (nodes.Dir, func() []columnar.Maker) {
	return rec.Dir(views.Game[index]{
		Header:   rec.headerDocument,
		Index:    rec.Text("index.json", 0, rec.indexText),
		Metadata: nodes.Bytes(rec.header.lines),
		Tables:   rec.tables,
		Files: []nodes.Entry{
			{Name: "chunks", Dir: rec.listing(chunksDir)},
			{Name: "lines", Dir: rec.listing(linesDir)},
			{Name: "ticks", Dir: rec.listing(ticksDir)},
			{Name: "states", Dir: rec.listing(statesDir)},
			{Name: "saves", Dir: rec.savesDir()},
			{Name: "export", Dir: rec.exports()},
		},
		Play: rec.playing(),
	})
}

// outline returns that of the index, if there is one, else it looks at the log.
func (rec *recording) outline(ctx context.Context) (*outline, error) {
	x, err := rec.Index(cache.SavedOnly(ctx))
	if err == nil {
		return x.outline(), nil
	}
	if formats.IsShort(err) {
		return nil, err
	}
	return readOutline(ctx, rec.At(ctx), rec.header.size, rec.Size)
}

func (rec *recording) loadListing(ctx context.Context, _ struct{}) (*listing, int64, error) {
	o, err := rec.outline(ctx)
	if err != nil {
		return nil, 0, err
	}
	l := &listing{outline: o}
	l.dirs[chunksDir] = &nodes.Series{Width: 6, N: o.chunks.rows, File: func(n int64) nodes.File {
		start, end := o.chunk(int(n))
		return nodes.Section(rec, start, end-start)
	}}
	l.dirs[linesDir] = &nodes.Series{
		Width: 6, Suffix: ".jsonl", N: o.chunks.rows,
		Grows: func(int64) bool { return rec.Grows },
		File:  func(n int64) nodes.File { return rec.linesFile(chunkView, int(n)) },
	}
	ticks := &views.Documents[index]{Numbers: (*index).numbers, Run: (*index).run, Make: rec.tick, Each: rec.eachTick}
	l.dirs[ticksDir] = rec.documentsDir("ticks", ticks, o.ticks, true)
	states := &views.Documents[index]{
		Numbers: (*index).numbers, Run: (*index).run, Make: rec.stateText, Made: rec.documents.Peek, Each: rec.eachState,
	}
	l.dirs[statesDir] = rec.documentsDir("states", states, o.ticks, false)
	return l, 512 + o.chunks.memory(), nil
}

// documentsDir lists a document for each of n ticks. A time opens one that is listed, or any.
func (rec *recording) documentsDir(view string, d *views.Documents[index], n int, listed bool) nodes.Dir {
	s := &nodes.Series{Width: 8, Suffix: ".json", N: n, File: func(n int64) nodes.File { return rec.Document(view, d, n) }}
	return &nodes.Timed{Dir: s, Suffix: s.Suffix, Clock: clock(rec.Index), Listed: listed}
}
