package datafile

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"strings"
	"testing"

	"recfs/nodes"
	"recfs/nodes/nodestest"
)

var idKey = regexp.MustCompile(`"id": ?\d+`)

// A map whose items all have the id 0 has the same parts and pictures: they refer to each other by
// position.
func TestRepeatedIDs(t *testing.T) {
	for name, b := range ownMaps(t) {
		if !strings.HasPrefix(name, "sample") && name != "small" {
			continue
		}
		zeroed := append([]byte(nil), b...)
		r := mustRead(t, b)
		repeats := 0
		for i, it := range r.Items {
			if it.Type == typeUUIDIndex {
				continue
			}
			if start, _ := r.ItemsOf(it.Type); i > start {
				repeats++
			}
			zeroed[it.Offset], zeroed[it.Offset+1] = 0, 0
		}
		want, got := partsOf(t, b), partsOf(t, zeroed)
		for file := range maps.Keys(want) {
			if want[file] != got[file] {
				t.Errorf("%s: %s is another with repeated ids", name, file)
			}
		}
		if len(want) != len(got) || repeats == 0 {
			t.Errorf("%s: %d files with repeated ids, %d without; %d repeat", name, len(got), len(want), repeats)
		}
		root, err := openTree(t, zeroed, Options{})
		if err != nil {
			t.Fatal(err)
		}
		codes := problemCodes(t, root)
		if n := strings.Count(strings.Join(codes, " "), "duplicate_item_id"); n != repeats {
			t.Errorf("%s: %d problems, %d items repeat: %v", name, n, repeats, codes)
		}
		checkRepeatNames(t, root, mustRead(t, zeroed))
	}
}

// partsOf returns the files of a map that do not show its bytes or ids, and those that do without
// them.
func partsOf(t *testing.T, b []byte) map[string]string {
	t.Helper()
	root, err := openTree(t, b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for name, content := range nodestest.Files(t, root) {
		switch dir := path.Dir(name); {
		case dir == "images", dir == "sounds", dir == "data", path.Ext(name) == ".png", path.Ext(name) == ".txt", name == "settings.cfg":
			files[name] = content
		case dir == "envelopes", dir == "layers":
			files[name] = idKey.ReplaceAllString(content, "")
		case name == "map.json":
			_, parts, _ := strings.Cut(content, `"info"`)
			files[name] = idKey.ReplaceAllString(parts, "")
		}
	}
	return files
}

func checkRepeatNames(t *testing.T, root nodes.Dir, r *Reader) {
	t.Helper()
	for k, typ := range r.Types {
		if typ.ID == typeUUIDIndex {
			continue
		}
		for i := range typ.Num {
			short, long := "0", "00000"
			if i > 0 {
				short, long = fmt.Sprintf("0.%d", i), fmt.Sprintf("00000.%d", i)
			}
			dir := itemsPrefix + r.TypeName(typ.ID) + "/"
			if got := nodestest.Read(t, root, dir+long); got != string(r.ItemData(r.Types[k].Start+i)) {
				t.Errorf("%s is not item %d", dir+long, r.Types[k].Start+i)
			}
			if nodestest.Read(t, root, dir+short+".json") != nodestest.Read(t, root, dir+long+".json") {
				t.Errorf("%s does not open as %s", dir+long, dir+short)
			}
		}
	}
}
