package datafile

import (
	"encoding/json"
	"fmt"
	"slices"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

// document is what map.json and an envelope's own file have in common (docs/tree/datafile.md
// sections 5 and 7), and then its content.
func (o *Envelope) document(content member) object {
	doc := object{
		{"index", o.Index},
		{"id", o.ID},
		{"item_version", o.Version},
		{"channels", o.Channels},
		{"start_point", o.StartPoint},
		{"num_points", o.NumPoints},
	}
	doc.setText("name", &o.Name)
	return append(doc, member{"synchronized", o.Synchronized}, content)
}

// document is what map.json and a layer's own file have in common, and then its content
// (docs/tree/datafile.md sections 5 and 8). group and layer are null where no group claims it.
func (l *Layer) document(content ...member) object {
	doc := object{{"index", l.Index}, {"id", l.ID}, {"group", nil}, {"layer", nil}, {"kind", l.Kind}}
	if l.Group != noGroup {
		doc[2].value, doc[3].value = l.Group, l.Pos
	}
	doc.setText("name", &l.Name)
	doc.set("detail", l.Detail)
	switch {
	case l.Tiles != nil:
		o := l.Tiles
		doc = append(doc, object{{"item_version", o.Version}, {"width", o.Width}, {"height", o.Height}, {"image", o.Image}, {"data_index", l.Data}}...)
	case l.Quads != nil:
		o := l.Quads
		doc = append(doc, object{{"item_version", o.Version}, {"num_quads", o.NumQuads}, {"image", o.Image}, {"data_index", l.Data}}...)
	case l.Sounds != nil:
		o := l.Sounds
		doc = append(doc, object{{"item_version", o.Version}, {"num_sources", o.NumSources}, {"sound", o.Sound}, {"data_index", l.Data}}...)
	}
	return append(doc, content...)
}

// Extensions of the files of a layer.
const (
	documentExt = ".json"
	gridExt     = ".txt"
	charsExt    = ".chars.txt"
	pictureExt  = ".png"
)

// layerFiles returns the extensions of the files that a layer has, damaged or not.
func (m *Map) layerFiles(l *Layer) []string {
	if l.Tiles == nil {
		return []string{documentExt}
	}
	list := []string{documentExt, gridExt}
	if l.Kind != KindTiles {
		list = append(list, charsExt)
	}
	if m.hasPicture(l) {
		list = append(list, pictureExt)
	}
	return list
}

// appendPoint appends a point with the values of so many channels, but for its last brace.
func appendPoint(b []byte, v []int32, channels int) []byte {
	b = appendField(append(b, '{'), "time_ms", int(v[0]))
	b = appendField(append(b, ','), "curve", int(v[1]))
	for i, key := range []string{"values", "in_dx", "in_dy", "out_dx", "out_dy"} {
		if at := 2 + i*maxChannels; at < len(v) {
			b = appendIntList(jsonenc.AppendKey(b, key), v[at:at+channels])
		}
	}
	return b
}

// autoMappers are those that are not short.
func (m *Map) autoMappers() (list []*AutoMapper) {
	for i := range m.AutoMappers {
		if o := &m.AutoMappers[i]; !o.Short {
			list = append(list, o)
		}
	}
	return list
}

func appendIntList(b []byte, ints []int32) []byte {
	return jsonenc.AppendList(b, slices.Values(ints), jsonenc.AppendInt)
}

// users are the items that refer to each data item.
func (m *Map) users(data int) [][]int {
	users := make([][]int, data)
	m.references(func(item int, ref int32) {
		if ref >= 0 && int(ref) < len(users) {
			users[ref] = append(users[ref], item)
		}
	})
	for i := range users {
		slices.Sort(users[i])
		users[i] = slices.Compact(users[i])
	}
	return users
}

// A mapPage is what map.json says (docs/tree/datafile.md section 5).
type mapPage struct {
	Version, Info, Automappers                json.RawMessage
	Images, Sounds, Envelopes, Groups, Layers []mapPart
}

// A mapPart is an element of a list of map.json.
type mapPart struct {
	Index, ID           int
	Name                string
	Kind                Kind
	Group, Image, Sound *int
	Width, Height       *int
	Data                *int `json:"data_index"`
	External            bool
	Path                string
	text                json.RawMessage
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *mapPart) UnmarshalJSON(text []byte) error {
	type plain mapPart
	p.text = append(p.text[:0], text...)
	return json.Unmarshal(text, (*plain)(p))
}

// partsIgnored are the keys of a part that say where it lies and what number it has.
var partsIgnored = []string{"index", "id", "data_index", "path", "start_point", "start_layer", "num_layers", "group", "layer"}

// mapParts is the Parts of the format: info and settings, images, sounds, envelopes, groups, layers
// with their tiles, and automappers. Numbers by which parts refer to each other, and places in the
// file, do not count.
func mapParts(page []byte) (formats.Parts, error) {
	var m mapPage
	if err := json.Unmarshal(page, &m); err != nil {
		return formats.Parts{}, err
	}
	one := func(name string, value json.RawMessage) []formats.Part {
		return []formats.Part{{Name: name, Fields: value}}
	}
	return formats.Parts{Picture: "collision.png", Lists: [][]formats.Part{
		one("version", m.Version), one("info", m.Info),
		m.list("images", m.Images, media), m.list("sounds", m.Sounds, media),
		m.list("envelopes", m.Envelopes, func(e *mapPart, p *formats.Part) { p.Document = e.Path }),
		m.list("groups", m.Groups, func(g *mapPart, p *formats.Part) {}),
		m.list("layers", m.Layers, m.layer()),
		one("automappers", m.Automappers),
	}}, nil
}

// list returns the parts of a list of map.json, by names that are alike in both maps. Of several
// with one name the second is NAME~2, or ~3 where another is called that.
func (m *mapPage) list(list string, items []mapPart, add func(item *mapPart, p *formats.Part)) (parts []formats.Part) {
	seen, taken := map[string]int{}, map[string]bool{}
	parts = make([]formats.Part, 0, len(items))
	for i := range items {
		name, unique := m.nameOf(list, &items[i]), ""
		for unique == "" || taken[unique] {
			if unique = name; seen[name] > 0 || name == "" {
				unique = fmt.Sprintf("%s~%d", name, seen[name]+1)
			}
			seen[name]++
		}
		taken[unique] = true
		p := formats.Part{Name: list + "/" + unique, Fields: items[i].text, Ignored: partsIgnored, Names: m.references(&items[i])}
		add(&items[i], &p)
		parts = append(parts, p)
	}
	return parts
}

// nameOf returns the name of a part: a layer is called by its group, kind and name.
func (m *mapPage) nameOf(list string, p *mapPart) string {
	switch {
	case list == "groups":
		return m.groupName(&p.Index)
	case list == "layers" && p.Name != "":
		return m.groupName(p.Group) + "-" + string(p.Kind) + "-" + p.Name
	case list == "layers":
		return m.groupName(p.Group) + "-" + string(p.Kind)
	}
	return p.Name
}

// groupName returns the name of a group, or its number if it has none.
func (m *mapPage) groupName(i *int) string {
	switch {
	case i == nil || *i < 0 || *i >= len(m.Groups):
		return "xx"
	case m.Groups[*i].Name != "":
		return m.Groups[*i].Name
	}
	return fmt.Sprintf("%02d", *i)
}

// references returns the names of the image and the sound of a part.
func (m *mapPage) references(p *mapPart) map[string]json.RawMessage {
	var names map[string]json.RawMessage
	for _, r := range []struct {
		key  string
		at   *int
		list []mapPart
	}{{"image", p.Image, m.Images}, {"sound", p.Sound, m.Sounds}} {
		if r.at != nil && *r.at >= 0 && *r.at < len(r.list) {
			if names == nil {
				names = map[string]json.RawMessage{}
			}
			names[r.key], _ = json.Marshal(r.list[*r.at].Name)
		}
	}
	return names
}

// media adds the data of an image or a sound that the map holds.
func media(m *mapPart, p *formats.Part) {
	if m.Data != nil && *m.Data >= 0 && !m.External {
		p.Content = fmt.Sprintf("data/%05d", *m.Data)
	}
}

// What documents of layers tell that map.json does not.
var (
	tileKeys    = []string{"flags", "tile_flags", "color", "color_env", "color_env_offset"}
	contentKeys = []string{"quads", "sources", "ints"}
)

// layer returns what adds the tiles, quads or sources of a layer. Some fields of tiles only the
// item has.
func (m *mapPage) layer() func(*mapPart, *formats.Part) {
	seen := map[int]int{}
	return func(l *mapPart, p *formats.Part) {
		item := fmt.Sprintf("items/layer/%05d", l.ID)
		if n := seen[l.ID]; n > 0 {
			item += fmt.Sprintf(".%d", n)
		}
		seen[l.ID]++
		if l.Width != nil && *l.Width >= 0 && l.Height != nil {
			p.Document, p.Keys = item+".json", tileKeys
			p.Grid = &formats.Grid{Path: l.Path + ".txt", Width: *l.Width, Height: *l.Height}
			if l.Kind != KindTiles {
				p.Grid.Name = l.Kind.cellName
			}
		} else if l.Path != "" {
			p.Document, p.Keys = l.Path+".json", contentKeys
		}
	}
}
