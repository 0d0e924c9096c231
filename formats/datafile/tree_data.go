package datafile

import (
	"bufio"
	"context"
	"io"
	"path"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/rowcount"
	"recfs/formats/views"
	"recfs/nodes"
)

// A tree is what the files of a map share.
type tree struct {
	*views.Tree[index]
	r      *Reader
	m      *Map
	points Points
	cache  *cache.Cache
	data   *cache.Memo[int, []byte]       // contents of data items
	sound  *cache.Memo[int, int64]        // of those that can be read to their ends: tiles that they make as run lengths
	dirs   *cache.Memo[string, nodes.Dir] // by name
	counts *views.Kept[struct{}, *rowcount.Counter]
	large  int64 // from which size on data is not held in memory
}

// minLarge is from which size on data is streamed however small the cache is.
const minLarge = 1 << 20

func newTree(rec formats.Recording, c *cache.Cache) *tree {
	r := &Reader{rec.Head.(*Tables), rec.ReaderAt}
	t := &tree{
		Tree: views.New[index](formatName, rec, c), r: r, m: r.Map(), points: r.Points(), cache: c,
		data: cache.NewMemo(c, func(ctx context.Context, i int) ([]byte, int64, error) {
			b, err := r.ReadData(ctx, i)
			return b, int64(cap(b)), err
		}).Peak(func(i int) int64 {
			return inflaterCost + r.Data[i].Size + r.Data[i].Size/8 // it moves as it grows
		}),
		sound: cache.NewMemo(c, func(ctx context.Context, i int) (tiles, cost int64, err error) {
			const known = 8
			var runs runCounter
			_, err = r.CheckData(ctx, i, &runs)
			return runs.tiles(), known, err
		}),
		dirs:  cache.NewMemo[string, nodes.Dir](c, nil),
		large: max(minLarge, c.Budget()/8),
	}
	t.counts = views.NewKept(formatName, rec, c, views.Kept[struct{}, *rowcount.Counter]{
		Name: t.tileRowsName, Code: codeTileRows, Cost: (*rowcount.Counter).Cost, Check: t.checkTileRows,
	})
	return t
}

// dir returns a directory that is listed when it is looked into.
func (t *tree) dir(name string, list func(context.Context) ([]nodes.Entry, error)) nodes.Dir {
	const entrySize = 256 // roughly what an entry keeps alive
	return t.listed(name, func(ctx context.Context, _ string) (nodes.Dir, int64, error) {
		entries, err := list(ctx)
		return nodes.List(entries...), int64(len(entries)) * entrySize, err
	})
}

func (t *tree) listed(name string, list func(context.Context, string) (nodes.Dir, int64, error)) nodes.Dir {
	return nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) { return t.dirs.GetFrom(ctx, name, list) })
}

// manyFiles is dir for what may have very many files: each is made when it is asked for.
func (t *tree) manyFiles(name string, list func() []nodes.FileName, file func(nodes.FileName) nodes.File) nodes.Dir {
	return t.listed(name, func(context.Context, string) (nodes.Dir, int64, error) {
		dir, cost := nodes.FileNames(list(), file)
		return dir, cost, nil
	})
}

// file returns file i of a view, which is made to learn its size, too.
func (t *tree) file(view string, i int, content func(context.Context) ([]byte, error)) nodes.File {
	return t.HeadText(view, i, func(context.Context) (*views.Text, error) {
		return &views.Text{N: 1, Make: func(ctx context.Context, _ int, _ any) (views.Part, error) {
			b, err := content(ctx)
			return views.Part{Bytes: b}, err
		}}, nil
	})
}

// dataFile shows a data item. What is stored as it is, is not copied.
func (t *tree) dataFile(i int) nodes.File {
	d := t.r.Data[i]
	if !t.r.compressed(i) && t.r.checkStored(i) == nil {
		return nodes.Section(t, d.Offset, d.Stored)
	}
	if d.Size > t.large {
		return nodes.Stream(d.Size, func(context.Context) (nodes.Content, error) { return t.r.stream(i, d.Size, false), t.r.checkStored(i) })
	}
	return nodes.Sized(d.Size, func(ctx context.Context) ([]byte, error) { return t.data.Get(ctx, i) })
}

// content returns the data of at most limit bytes that a field of an item refers to.
func (t *tree) content(ctx context.Context, ref int32, e *Element, what string, limit int64) ([]byte, error) {
	if err := t.r.checkText(ref, t.r.Items[e.Item].Offset, what, limit); err != nil {
		return nil, err
	}
	return t.data.Get(ctx, int(ref))
}

// text returns the string that a field refers to, nil if there is none or it cannot be read.
func (t *tree) text(ctx context.Context, ref int32, e *Element, limit int64) (*Text, error) {
	if ref == noData {
		return nil, nil
	}
	b, err := t.content(ctx, ref, e, "text", limit)
	if isFault(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, _ := bytesToText(b)
	return &s, nil
}

// tiles returns the tiles of a layer that passed checkContent.
func (t *tree) tiles(ctx context.Context, l *Layer) (*Tiles, error) {
	return t.open(ctx, l.tiles(), int(*l.Data), l)
}

// pixels returns those of an embedded image that passed checkImage.
func (t *tree) pixels(ctx context.Context, o *Image) (*Tiles, error) {
	return t.open(ctx, o.pixels(), int(o.Data), nil)
}

// many reports whether records, or the data item that they are made of, are too long to be held in
// memory.
func (t *tree) many(records *Tiles, i int) bool {
	return max(records.length(), t.r.Data[i].Size) > t.large
}

// open opens the records of a layer, or those of an image, of which data item i is known to be
// sound then. Those in memory count as long as the request goes on, or until they are let go.
func (t *tree) open(ctx context.Context, records *Tiles, i int, l *Layer) (_ *Tiles, err error) {
	if t.many(records, i) {
		n, err := t.sound.Get(ctx, i)
		if size := t.r.Data[i].Size; !l.runs() {
			records.stream = t.r.stream(i, size, false)
		} else if err == nil {
			records.stream, err = t.r.stream(i, records.length(), true), t.r.checkRuns(l, n)
		}
		return records, err
	}
	size := t.r.Data[i].Size
	if l.runs() {
		size += records.length()
	}
	if records.held, err = formats.Charge(ctx, size); err != nil {
		return nil, err
	}
	data, err := t.data.Get(ctx, i)
	if err == nil {
		records.Records, err = t.r.recordsIn(data, records, l)
	}
	return records, err
}

// stream returns data item i, or the size bytes of the tiles that it makes as run lengths, as it is
// read piece by piece. Its end can be read only if all of the item is sound.
func (r *Reader) stream(i int, size int64, runs bool) *nodes.Forward {
	d := r.Data[i]
	return nodes.NewForward(nodes.NewCursor(r.src, d.Offset, d.Stored), func(in io.Reader) (io.Reader, error) {
		s, err := r.newItemReader(i, in)
		if runs {
			return &runReader{in: bufio.NewReaderSize(s, storedBlock)}, err
		}
		return s, err
	}, size, inflaterCost)
}

func (t *tree) imageList() views.List {
	return listOf("images", t.m.Images, func(ctx context.Context, doc object, o *Image) (object, error) {
		var own object
		if o.Variant != nil {
			own.set("variant", *o.Variant)
		}
		doc = append(doc, object{{"item_version", o.Version}, {"width", o.Width}, {"height", o.Height}}...)
		return t.mediumKeys(ctx, doc, medium{&o.Element, &o.Media}, imagePath, append(own, member{"format", o.format()}))
	})
}

func (t *tree) soundList() views.List {
	return listOf("sounds", t.m.Sounds, func(ctx context.Context, doc object, o *Sound) (object, error) {
		return t.mediumKeys(ctx, append(doc, member{"item_version", o.Version}), medium{&o.Element, &o.Media}, soundPath, nil)
	})
}

// mediumKeys adds what images and sounds have in common to a document in map.json, and before its
// end the keys that it has of its own. The path is null if it is external.
func (t *tree) mediumKeys(ctx context.Context, doc object, o medium, at mediumPath, own object) (object, error) {
	name, err := t.text(ctx, o.Name, o.Element, maxName)
	doc.set("external", o.External)
	doc.setText("name", name)
	doc = append(append(doc, own...), member{"data_index", o.Data}, member{"path", nil})
	if !o.External {
		doc[len(doc)-1].value = at(o.Index, name.bytes())
	}
	return doc, err
}

// imageDir is images/.
func (t *tree) imageDir() nodes.Dir {
	return t.mediaDir("images", t.m.images(), imagePath, func(o medium, name string) (nodes.File, error) {
		f := t.file("images", o.Index, func(ctx context.Context) ([]byte, error) { return t.image(ctx, o.Index) })
		return f, t.r.checkImage(&t.m.Images[o.Index], name, nil)
	})
}

// soundDir is sounds/.
func (t *tree) soundDir() nodes.Dir {
	return t.mediaDir("sounds", t.m.sounds(), soundPath, func(o medium, _ string) (nodes.File, error) {
		if err := t.r.checkSound(o); err != nil {
			return nil, err
		}
		return t.dataFile(int(o.Data)), nil
	})
}

// mediaDir shows what is embedded. The file of what is damaged fails.
func (t *tree) mediaDir(name string, media []medium, at mediumPath, file func(o medium, name string) (nodes.File, error)) nodes.Dir {
	return t.dir(name, func(ctx context.Context) ([]nodes.Entry, error) {
		var entries []nodes.Entry
		for _, o := range media {
			if !o.embedded() {
				continue
			}
			name, err := t.text(ctx, o.Name, o.Element, maxName)
			if err != nil {
				return nil, err
			}
			f, err := file(o, name.bytes())
			if err != nil {
				f = nodes.Failing(err)
			}
			entries = append(entries, entry(at(o.Index, name.bytes()), f))
		}
		return entries, nil
	})
}

// image is the PNG file of an embedded image that passed checkImage.
func (t *tree) image(ctx context.Context, i int) ([]byte, error) {
	o := &t.m.Images[i]
	if err := formats.Claim(ctx, t.imageMemory(o)); err != nil {
		return nil, err
	}
	pixels, err := t.pixels(ctx, o)
	if err != nil {
		return nil, err
	}
	defer pixels.held.Free()
	defer t.data.Drop(int(o.Data)) // the file is what is asked for again, and is a hundredth of it
	drawn, err := imageRaster(ctx, pixels)
	if err != nil {
		return nil, err
	}
	return drawn.png(ctx)
}

// imageMemory is about what it takes to make the PNG file of an image that passed checkImage, which
// is about as long as what is stored.
func (t *tree) imageMemory(o *Image) int64 {
	d := t.r.Data[o.Data]
	if t.many(o.pixels(), int(o.Data)) {
		return 2*inflaterCost + pngMemory(d.Stored)
	}
	return d.Size + pngMemory(min(d.Stored, d.Size))
}

// entry returns the entry for a file at a path of one directory and a name.
func entry(filePath string, f nodes.File) nodes.Entry {
	return nodes.Entry{Name: path.Base(filePath), File: f}
}
