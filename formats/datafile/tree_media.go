package datafile

import (
	"context"

	"recfs/formats"
	"recfs/nodes"
)

// The documents of images and sounds in map.json (docs/tree/datafile.md section 5).
type (
	imageDocument struct {
		*Image
		nameKeys
		Variant *int32 `json:"variant,omitempty"`
		Format  string `json:"format"`
		mediumKeys
	}
	soundDocument struct {
		*Sound
		nameKeys
		mediumKeys
	}
)

// mediumKeys are the last keys of an image or sound. Path is null if it is external.
type mediumKeys struct {
	Data int32   `json:"data_index"`
	Path *string `json:"path"`
}

func (v *view) imageList() longList {
	return listOf(v.m.Images, func(ctx context.Context, o *Image) (any, error) {
		name, keys, err := v.mediumKeys(ctx, medium{&o.Element, &o.Media}, imagePath)
		return imageDocument{o, name, o.Variant, o.format(), keys}, err
	})
}

func (v *view) soundList() longList {
	return listOf(v.m.Sounds, func(ctx context.Context, o *Sound) (any, error) {
		name, keys, err := v.mediumKeys(ctx, medium{&o.Element, &o.Media}, soundPath)
		return soundDocument{o, name, keys}, err
	})
}

func (v *view) mediumKeys(ctx context.Context, o medium, path mediumPath) (nameKeys, mediumKeys, error) {
	keys := mediumKeys{Data: o.Data}
	name, err := v.text(ctx, o.Name, o.Element, maxName)
	if file := path(o.Index, name.bytes()); !o.External {
		keys.Path = &file
	}
	return name.keys(), keys, err
}

// imageDir is images/.
func (v *view) imageDir() nodes.Dir {
	pngs := v.files(v.image)
	return v.mediaDir(v.m.images(), imagePath, func(o medium, name string) (nodes.File, error) {
		return pngs(o.Index), v.r.checkImage(&v.m.Images[o.Index], name)
	})
}

// soundDir is sounds/.
func (v *view) soundDir() nodes.Dir {
	return v.mediaDir(v.m.sounds(), soundPath, func(o medium, _ string) (nodes.File, error) {
		if err := v.r.checkSound(o); err != nil {
			return nil, err
		}
		return v.dataFile(int(o.Data)), nil
	})
}

// mediaDir shows what is embedded. The file of what is damaged fails.
func (v *view) mediaDir(media []medium, path mediumPath, file func(o medium, name string) (nodes.File, error)) nodes.Dir {
	return v.dir(func(ctx context.Context) ([]nodes.Entry, error) {
		var entries []nodes.Entry
		for _, o := range media {
			if !o.embedded() {
				continue
			}
			name, err := v.text(ctx, o.Name, o.Element, maxName)
			if err != nil {
				return nil, err
			}
			f, err := file(o, name.bytes())
			if err != nil {
				f = nodes.Failing(err)
			}
			entries = append(entries, entry(path(o.Index, name.bytes()), f))
		}
		return entries, nil
	})
}

// image is the PNG file of an embedded image that passed checkImage.
func (v *view) image(ctx context.Context, i int) ([]byte, error) {
	o := &v.m.Images[i]
	if err := formats.Claim(ctx, v.imageMemory(o)); err != nil {
		return nil, err
	}
	t, err := v.pixels(ctx, o)
	if err != nil {
		return nil, err
	}
	defer t.held.Free()
	drawn, err := imageRaster(ctx, t)
	if err != nil {
		return nil, err
	}
	return drawn.png(ctx)
}

// imageMemory is about what it takes to make the PNG file of an image that passed checkImage, which is about as long as
// what is stored.
func (v *view) imageMemory(o *Image) int64 {
	d := v.r.Data[o.Data]
	if v.many(o.pixels(), int(o.Data)) {
		return 2*inflaterCost + pngMemory(d.Stored)
	}
	return d.Size + pngMemory(min(d.Stored, d.Size))
}
