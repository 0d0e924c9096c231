package datafile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"recfs/nodes/nodestest"
)

// truth is what an independent decoder says of a real map.
type truth struct {
	CRC32  string
	SHA256 string
	Items  []struct {
		Size   int32
		SHA256 string
	}
	Data []struct {
		Size   int64
		SHA256 string
	}
	Map struct {
		Images []struct {
			Index      int
			External   bool
			RGBASHA256 string `json:"rgba_sha256"`
		}
		Layers []struct {
			Index       int
			TilesSHA256 string `json:"tiles_sha256"`
		}
	}
}

func TestRealMaps(t *testing.T) {
	odd := map[string][]string{"ddnet-dm7.map": {"size_short_by_data_sizes", "swaplen_short_by_data_sizes"}}
	for name, b := range realMaps(t) {
		t.Run(name, func(t *testing.T) {
			root, err := openTree(t, b, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if bad := nodestest.Check(t, root); len(bad) > 0 {
				t.Errorf("these fail: %v", bad)
			}
			if got := problemCodes(t, root); !slices.Equal(got, odd[name]) {
				t.Errorf("problems %v, want %v", got, odd[name])
			}
			text, err := os.ReadFile(sharedMaps + "/" + name + ".truth.json")
			if err != nil {
				t.Skip(err)
			}
			var want truth
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			compareTruth(t, mustRead(t, b), &want)
			var doc struct{ CRC32, SHA256 string }
			if err := json.Unmarshal(readFile(t, root, "map.json"), &doc); err != nil {
				t.Fatal(err)
			}
			if doc.CRC32 != want.CRC32 || doc.SHA256 != want.SHA256 {
				t.Errorf("sums %v, want %s and %s", doc, want.CRC32, want.SHA256)
			}
		})
	}
}

func compareTruth(t *testing.T, r *Reader, want *truth) {
	t.Helper()
	same := func(what string, i int, b []byte, sum string) {
		t.Helper()
		if got := sha256.Sum256(b); hex.EncodeToString(got[:]) != sum {
			t.Errorf("%s %d has another sum", what, i)
		}
	}
	data := func(i int) []byte {
		b, err := r.ReadData(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if len(r.Items) != len(want.Items) || len(r.Data) != len(want.Data) {
		t.Fatalf("%d items and %d data, want %d and %d", len(r.Items), len(r.Data), len(want.Items), len(want.Data))
	}
	for i, it := range want.Items {
		same("item", i, r.ItemData(i), it.SHA256)
	}
	for i, d := range want.Data {
		same("data", i, data(i), d.SHA256)
	}
	m := r.Map()
	for _, w := range want.Map.Images {
		if o := &m.Images[w.Index]; !w.External {
			pixels := o.pixels()
			pixels.Records = data(int(o.Data))[:pixels.length()]
			image, err := pixels.shrink(t.Context(), 1, 1)
			if err != nil {
				t.Fatal(err)
			}
			same("image", w.Index, image.Pix, w.RGBASHA256)
		}
	}
	for _, w := range want.Map.Layers {
		if w.TilesSHA256 == "" {
			continue
		}
		l := &m.Layers[w.Index]
		records, err := r.recordsIn(data(int(*l.Data)), l.tiles(), l)
		if err != nil {
			t.Fatal(err)
		}
		same("layer", w.Index, records, w.TilesSHA256)
	}
}
