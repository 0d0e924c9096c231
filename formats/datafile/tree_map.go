package datafile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"

	"recfs/formats/internal/jsonenc"
	"recfs/nodes"
)

// A mapDocument is map.json (docs/tree/datafile.md section 5) without the elements of its lists, which are
// documents, or an [Element] alone where the item is too short.
type mapDocument struct {
	Version     *int32    `json:"version"`
	Size        int64     `json:"size"`
	CRC32       string    `json:"crc32"`
	SHA256      string    `json:"sha256"`
	Info        any       `json:"info"`
	Images      emptyList `json:"images"`
	Sounds      emptyList `json:"sounds"`
	Envelopes   emptyList `json:"envelopes"`
	Groups      emptyList `json:"groups"`
	Layers      emptyList `json:"layers"`
	AutoMappers emptyList `json:"automappers"`
}

type envelopeDocument struct {
	*Envelope
	nameKeys
	Synchronized bool      `json:"synchronized"`
	Points       emptyList `json:"points,omitzero"` // in its own file
	Path         string    `json:"path,omitempty"`  // in map.json
}

type groupDocument struct {
	*Group
	nameKeys
}

type autoMapperDocument struct {
	*AutoMapper
	Automatic bool `json:"automatic"`
}

func (v *view) mapText(ctx context.Context) (text longText, err error) {
	doc := mapDocument{
		Size: v.src.Size, Images: emptyList{}, Sounds: emptyList{}, Envelopes: emptyList{}, Groups: emptyList{}, Layers: emptyList{},
		AutoMappers: emptyList{},
	}
	if version := v.m.Version; version != nil && !version.Short {
		doc.Version = &version.Value
	}
	info, settings, err := v.info(ctx)
	if info != nil {
		doc.Info = info
	}
	if settings != nil {
		text.lists = append(text.lists, *settings)
	}
	text.document = func(ctx context.Context) (_ any, err error) {
		doc.CRC32, doc.SHA256, err = v.sums(ctx)
		return doc, err
	}
	text.lists = append(text.lists, v.imageList(), v.soundList(),
		listOf(v.m.Envelopes, func(_ context.Context, o *Envelope) (any, error) {
			return envelopeDocument{Envelope: o, nameKeys: o.Name.keys(), Synchronized: o.Synchronized, Path: envelopePath(o)}, nil
		}),
		listOf(v.m.Groups, func(_ context.Context, o *Group) (any, error) { return groupDocument{o, o.Name.keys()}, nil }),
		v.layerList(), elementListOf(v.autoMapperList()))
	return text, err
}

// listOf shows the elements of a list; of a short one there is no more than the element.
func listOf[T any, P elementOf[T]](list []T, show func(context.Context, P) (any, error)) longList {
	return elementList(len(list), namedText, func(ctx context.Context, i int) (any, error) {
		o := P(&list[i])
		if o.base().Short {
			return *o.base(), nil
		}
		return show(ctx, o)
	})
}

// sums are those by which the games identify a map.
func (v *view) sums(ctx context.Context) (crc, sha string, err error) {
	const block = 1 << 18
	c, s := crc32.NewIEEE(), sha256.New()
	r := io.NewSectionReader(v.src.At(ctx), 0, v.src.Size)
	both := io.MultiWriter(c, s)
	for left := v.src.Size; left > 0; left -= block {
		if err := ctx.Err(); err != nil {
			return "", "", err
		}
		if _, err := io.CopyN(both, r, min(block, left)); err != nil {
			return "", "", fmt.Errorf("reading the file for its sums: %w", err)
		}
	}
	return fmt.Sprintf("%08x", c.Sum32()), hex.EncodeToString(s.Sum(nil)), nil
}

// info is the key of that name, nil if the map does not say who made it, and the list of its settings, nil if there is none.
func (v *view) info(ctx context.Context) (doc object, settings *longList, err error) {
	info := v.m.Info
	if info == nil || info.Short {
		return nil, nil, nil
	}
	doc = object{{"item_version", info.Version}}
	for i, ref := range info.Strings {
		text, err := v.text(ctx, ref, &info.Element, maxInfo)
		if err != nil {
			return nil, nil, err
		}
		if text == nil {
			doc.set(infoKeys[i], nil)
			continue
		}
		doc.setText(infoKeys[i], *text)
	}
	if settings, err = v.settingsList(ctx); settings != nil {
		doc.set("settings", emptyList{})
	} else {
		doc.set("settings", nil)
	}
	return doc, settings, err
}

// settingsList returns the commands of the settings, nil if there are none or they cannot be read.
func (v *view) settingsList(ctx context.Context) (*longList, error) {
	switch ref := v.m.Info.Settings; {
	case ref == nil:
		return nil, nil
	case *ref == noData:
		return &longList{}, nil
	}
	b, err := v.settingsData(ctx)
	if isFault(err) {
		return nil, nil
	}
	return commandsList(b), err
}

// commandsList is a list of the commands of a settings data item, each of which ends in NUL.
func commandsList(b []byte) *longList {
	var pieces [][]byte
	for len(b) > 0 {
		end := min(len(b), pieceText)
		if i := bytes.IndexByte(b[end:], 0); i >= 0 {
			end += i + 1
		} else {
			end = len(b)
		}
		pieces = append(pieces, b[:end])
		b = b[end:]
	}
	return &longList{flat: true, pieces: len(pieces), append: func(_ context.Context, text []byte, piece int) ([]byte, error) {
		for command := range bytes.SplitSeq(bytes.TrimSuffix(pieces[piece], []byte{0}), []byte{0}) {
			text = jsonenc.AppendString(append(text, nextInt...), command)
		}
		return text, nil
	}}
}

func (v *view) settingsData(ctx context.Context) ([]byte, error) {
	return v.content(ctx, *v.m.Info.Settings, &v.m.Info.Element, "settings", maxSettings)
}

// settings is settings.cfg.
func (v *view) settings(ctx context.Context) ([]byte, error) {
	b, err := v.settingsData(ctx)
	if err != nil {
		return nil, err
	}
	return settingsFile(b), nil
}

// envelopeDir is envelopes/.
func (v *view) envelopeDir() nodes.Dir {
	texts := newLongTexts(v.cache, func(_ context.Context, i int) (longText, error) {
		o := &v.m.Envelopes[i]
		doc := envelopeDocument{Envelope: o, nameKeys: o.Name.keys(), Synchronized: o.Synchronized, Points: emptyList{}}
		return longText{
			document: func(context.Context) (any, error) { return doc, nil }, lists: []longList{v.points.list(o)},
		}, nil
	})
	return v.dir(func(context.Context) ([]nodes.Entry, error) {
		var entries []nodes.Entry
		for i := range v.m.Envelopes {
			if o := &v.m.Envelopes[i]; o.whole() {
				entries = append(entries, entry(envelopePath(o), texts.file(i)))
			}
		}
		return entries, nil
	})
}

// list has the points of e that exist.
func (p *Points) list(e *Envelope) longList {
	first, last := p.clamp(e)
	step := pieceText / intText / pointInts
	return longList{
		pieces: (last - first + step - 1) / step,
		append: func(_ context.Context, b []byte, piece int) ([]byte, error) {
			from := first + piece*step
			for i := from; i < min(from+step, last); i++ {
				b = append(appendPoint(append(b, nextElement...), p.At(i), e.channels()), '}')
			}
			return b, nil
		},
	}
}

// appendPoint appends a point with the values of so many channels, but for its last brace.
func appendPoint(b []byte, v []int32, channels int) []byte {
	b = appendField(append(b, '{'), "time_ms", int(v[0]))
	b = appendField(append(b, ','), "curve", int(v[1]))
	for i, key := range []string{"values", "in_dx", "in_dy", "out_dx", "out_dy"} {
		if at := 2 + i*maxChannels; at < len(v) {
			b = appendList(jsonenc.AppendKey(b, key), v[at:at+channels])
		}
	}
	return b
}

func appendList(b []byte, ints []int32) []byte {
	b = append(b, '[')
	for i, v := range ints {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonenc.AppendInt(b, v)
	}
	return append(b, ']')
}

func (v *view) autoMapperList() []autoMapperDocument {
	list := []autoMapperDocument{}
	for i := range v.m.AutoMappers {
		if o := &v.m.AutoMappers[i]; !o.Short {
			list = append(list, autoMapperDocument{o, o.Flags&autoMapperAutomatic != 0})
		}
	}
	return list
}
