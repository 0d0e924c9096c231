package datafile

import (
	"context"
	"fmt"
	"image/png"

	"recfs/nodes"
)

func imagePath(index int, name string) string {
	return fmt.Sprintf("images/%02d%s.png", index, safeSuffix(name))
}

func soundPath(index int, name string) string {
	return fmt.Sprintf("sounds/%02d%s.opus", index, safeSuffix(name))
}

func (t *tree) imageList(ctx context.Context) (any, error) {
	list := make([]object, 0, len(t.m.Images))
	for i := range t.m.Images {
		o := &t.m.Images[i]
		doc := o.head()
		if !o.Short {
			name, err := t.text(ctx, o.Name, &o.Element, maxName)
			if err != nil {
				return nil, err
			}
			doc.set("item_version", o.Version)
			doc.set("width", o.Width)
			doc.set("height", o.Height)
			doc.set("external", o.External)
			doc.setOptional("name", name)
			if o.HasVariant {
				doc.set("variant", o.Variant)
			}
			doc.set("format", o.format())
			doc.set("data_index", o.Data)
			doc.setPath(o.External, imagePath(i, name.orEmpty()))
		}
		list = append(list, doc)
	}
	return list, nil
}

func (t *tree) soundList(ctx context.Context) (any, error) {
	list := make([]object, 0, len(t.m.Sounds))
	for i := range t.m.Sounds {
		o := &t.m.Sounds[i]
		doc := o.head()
		if !o.Short {
			name, err := t.text(ctx, o.Name, &o.Element, maxName)
			if err != nil {
				return nil, err
			}
			doc.set("item_version", o.Version)
			doc.set("external", o.External)
			doc.setOptional("name", name)
			doc.set("data_index", o.Data)
			doc.setPath(o.External, soundPath(i, name.orEmpty()))
		}
		list = append(list, doc)
	}
	return list, nil
}

func (t *tree) imageEntries(ctx context.Context) ([]nodes.Entry, error) {
	var entries []nodes.Entry
	for i := range t.m.Images {
		o := &t.m.Images[i]
		if !o.embedded() {
			continue
		}
		name, err := t.text(ctx, o.Name, &o.Element, maxName)
		if err != nil {
			return nil, err
		}
		f := t.file(madeImage, i)
		if err := t.r.checkImage(o, name.orEmpty()); err != nil {
			f = nodes.Failing(err)
		}
		entries = append(entries, entry(imagePath(i, name.orEmpty()), f))
	}
	return entries, nil
}

func (t *tree) soundEntries(ctx context.Context) ([]nodes.Entry, error) {
	var entries []nodes.Entry
	for i := range t.m.Sounds {
		o := &t.m.Sounds[i]
		if !o.embedded() {
			continue
		}
		name, err := t.text(ctx, o.Name, &o.Element, maxName)
		if err != nil {
			return nil, err
		}
		var f nodes.File
		if err := t.r.checkSound(o); err != nil {
			f = nodes.Failing(err)
		} else {
			f = t.dataFile(int(o.Data))
		}
		entries = append(entries, entry(soundPath(i, name.orEmpty()), f))
	}
	return entries, nil
}

// image is the PNG file of an embedded image that passed checkImage.
func (t *tree) image(ctx context.Context, o *Image) ([]byte, error) {
	data, err := t.data.Get(ctx, int(o.Data))
	if err != nil {
		return nil, err
	}
	return encodePNG(o.decode(data), png.BestSpeed)
}
