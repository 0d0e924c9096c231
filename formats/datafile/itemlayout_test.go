package datafile

import (
	"encoding/json"
	"testing"
)

// TestDescribe names the ints of items that end where their version allows it, and elsewhere.
func TestDescribe(t *testing.T) {
	name := textInts("Night", 8)
	short := textInts("Sky", 3)
	for _, c := range []struct {
		layout *itemLayout
		ints   []int32
		want   string
	}{
		{layouts["version"], nil, `{}`},
		{layouts["version"], ints(1, 2), `{"version":1,"rest":[2]}`},
		{layouts["info"], ints(1, 5, 6), `{"version":1,"author":5,"map_version":6}`},
		{layouts["info"], ints(-3, 5, 6, 7, 8, 9), `{"version":-3,"author":5,"map_version":6,"credits":7,"license":8,"settings":9}`},
		{layouts["image"], ints(1, 2, 3, 7, 4, 5, 6), `{"version":1,"width":2,"height":3,"external":7,"name":4,"data":5,"rest":[6]}`},
		{layouts["image"], ints(2, 2, 3, 0, 4, 5, 6), `{"version":2,"width":2,"height":3,"external":0,"name":4,"data":5,"variant":6}`},
		{layouts["envelope"], ints(1, 4, 0, 9, -1), `{"version":1,"channels":4,"start_point":0,"num_points":9,"name":""}`},
		{layouts["envelope"], ints(2, 4, 0, 9, -1, 1), `{"version":2,"channels":4,"start_point":0,"num_points":9,"name":"","rest":[1]}`},
		{layouts["envelope"], ints(2, 4, 0, 9, name, 1), `{"version":2,"channels":4,"start_point":0,"num_points":9,"name":"Night","synchronized":1}`},
		{layouts["envelope"], ints(1, 4, 0, 9, name, 1), `{"version":1,"channels":4,"start_point":0,"num_points":9,"name":"Night","rest":[1]}`},
		{layouts["group"], ints(1, 2, 3, 4, 5, 6, 7, 1), `{"version":1,"offset_x":2,"offset_y":3,"parallax_x":4,"parallax_y":5,"start_layer":6,"num_layers":7,"rest":[1]}`},
		{layouts["group"], ints(3, 2), `{"version":3,"offset_x":2}`},
		{layouts["group"], ints(2, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4), `{"version":2,"offset_x":2,"offset_y":3,"parallax_x":4,"parallax_y":5,"start_layer":6,"num_layers":7,"rest":[1,2,3,4]}`},
		{layouts[nameAutoMapper], ints(1, 2, 3, -1, -1, 1), `{"version":1,"group":2,"layer":3,"config":-1,"seed":4294967295,"flags":1}`},
		{quadsLayout, ints(0, 3, 1, 2, 4, 5, 6, short), `{"base_version":0,"kind":3,"flags":1,"version":2,"num_quads":4,"data":5,"image":6,"name":"Sky"}`},
		{quadsLayout, ints(0, 3, 1, 1, 4, 5, 6, 7), `{"base_version":0,"kind":3,"flags":1,"version":1,"num_quads":4,"data":5,"image":6,"rest":[7]}`},
		{tilesLayout, ints(0, 2, 0, 3, 4, 5, 0, 1, 2), `{"base_version":0,"kind":2,"flags":0,"version":3,"width":4,"height":5,"tile_flags":0,"rest":[1,2]}`},
		{
			tilesLayout, ints(0, 2, 0, 2, 4, 5, 2, 1, 2, 3, 4, -1, 0, -1, 8, 9),
			`{"base_version":0,"kind":2,"flags":0,"version":2,"width":4,"height":5,"tile_flags":2,"color":[1,2,3,4],` +
				`"color_env":-1,"color_env_offset":0,"image":-1,"data":8,"tele":9}`,
		},
	} {
		got, err := json.Marshal(c.layout.describe(c.ints))
		if err != nil || string(got) != c.want {
			t.Errorf("%v is %s, %v, want %s", c.ints, got, err, c.want)
		}
	}
}

// TestNeed compares what follows from the layouts with docs/tree/datafile.md section 5.
func TestNeed(t *testing.T) {
	for want, layouts := range map[int][]*itemLayout{
		1:  {layouts["version"]},
		3:  {layerLayout},
		4:  {layouts["sound"], layouts["envelope"]},
		5:  {layouts["info"]},
		6:  {layouts["image"], layouts[nameAutoMapper]},
		7:  {layouts["group"], quadsLayout, soundsLayout},
		15: {tilesLayout},
	} {
		for _, l := range layouts {
			if l.need != want {
				t.Errorf("%v needs %d ints, want %d", l.fields[len(l.fields)-1].keys, l.need, want)
			}
		}
	}
	for _, c := range []struct {
		key     string
		version int32
		want    int
	}{{"tele", 2, 16}, {"tune", 2, 20}, {"tele", 3, 19}, {"tune", 4, 23}} {
		if got := tilesLayout.through(c.key, c.version); got != c.want {
			t.Errorf("%s is int %d of version %d, want %d", c.key, got, c.version, c.want)
		}
	}
}
