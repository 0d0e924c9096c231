package teehistorian

import (
	"bytes"
	"fmt"
	"math"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/views"
	"recfs/nodes"
)

// Format is the format of DDNet's teehistorian recordings.
var Format = New(Options{})

// New returns the format with options.
func New(opt Options) formats.Format {
	return formats.Format{
		Name:       name,
		Called:     "ddnet",
		Variant:    fmt.Sprint(opt.MaxMetadata),
		Extensions: []string{".teehistorian"},
		Match:      func(head []byte) bool { return bytes.HasPrefix(head, magic[:]) },
		Streams:    true,
		Runs:       func(x formats.Index) []formats.Runner { return x.(*index).runners(math.MaxInt) },
		Demo:       pickDemo,
		Needs:      formats.NeedsReader{Document: "header.json", Read: needs},
		HoldsBack:  true,
		Single:     []columnar.Table{{Name: "finishes", Columns: finishesColumns}, {Name: "players", Columns: playersColumns}},
		Open:       opt.open,
		ReadHead:   opt.readHead,
		Scan:       scan,
		Prefixes:   true,
		ReadIndex:  readIndex,
		Tree: func(rec formats.Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
			return newTree(rec, c, opt)
		},
		Summary: summary,
	}
}

// newTree declares the views of a recording.
func newTree(rec formats.Recording, c *cache.Cache, opt Options) (nodes.Dir, func() []columnar.Maker) {
	h := rec.Head.(*header)
	t := &tree{Tree: views.New[index](name, rec, c), header: h, readMap: opt.Map}
	t.names = cache.NewMemo(c, t.loadNames)
	t.blocks = cache.NewMemo(c, t.loadBlock)
	t.tables = cache.NewMemo(c, t.loadTable)
	t.active = cache.NewMemo(c, t.loadActivity)
	t.runs = cache.NewMemo(c, t.loadRuns)
	t.shots = cache.NewMemo(c, t.loadShot)
	return t.Dir(views.Game[index]{
		Header:   t.headerJSON,
		Document: t.document,
		Metadata: nodes.Bytes(h.json),
		Chunks:   &views.Chunks[index]{N: (*index).chunkCount, File: t.chunk},
		Lines:    &views.Chunks[index]{N: (*index).chunkCount, Grows: rec.Grows, File: t.lines},
		Ticks: &views.Documents[index]{
			Numbers: (*index).numbers, Clock: t.clock, Listed: true,
			Make: t.doc(false), Long: t.longTick, Stretch: (*index).run, Each: t.eachDoc(false),
		},
		States: &views.Documents[index]{
			Numbers: (*index).numbers, Clock: t.clock, Opens: t.hasState,
			Make: t.doc(true), Stretch: (*index).run, Each: t.eachDoc(true),
		},
		Tables: t.rowTables,
		Play:   t.play(),
		Files: []nodes.Entry{
			{Name: "players.json", File: t.Text("players.json", 0, t.playersJSON)},
			{Name: "players", Dir: nodes.Lazy(t.players)},
			{Name: "demos", Dir: &demosDir{nodes.Lazy(t.listedDemos), t}},
			{Name: "export", Dir: nodes.Lazy(t.exports)},
		},
	})
}
