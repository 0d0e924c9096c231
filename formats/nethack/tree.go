package nethack

import (
	"bytes"
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
	ticks := &views.Documents[index]{Numbers: (*index).numbers, Stretch: (*index).run, Make: rec.tick, Each: rec.eachTick}
	l.dirs[ticksDir] = rec.documentsDir("ticks", ticks, o.ticks, true)
	states := &views.Documents[index]{
		Numbers: (*index).numbers, Stretch: (*index).run, Make: rec.stateText, Made: rec.documents.Peek, Each: rec.eachState,
	}
	l.dirs[statesDir] = rec.documentsDir("states", states, o.ticks, false)
	return l, 1280 + o.chunks.memory(), nil
}

// documentsDir lists a document for each of n ticks. A time opens one that is listed, or any.
func (rec *recording) documentsDir(view string, d *views.Documents[index], n int, listed bool) nodes.Dir {
	return &nodes.Series{
		Width: 8, Suffix: ".json", N: n, File: func(n int64) nodes.File { return rec.Document(view, d, n) },
		Clock: clock(rec.Index), AsListed: listed,
	}
}

type headerFields struct {
	Status         string  `json:"status"`
	RecoveryCount  uint32  `json:"recovery_count"`
	Version        string  `json:"version"`
	Description    string  `json:"description"`
	DescriptionHex string  `json:"description_hex,omitempty"`
	StartTime      *string `json:"start_time"`
	Mode           *string `json:"mode"`
	ModeNumber     int64   `json:"mode_number"`
	Name           string  `json:"name"`
	NameHex        string  `json:"name_hex,omitempty"`
	Role           string  `json:"role"`
	RoleHex        string  `json:"role_hex,omitempty"`
	Race           string  `json:"race"`
	RaceHex        string  `json:"race_hex,omitempty"`
	Gender         string  `json:"gender"`
	GenderHex      string  `json:"gender_hex,omitempty"`
	Alignment      string  `json:"alignment"`
	AlignmentHex   string  `json:"alignment_hex,omitempty"`
}

// headerDocument is header.json. A header with a problem does not open, so there is none to list.
func (rec *recording) headerDocument(context.Context) (any, error) {
	h := rec.header
	word := func(i int) (string, string) { return h.words[i], invalidHex([]byte(h.words[i])) }
	f := headerFields{
		Status: h.status, RecoveryCount: h.count, Version: h.version, ModeNumber: h.mode,
		Description: string(h.description), DescriptionHex: invalidHex(h.description),
		StartTime: timeOf(h.start, 0),
		Name:      string(h.name), NameHex: invalidHex(h.name),
	}
	if mode := h.modeName(); mode != "" {
		f.Mode = &mode
	}
	f.Role, f.RoleHex = word(0)
	f.Race, f.RaceHex = word(1)
	f.Gender, f.GenderHex = word(2)
	f.Alignment, f.AlignmentHex = word(3)
	return formats.HeaderDocument[headerFields]{
		HeaderHead: formats.HeaderHead{Format: name, FormatVersion: h.version},
		Source:     rec.Info(), Header: f, Problems: []formats.Problem{},
	}, nil
}

// An indexDocument is index.json without the elements of its lists, which may be long.
type indexDocument struct {
	formats.IndexHead
	Totals   totals           `json:"totals"`
	LastSave *lastSave        `json:"last_save"`
	Chunks   formats.LongList `json:"chunks"`
	Pending  formats.LongList `json:"pending"`
	Problems formats.LongList `json:"problems"`
}

// How many elements of a list of index.json are made at once, and what one takes then, about.
const (
	elementsAtOnce = 2048
	elementCost    = 1 << 10
)

// indexText is index.json.
func (rec *recording) indexText(ctx context.Context, x *index) (*views.Text, error) {
	damage, err := rec.Damage(ctx)
	if err != nil {
		return nil, err
	}
	ending := x.ending()
	doc := indexDocument{
		IndexHead: formats.IndexHead{Format: name, Complete: x.whole(), Finished: ending == endGameOver, End: ending},
		Totals:    x.totals(), LastSave: x.lastSave(),
	}
	problems := len(doc.Damaged(x.problemList(), damage))
	list := rec.indexList("chunks", x.chunks.rows, elementsAtOnce, elementCost, func(x *index, b []byte, first, end int) (_ []byte, err error) {
		for ; first < end && err == nil; first++ {
			b, err = views.AppendElement(b, x.chunkRow(first))
		}
		return b, err
	})
	list.Cost, list.Claim, list.Document = 1<<10, x.Memory(), func(context.Context) (any, error) { return doc, nil }
	list.More = []views.List{
		rec.indexList("pending", 1, 1, linesPerByte*int64(len(x.tail)), func(x *index, b []byte, _, _ int) ([]byte, error) {
			return x.appendPending(b)
		}),
		rec.indexList("problems", problems, elementsAtOnce, elementCost, func(x *index, b []byte, first, end int) (_ []byte, err error) {
			for _, p := range new(formats.IndexHead).Damaged(x.problemList(), damage)[first:end] {
				if b, err = views.AppendElement(b, p); err != nil {
					break
				}
			}
			return b, err
		}),
	}
	return list.Text(), nil
}

// indexList is a list of index.json, n elements of which are made at once, each of about a cost.
func (rec *recording) indexList(key string, n, atOnce int, cost int64, add func(x *index, b []byte, first, end int) ([]byte, error)) views.List {
	return views.Elements(key, n, atOnce, func(ctx context.Context, b []byte, first, end int) ([]byte, error) {
		x, err := rec.Index(ctx)
		if err != nil {
			return nil, err
		}
		held, err := formats.Charge(ctx, int64(end-first)*cost)
		if err != nil {
			return nil, err
		}
		defer held.Free()
		return add(x, b, first, end)
	})
}

// appendPending appends the events behind the last save line to a list of a document. They are not
// shown if they are too many.
func (x *index) appendPending(dst []byte) ([]byte, error) {
	if x.tail == nil {
		return dst, nil
	}
	r, n := offsetReader{bytes.NewReader(x.tail), x.reach()}, x.ticks.len()
	err := x.visit(context.Background(), r, n, n+1, func(_ int, ev *events) error {
		for e := range ev.all() {
			dst = appendEvent(append(dst, views.NextElement...), e, x.lastZone())
		}
		return nil
	})
	return dst, err
}
