package datafile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path"

	"recfs/nodes"
)

// mapDocument is map.json.
func (t *tree) mapDocument(ctx context.Context) (any, error) {
	var version *int32
	if v := t.m.Version; v != nil && !v.Short {
		version = &v.Value
	}
	o := object{{"version", version}, {"size", t.src.Size}}
	crc, sha, err := t.sums(ctx)
	if err != nil {
		return nil, err
	}
	o.set("crc32", crc)
	o.set("sha256", sha)
	for _, part := range []struct {
		key   string
		value func(context.Context) (any, error)
	}{
		{"info", t.infoDocument},
		{"images", t.imageList},
		{"sounds", t.soundList},
		{"envelopes", t.envelopeList},
		{"groups", t.groupList},
		{"layers", t.layerList},
		{"automappers", t.autoMapperList},
	} {
		v, err := part.value(ctx)
		if err != nil {
			return nil, err
		}
		o.set(part.key, v)
	}
	return o, nil
}

// sums are those by which the games identify a map.
func (t *tree) sums(ctx context.Context) (crc, sha string, err error) {
	const block = 1 << 18
	c, s := crc32.NewIEEE(), sha256.New()
	r := io.NewSectionReader(t.src.At(ctx), 0, t.src.Size)
	both := io.MultiWriter(c, s)
	for left := t.src.Size; left > 0; left -= block {
		if err := ctx.Err(); err != nil {
			return "", "", err
		}
		if _, err := io.CopyN(both, r, min(block, left)); err != nil {
			return "", "", fmt.Errorf("reading the file for its sums: %w", err)
		}
	}
	return fmt.Sprintf("%08x", c.Sum32()), hex.EncodeToString(s.Sum(nil)), nil
}

// content returns the data of at most limit bytes that a field of an item
// refers to.
func (t *tree) content(ctx context.Context, ref int32, e *Element, what string, limit int64) ([]byte, error) {
	if err := t.r.checkText(ref, t.r.Items[e.Item].Offset, what, limit); err != nil {
		return nil, err
	}
	return t.data.Get(ctx, int(ref))
}

// text returns the string that a field refers to, nil if there is none or it
// cannot be read.
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

// isFault tells whether err is damage of the file, not a failure to read it.
func isFault(err error) bool {
	var f *Fault
	return errors.As(err, &f)
}

// setOptional is setText for a string that may be missing.
func (o *object) setOptional(key string, t *Text) {
	if t == nil {
		o.set(key, nil)
		return
	}
	o.setText(key, *t)
}

func (t *tree) infoDocument(ctx context.Context) (any, error) {
	info := t.m.Info
	if info == nil || info.Short {
		return nil, nil
	}
	o := object{{"item_version", info.Version}}
	for _, s := range info.strings() {
		text, err := t.text(ctx, s.ref, &info.Element, maxInfo)
		if err != nil {
			return nil, err
		}
		o.setOptional(s.key, text)
	}
	switch {
	case info.Settings == nil:
		o.set("settings", nil)
	case *info.Settings == noData:
		o.set("settings", []string{})
	default:
		b, err := t.content(ctx, *info.Settings, &info.Element, "settings", maxSettings)
		if err != nil && !isFault(err) {
			return nil, err
		}
		var commands []string
		if err == nil {
			commands, _ = splitSettings(b)
		}
		o.set("settings", commands)
	}
	return o, nil
}

// settings is settings.cfg.
func (t *tree) settings(ctx context.Context) ([]byte, error) {
	b, err := t.content(ctx, *t.m.Info.Settings, &t.m.Info.Element, "settings", maxSettings)
	if err != nil {
		return nil, err
	}
	return settingsFile(b), nil
}

// safeSuffix is a name from inside the map as the end of a file name, with a
// dash in front.
func safeSuffix(name string) string {
	if safe := nodes.SafeName(name); safe != "" {
		return "-" + safe
	}
	return ""
}

// orEmpty returns the stored bytes of a string that may be missing.
func (t *Text) orEmpty() string {
	if t == nil {
		return ""
	}
	return t.bytes()
}

// head returns the keys that the elements of every list begin with.
func (e *Element) head() object { return object{{"index", e.Index}, {"id", e.ID}} }

// setPath sets the path of something embedded, null if it is external.
func (o *object) setPath(external bool, path string) {
	if external {
		o.set("path", nil)
		return
	}
	o.set("path", path)
}

func (t *tree) groupList(context.Context) (any, error) {
	list := make([]object, 0, len(t.m.Groups))
	for i := range t.m.Groups {
		o := &t.m.Groups[i]
		doc := o.head()
		if !o.Short {
			doc.set("item_version", o.Version)
			doc.set("offset", []int32{o.OffsetX, o.OffsetY})
			doc.set("parallax", []int32{o.ParallaxX, o.ParallaxY})
			doc.set("start_layer", o.StartLayer)
			doc.set("num_layers", o.NumLayers)
			doc.set("clipping", o.Clip)
			doc.setText("name", o.Name)
		}
		list = append(list, doc)
	}
	return list, nil
}

func (t *tree) autoMapperList(context.Context) (any, error) {
	list := []AutoMapper{}
	for _, o := range t.m.AutoMappers {
		if !o.Short {
			list = append(list, o)
		}
	}
	return list, nil
}

// entry returns the entry for a file at a path of one directory and a name.
func entry(filePath string, f nodes.File) nodes.Entry {
	return nodes.Entry{Name: path.Base(filePath), File: f}
}
