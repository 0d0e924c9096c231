package datafile

import (
	"context"
	"path"

	"recfs/formats"
	"recfs/formats/views"
	"recfs/nodes"
)

func (t *tree) imageList() views.List {
	return listOf("images", t.m.Images, func(ctx context.Context, o *Image) (any, error) {
		name, keys, err := t.mediumKeys(ctx, medium{&o.Element, &o.Media}, imagePath)
		return imageDocument{o, name, o.Variant, o.format(), keys}, err
	})
}

func (t *tree) soundList() views.List {
	return listOf("sounds", t.m.Sounds, func(ctx context.Context, o *Sound) (any, error) {
		name, keys, err := t.mediumKeys(ctx, medium{&o.Element, &o.Media}, soundPath)
		return soundDocument{o, name, keys}, err
	})
}

func (t *tree) mediumKeys(ctx context.Context, o medium, at mediumPath) (nameKeys, mediumKeys, error) {
	keys := mediumKeys{Data: o.Data}
	name, err := t.text(ctx, o.Name, o.Element, maxName)
	if file := at(o.Index, name.bytes()); !o.External {
		keys.Path = &file
	}
	return name.keys(), keys, err
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
