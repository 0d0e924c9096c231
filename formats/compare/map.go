package compare

import (
	"fmt"
	"slices"

	"recfs/nodes"
)

// A side is one of two maps: its tree, and the lists of its map.json (docs/tree/datafile.md section 5).
type side struct {
	dir        nodes.Dir
	page       value
	layerItems []string // the items of its layers, by their index
}

func newSide(dir nodes.Dir, page value) side {
	s, seen := side{dir: dir, page: page}, map[int]int{}
	for _, layer := range page.member("layers").items {
		id := layer.member("id").number()
		name := fmt.Sprintf("items/layer/%05d", id)
		if n := seen[id]; n > 0 {
			name += fmt.Sprintf(".%d", n)
		}
		seen[id]++
		s.layerItems = append(s.layerItems, name+".json")
	}
	return s
}

// maps compares two maps by info and settings, images, sounds, envelopes, groups, layers with their
// tiles, and automappers. Numbers by which parts of a map refer to each other, and places in the file,
// do not count.
func (c *comparison) maps(a, b nodes.Dir) {
	x, y, ok := c.both(a, b, "map.json")
	if !ok {
		return
	}
	from, to := newSide(a, x), newSide(b, y)
	c.values("version", x.member("version"), y.member("version"))
	c.values("info", x.member("info"), y.member("info"))
	c.parts(from, to, "images", c.media)
	c.parts(from, to, "sounds", c.media)
	c.parts(from, to, "envelopes", c.envelope)
	c.parts(from, to, "groups", c.group)
	c.parts(from, to, "layers", c.layer)
	c.values("automappers", x.member("automappers"), y.member("automappers"))
}

// internal are the keys of a part that say where it lies and what number it has.
var internal = []string{"index", "id", "data_index", "path", "start_point", "start_layer", "num_layers", "group", "layer"}

// A part is an image, sound, envelope, group or layer of one map.
type part struct {
	side
	value
	at int // in its list
}

// parts matches the parts of two maps by their names and tells what was added and removed; compare
// looks at those that both have.
func (c *comparison) parts(a, b side, list string, compare func(name string, a, b part)) {
	x, y := a.named(list), b.named(list)
	for i, name := range x.keys {
		at := slices.Index(y.keys, name)
		if at < 0 {
			c.add(Change{Kind: Removed, Path: list + "/" + name, Old: x.items[i].text})
			continue
		}
		compare(list+"/"+name, part{a, x.items[i], i}, part{b, y.items[at], at})
	}
	for i, name := range y.keys {
		if !slices.Contains(x.keys, name) {
			c.add(Change{Kind: Added, Path: list + "/" + name, New: y.items[i].text})
		}
	}
}

// named returns a list of map.json as an object, by names that are alike in both maps: a layer is
// called by its group, kind and name. Of several with one name the second is NAME~2, or ~3 where another
// is called that.
func (s side) named(list string) value {
	v := value{shape: '{'}
	seen, taken := map[string]int{}, map[string]bool{}
	for _, item := range s.page.member(list).items {
		name := item.member("name").str()
		switch list {
		case "layers":
			name = fmt.Sprintf("%s-%s", s.groupName(item.member("group").number()), item.member("kind").str())
			if own := item.member("name").str(); own != "" {
				name += "-" + own
			}
		case "groups":
			name = s.groupName(item.member("index").number())
		}
		unique := ""
		for unique == "" || taken[unique] {
			if unique = name; seen[name] > 0 || name == "" {
				unique = fmt.Sprintf("%s~%d", name, seen[name]+1)
			}
			seen[name]++
		}
		taken[unique] = true
		v.keys, v.items = append(v.keys, unique), append(v.items, item)
	}
	return v
}

// groupName returns the name of a group, or its number if it has none.
func (s side) groupName(i int) string {
	groups := s.page.member("groups").items
	if i < 0 || i >= len(groups) {
		return "xx"
	}
	if name := groups[i].member("name").str(); name != "" {
		return name
	}
	return fmt.Sprintf("%02d", i)
}

// refer replaces the number of an image or sound by its name.
func (p part) refer(v value) value {
	w := value{shape: '{', keys: slices.Clone(v.keys), items: slices.Clone(v.items)}
	for key, list := range map[string]string{"image": "images", "sound": "sounds"} {
		at := slices.Index(w.keys, key)
		if at < 0 {
			continue
		}
		all := p.page.member(list).items
		if i := w.items[at].number(); i >= 0 && i < len(all) {
			w.items[at] = all[i].member("name")
		}
	}
	return w
}

// fields compares what map.json tells of two parts.
func (c *comparison) fields(name string, a, b part) {
	c.values(name, a.refer(a.without(internal...)), b.refer(b.without(internal...)))
}

func (c *comparison) group(name string, a, b part) { c.fields(name, a, b) }

// media compares two images or sounds, with the data that they hold.
func (c *comparison) media(name string, a, b part) {
	c.fields(name, a, b)
	x, xOK := c.data(a)
	y, yOK := c.data(b)
	if !xOK || !yOK {
		return
	}
	at, err := firstDifference(c.ctx, x, y)
	switch {
	case err != nil:
		c.failed(name, err)
	case at >= 0:
		c.add(Change{Kind: Changed, Path: name, Note: "the content differs"})
	}
}

// data returns the data item that a part holds, if it holds one.
func (c *comparison) data(p part) (nodes.File, bool) {
	i := p.member("data_index").number()
	if i < 0 || p.member("external").number() > 0 || string(p.member("external").text) == "true" {
		return nil, false
	}
	e, err := nodes.Lookup(c.ctx, p.dir, fmt.Sprintf("data/%05d", i))
	return e.File, err == nil && e.File != nil
}

// envelope compares two envelopes with their points.
func (c *comparison) envelope(name string, a, b part) {
	x, y, ok := c.documentsOf(a, b, "")
	if ok {
		c.values(name, x.without(internal...), y.without(internal...))
	}
}

// documentsOf returns the documents that two parts have a path to.
func (c *comparison) documentsOf(a, b part, ext string) (x, y value, ok bool) {
	p, pOK := c.documentOf(a, ext)
	q, qOK := c.documentOf(b, ext)
	return p, q, pOK && qOK
}

func (c *comparison) documentOf(p part, ext string) (v value, ok bool) {
	name := p.member("path").str()
	if name == "" {
		return v, false
	}
	return c.document(p.dir, name+ext)
}

// layer compares two layers by their fields, and by their tiles, quads or sources.
func (c *comparison) layer(name string, a, b part) {
	c.fields(name, a, b)
	if a.member("width").number() >= 0 && b.member("width").number() >= 0 {
		c.colours(name, a, b)
		c.tiles(name, a, b)
		return
	}
	if x, y, ok := c.documentsOf(a, b, ".json"); ok {
		for _, key := range []string{"quads", "sources", "ints"} {
			c.values(name+"."+key, x.member(key), y.member(key))
		}
	}
}

// colours compares the fields of two tile layers that only their items have.
func (c *comparison) colours(name string, a, b part) {
	x, xOK := c.document(a.dir, a.layerItems[a.at])
	y, yOK := c.document(b.dir, b.layerItems[b.at])
	if !xOK || !yOK {
		return
	}
	for _, key := range []string{"flags", "tile_flags", "color", "color_env", "color_env_offset"} {
		c.values(join(name, key), x.member(key), y.member(key))
	}
}
