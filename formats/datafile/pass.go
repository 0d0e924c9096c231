package datafile

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"

	"recfs/formats"
)

var _ io.Writer = (*dataFacts)(nil)

// A finder collects the problems of index.json, but for those of header and tables.
type finder struct {
	r       *Reader
	m       *Map
	list    problemList
	credits [4]string        // who made the map, as in map.json
	faulty  map[int32]bool   // data items that cannot be read
	names   map[int32][]byte // short strings, to which many items may refer

	// What checkData learns of the data of run-length layers and of sounds, so that only short
	// strings are inflated again.
	facts map[int32]*dataFacts
}

// A dataFacts learns of a data item that is written to it.
type dataFacts struct {
	runs runCounter
	head []byte // as far as it tells an Ogg Opus file
}

// Where an Ogg Opus file says that it is one: after the header of the first page.
const (
	opusAt    = 28
	opusMagic = "OpusHead"
)

// Write implements io.Writer.
func (d *dataFacts) Write(p []byte) (int, error) {
	d.head = append(d.head, p[:min(len(p), opusAt+len(opusMagic)-len(d.head))]...)
	return d.runs.Write(p)
}

func (d *dataFacts) isOpus() bool {
	return bytes.HasPrefix(d.head, []byte("OggS")) && len(d.head) >= opusAt && bytes.HasPrefix(d.head[opusAt:], []byte(opusMagic))
}

// maxNames is how many short strings a pass remembers.
const maxNames = 1024

// scan is the Scan of the format. It looks at everything, always anew: it inflates every data item
// and keeps none but the short strings.
func scan(ctx context.Context, in formats.Input, h formats.Head, earlier formats.Index) (formats.Index, error) {
	if earlier != nil {
		return nil, formats.ErrOther
	}
	r := &Reader{h.(*Tables), in.ReaderAt}
	f := &finder{
		r: r, m: r.Map(), faulty: map[int32]bool{}, names: map[int32][]byte{},
		facts: map[int32]*dataFacts{},
	}
	for _, o := range f.m.sounds() {
		if o.embedded() {
			f.facts[o.Data] = &dataFacts{}
		}
	}
	for i := range f.m.Layers {
		if l := &f.m.Layers[i]; l.Tiles != nil && !l.Short && l.runs() {
			f.facts[*l.Data] = &dataFacts{}
		}
	}
	for _, find := range []func(context.Context) error{
		f.checkData, f.version, f.info, f.images, f.sounds, f.envelopes, f.groups, f.layers, f.autoMappers,
	} {
		if err := find(ctx); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(f.list, byOffset)
	return &index{size: r.size, credits: f.credits, problems: slices.Clip(f.list)}, nil
}

// add adds a problem of one item.
func (f *finder) add(code string, e *Element, msg string, args ...any) {
	f.list.add(code, f.r.itemPath(e.Item), f.r.Items[e.Item].Offset, msg, args...)
}

// short reports, and lists as a problem, whether an item has too few ints.
func (f *finder) short(e *Element) bool {
	if e.Short {
		it := f.r.Items[e.Item]
		f.add("item_short", e, "%s %d has %d ints, %d are needed", f.r.TypeName(it.Type), e.Index, it.Size/4, e.Need)
	}
	return e.Short
}

func (f *finder) checkData(ctx context.Context) error {
	for i, d := range f.r.Data {
		if err := ctx.Err(); err != nil {
			return err
		}
		w := io.Discard
		if facts := f.facts[int32(i)]; facts != nil {
			w = facts
		}
		trailing, err := f.r.CheckData(ctx, i, w)
		if err != nil {
			f.faulty[int32(i)] = true
			if err := f.list.addFault(dataPath(i), err); err != nil {
				return err
			}
		}
		if trailing > 0 {
			f.list.add("data_trailing_bytes", dataPath(i), d.Offset+d.Stored-trailing, "%d bytes follow the zlib stream of data %d", trailing, i)
		}
	}
	return nil
}

func (f *finder) version(context.Context) error {
	v := f.m.Version
	switch {
	case v == nil && f.r.hasMapItems():
		f.list.add("no_version_item", "", headerSize, "no item of type %d, the map version", typeVersion)
	case v == nil || f.short(&v.Element):
	case v.Value != 1:
		f.add("map_version", &v.Element, "map version %d, expected 1", v.Value)
	}
	return nil
}

func (f *finder) info(ctx context.Context) error {
	info := f.m.Info
	if info == nil || f.short(&info.Element) {
		return nil
	}
	for i, ref := range info.Strings {
		stored, err := f.checkText(ctx, ref, &info.Element, infoKeys[i], maxInfo)
		if err != nil {
			return err
		}
		text, _ := utf8Text([]byte(stored))
		f.credits[i] = text.Value
	}
	if !f.m.hasSettings() {
		return nil
	}
	b, ok, err := f.stored(ctx, *info.Settings, &info.Element, "settings", maxSettings)
	if err != nil || !ok {
		return err
	}
	if !soundSettings(b) {
		f.add("string", &info.Element, "settings: the last command in data %d has no NUL", *info.Settings)
	}
	return nil
}

// stored returns the data that a field refers to, if it can be had. Damage of the data is a problem
// of its own.
func (f *finder) stored(ctx context.Context, ref int32, e *Element, what string, limit int64) (b []byte, ok bool, err error) {
	if f.faulty[ref] {
		return nil, false, nil
	}
	if err := f.r.checkText(ref, f.r.Items[e.Item].Offset, what, limit); err != nil {
		return nil, false, f.list.addFault(f.r.itemPath(e.Item), err)
	}
	if b, ok = f.names[ref]; ok {
		return b, true, nil
	}
	if b, err = f.r.ReadData(ctx, int(ref)); err == nil && len(b) <= maxName {
		if len(f.names) == maxNames {
			clear(f.names)
		}
		f.names[ref] = b
	}
	return b, err == nil, err
}

// checkText returns a string as it is stored, and notes what is wrong with it.
func (f *finder) checkText(ctx context.Context, ref int32, e *Element, what string, limit int64) (string, error) {
	if ref == noData {
		return "", nil
	}
	b, ok, err := f.stored(ctx, ref, e, what, limit)
	if !ok {
		return "", err
	}
	text, sound := bytesToText(b)
	if !sound {
		f.add("string", e, "%s: data %d is not UTF-8 with one NUL at its end", what, ref)
	}
	return text.bytes(), nil
}

// media looks at images or sounds, and at the data of embedded ones with look.
func (f *finder) media(ctx context.Context, media []medium, path mediumPath, look func(o medium, name string) error) error {
	for _, o := range media {
		if f.short(o.Element) {
			continue
		}
		name, err := f.checkText(ctx, o.Name, o.Element, "name", maxName)
		if err != nil {
			return err
		}
		if o.External {
			continue
		}
		file := path(o.Index, name)
		if safeName(name) != strings.ReplaceAll(name, " ", "_") {
			f.list.add("unsafe_name", file, f.r.Items[o.Item].Offset, "the name is %.80q", name)
		}
		if err := f.list.addFault(file, look(o, name)); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) images(ctx context.Context) error {
	return f.media(ctx, f.m.images(), imagePath, func(o medium, name string) error {
		return f.r.checkImage(&f.m.Images[o.Index], name, f.faulty)
	})
}

func (f *finder) sounds(ctx context.Context) error {
	return f.media(ctx, f.m.sounds(), soundPath, func(o medium, _ string) error {
		if err := f.r.checkSound(o); err != nil || f.faulty[o.Data] {
			return err
		}
		if f.facts[o.Data].isOpus() {
			return nil
		}
		return fault("sound_not_opus", f.r.Items[o.Item].Offset,
			"data %d of sound %d does not begin with OggS and OpusHead", o.Data, o.Index)
	})
}

func (f *finder) envelopes(context.Context) error {
	points := f.r.Points()
	if points.Rest > 0 {
		f.add("envpoints_size", &Element{Item: points.Item}, "%d ints follow the last of %d points", points.Rest, points.Len)
	}
	if points.Unlike {
		f.add("bezier_points", &Element{Item: points.Bezier}, "%d ints of tangents, %d points",
			f.r.Items[points.Bezier].Size/4, points.Len)
	}
	for i := range f.m.Envelopes {
		o := &f.m.Envelopes[i]
		if !f.short(&o.Element) && !points.Exist(o) {
			f.add("envpoint_range", &o.Element, "envelope %d has %d points from %d on, there are %d", i, o.NumPoints, o.StartPoint, points.Len)
		}
	}
	return nil
}

func (f *finder) groups(context.Context) error {
	for i := range f.m.Groups {
		g := &f.m.Groups[i]
		if !f.short(&g.Element) && g.OutOfRange {
			f.add("group_range", &g.Element, "group %d claims %d layers from %d on, not all of %d are there and free",
				i, g.NumLayers, g.StartLayer, len(f.m.Layers))
		}
	}
	return nil
}

func (f *finder) layers(context.Context) error {
	for i := range f.m.Layers {
		err := f.layer(&f.m.Layers[i])
		if err := f.list.addFault(layerStem(&f.m.Layers[i])+".json", err); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) layer(l *Layer) error {
	if err := f.r.checkContent(l, f.faulty); err != nil {
		return err
	}
	if l.Kind == KindUnknown {
		return fault("layer_type", f.r.Items[l.Item].Offset, "layer %d is of kind %d", l.Index, l.kind)
	}
	if !l.runs() || f.faulty[*l.Data] {
		return nil
	}
	return f.r.checkRuns(l, f.facts[*l.Data].runs.tiles())
}

func (f *finder) autoMappers(context.Context) error {
	for i := range f.m.AutoMappers {
		f.short(&f.m.AutoMappers[i].Element)
	}
	return nil
}

// hasMapItems reports whether there are items of a map besides its version.
func (r *Reader) hasMapItems() bool {
	for typ := uint16(typeInfo); typ <= typeSound; typ++ {
		if start, end := r.ItemsOf(typ); start < end {
			return true
		}
	}
	return false
}

// checkSound finds what the item and the tables alone say about whether an embedded sound can be
// shown.
func (r *Reader) checkSound(o medium) error {
	return r.checkRef(o.Data, r.Items[o.Item].Offset, "sound "+itoa(o.Index))
}
