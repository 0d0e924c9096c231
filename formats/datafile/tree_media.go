package datafile

import (
	"context"
	"image/png"

	"recfs/nodes"
)

// An imageDocument is an element of images in map.json.
type imageDocument struct {
	*Image
	nameKeys
	Variant *int32  `json:"variant,omitempty"`
	Format  string  `json:"format"`
	Data    int32   `json:"data_index"`
	Path    *string `json:"path"` // null if external
}

// A soundDocument is an element of sounds in map.json.
type soundDocument struct {
	*Sound
	nameKeys
	Data int32   `json:"data_index"`
	Path *string `json:"path"` // null if external
}

func (v *view) imageList(ctx context.Context) ([]any, error) {
	return listOf(v.m.Images, func(o *Image) (any, error) {
		name, err := v.text(ctx, o.Name, &o.Element, maxName)
		doc := imageDocument{Image: o, nameKeys: name.keys(), Variant: o.Variant, Format: o.format(), Data: o.Data}
		if path := imagePath(o.Index, name.bytes()); !o.External {
			doc.Path = &path
		}
		return doc, err
	})
}

func (v *view) soundList(ctx context.Context) ([]any, error) {
	return listOf(v.m.Sounds, func(o *Sound) (any, error) {
		name, err := v.text(ctx, o.Name, &o.Element, maxName)
		doc := soundDocument{Sound: o, nameKeys: name.keys(), Data: o.Data}
		if path := soundPath(o.Index, name.bytes()); !o.External {
			doc.Path = &path
		}
		return doc, err
	})
}

// imageDir is images/.
func (v *view) imageDir() nodes.Dir {
	pngs := v.files(v.image)
	return v.dir(func(ctx context.Context) ([]nodes.Entry, error) {
		var entries []nodes.Entry
		for i := range v.m.Images {
			o := &v.m.Images[i]
			if !o.embedded() {
				continue
			}
			name, err := v.text(ctx, o.Name, &o.Element, maxName)
			if err != nil {
				return nil, err
			}
			f := pngs(i)
			if err := v.r.checkImage(o, name.bytes()); err != nil {
				f = nodes.Failing(err)
			}
			entries = append(entries, entry(imagePath(i, name.bytes()), f))
		}
		return entries, nil
	})
}

// soundDir is sounds/.
func (v *view) soundDir() nodes.Dir {
	return v.dir(func(ctx context.Context) ([]nodes.Entry, error) {
		var entries []nodes.Entry
		for i := range v.m.Sounds {
			o := &v.m.Sounds[i]
			if !o.embedded() {
				continue
			}
			name, err := v.text(ctx, o.Name, &o.Element, maxName)
			if err != nil {
				return nil, err
			}
			var f nodes.File
			if err := v.r.checkSound(o); err != nil {
				f = nodes.Failing(err)
			} else {
				f = v.dataFile(int(o.Data))
			}
			entries = append(entries, entry(soundPath(i, name.bytes()), f))
		}
		return entries, nil
	})
}

// image is the PNG file of an embedded image that passed checkImage.
func (v *view) image(ctx context.Context, i int) ([]byte, error) {
	o := &v.m.Images[i]
	data, err := v.data.Get(ctx, int(o.Data))
	if err != nil {
		return nil, err
	}
	return encodePNG(o.decode(data), png.BestSpeed)
}
