package datafile

import (
	"context"
	"fmt"
	iofs "io/fs"
	"slices"
	"sync"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes"
)

// Options are the settings of the format; the zero value works.
type Options struct {
	Mapres  iofs.FS // where NAME.png of external images lies, for previews
	MaxData int64   // the greatest data item that is inflated; 0: 1 GiB
}

// New returns the format.
func New(opt Options) formats.Format {
	return formats.Format{
		Name:       formatName,
		Extensions: []string{".map"},
		Match:      match,
		MatchNamed: isMagic,
		Variant:    fmt.Sprint(opt.MaxData),
		Open: func(ctx context.Context, src formats.Source, c *cache.Cache) (nodes.Dir, error) {
			r, err := NewReader(ctx, src, src.Size)
			if err != nil {
				return nil, err
			}
			if opt.MaxData > 0 {
				r.MaxData = opt.MaxData
			}
			return newTree(src, r, opt.Mapres, c).root(), nil
		},
	}
}

// match recognises a datafile whose name says nothing.
func match(head []byte) bool {
	return len(head) >= 8 && isMagic(head) && checkVersion(int32At(head, 4)) == nil
}

// A tree shows one datafile.
type tree struct {
	src    formats.Source
	r      *Reader
	m      *Map
	mapres iofs.FS
	points func() Points

	data  *cache.Memo[int, []byte]
	dirs  *cache.Memo[string, nodes.Dir]
	found *cache.Memo[struct{}, findings]
	made  *cache.Memo[product, []byte]
	sizes *cache.Memo[product, int64]
}

func newTree(src formats.Source, r *Reader, mapres iofs.FS, c *cache.Cache) *tree {
	t := &tree{src: src, r: r, m: r.Map(), mapres: mapres, points: sync.OnceValue(r.Points)}
	t.data = cache.NewMemo(c, func(ctx context.Context, i int) ([]byte, int64, error) {
		b, err := r.ReadData(ctx, i)
		return b, int64(cap(b)), err
	})
	t.dirs = cache.NewMemo(c, t.namedDir)
	t.found = cache.NewMemo(c, t.findProblems).Durable(t.indexName, t.encodeIndex, t.decodeIndex)
	t.made = cache.NewMemo(c, func(ctx context.Context, p product) ([]byte, int64, error) {
		b, err := t.produce(ctx, p)
		return b, int64(cap(b)), err
	})
	t.sizes = cache.NewMemo(c, func(ctx context.Context, p product) (int64, int64, error) {
		b, err := t.made.Get(ctx, p)
		return int64(len(b)), 8, err
	})
	return t
}

func (t *tree) root() nodes.Dir {
	entries := []nodes.Entry{
		{Name: "header.json", File: nodes.JSON(t.header)},
		{Name: "index.json", File: t.file(madeIndex, 0)},
		{Name: "map.json", File: t.file(madeMap, 0)},
		{Name: "raw", File: t.src.RawFile()},
	}
	if len(t.r.Items) > 0 {
		entries = append(entries, nodes.Entry{Name: "items", Dir: t.itemTypes()})
	}
	if len(t.r.Data) > 0 {
		entries = append(entries, nodes.Entry{Name: "data", Dir: &nodes.Series{
			Width: numberWidth, N: len(t.r.Data), File: func(n int64) nodes.File { return t.dataFile(int(n)) },
		}})
	}
	if t.hasSettings() {
		entries = append(entries, nodes.Entry{Name: "settings.cfg", File: t.file(madeSettings, 0)})
	}
	for name, there := range map[string]bool{
		"images":    slices.ContainsFunc(t.m.Images, Image.embedded),
		"sounds":    slices.ContainsFunc(t.m.Sounds, Sound.embedded),
		"envelopes": slices.ContainsFunc(t.m.Envelopes, func(o Envelope) bool { return !o.Short }),
		"layers":    len(t.m.Layers) > 0,
	} {
		if there {
			entries = append(entries, nodes.Entry{Name: name, Dir: t.lazyDir(name)})
		}
	}
	if t.m.Game != nil {
		entries = append(entries,
			nodes.Entry{Name: "collision.png", File: t.collisionFile()},
			nodes.Entry{Name: "preview.png", File: t.previewFile()})
	}
	return nodes.List(entries...)
}

func (t *tree) hasSettings() bool {
	return t.m.Info != nil && t.m.Info.Settings != nil && *t.m.Info.Settings != noData
}

// lazyDir returns the directory that namedDir makes.
func (t *tree) lazyDir(name string) nodes.Dir {
	return nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) { return t.dirs.Get(ctx, name) })
}

// entrySize is roughly what a directory keeps alive for each entry.
const entrySize = 256

// namedDir makes the directory images, sounds, envelopes or layers, or that
// of an item type.
func (t *tree) namedDir(ctx context.Context, name string) (nodes.Dir, int64, error) {
	var entries []nodes.Entry
	var err error
	switch name {
	case "images":
		entries, err = t.imageEntries(ctx)
	case "sounds":
		entries, err = t.soundEntries(ctx)
	case "envelopes":
		entries = t.envelopeEntries()
	case "layers":
		entries = t.layerEntries()
	default:
		dir := t.itemDir(name)
		n, err := dir.Len(ctx)
		return dir, int64(n) * entrySize, err
	}
	if err != nil {
		return nil, 0, err
	}
	return nodes.List(entries...), int64(len(entries)) * entrySize, nil
}

// A product is a file that is made from more than one place of the source.
type product struct {
	kind  productKind
	index int
}

type productKind int

const (
	madeIndex productKind = iota
	madeMap
	madeSettings
	madeImage
	madeLayer
	madeCollision
	madePreview
)

// produce makes the content of a product.
func (t *tree) produce(ctx context.Context, p product) ([]byte, error) {
	switch p.kind {
	case madeIndex:
		return t.document(t.index(ctx))
	case madeMap:
		return t.document(t.mapDocument(ctx))
	case madeSettings:
		return t.settings(ctx)
	case madeImage:
		return t.image(ctx, &t.m.Images[p.index])
	case madeLayer:
		return t.document(t.layerDocument(ctx, &t.m.Layers[p.index]))
	case madeCollision:
		return t.collision(ctx)
	case madePreview:
		return t.preview(ctx)
	}
	return nil, fmt.Errorf("product %d is unknown", p.kind)
}

func (t *tree) document(v any, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return nodes.MarshalIndented(v)
}

// file returns a product as a file. Its size is remembered longer than its
// content.
func (t *tree) file(kind productKind, index int) nodes.File {
	return madeFile{t, product{kind, index}}
}

type madeFile struct {
	t *tree
	p product
}

// Size implements nodes.File.
func (f madeFile) Size(ctx context.Context) (int64, error) { return f.t.sizes.Get(ctx, f.p) }

// Open implements nodes.File.
func (f madeFile) Open(ctx context.Context) (nodes.Content, error) {
	b, err := f.t.made.Get(ctx, f.p)
	if err != nil {
		return nil, err
	}
	return nodes.Bytes(b).Open(ctx)
}

// dataFile shows a data item. What is stored as it is, is not copied.
func (t *tree) dataFile(i int) nodes.File {
	d := t.r.Data[i]
	content := func(ctx context.Context) ([]byte, error) { return t.data.Get(ctx, i) }
	if !t.r.compressed(i) && t.r.checkStored(i) == nil {
		return nodes.Section(t.src, d.Offset, d.Stored)
	}
	return nodes.Sized(d.Size, content)
}
