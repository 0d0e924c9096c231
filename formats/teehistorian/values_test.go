package teehistorian

import (
	"encoding/hex"
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"recfs/formats/internal/demo"
)

// The table of docs/formats/teehistorian.md section 2.1, and what its rules say of unusual
// encodings.
func TestInt(t *testing.T) {
	for _, c := range []struct {
		hex   string
		want  int32
		usual bool
	}{
		{"00", 0, true},
		{"01", 1, true},
		{"3f", 63, true},
		{"8001", 64, true},
		{"bf7f", 8191, true},
		{"808001", 8192, true},
		{"80897a", 1000000, true},
		{"40", -1, true},
		{"41", -2, true},
		{"7f", -64, true},
		{"c001", -65, true},
		{"c08001", -8193, true},
		{"bfff7f", 1048575, true},
		{"bfffffff0f", math.MaxInt32, true},
		{"ffffffff0f", math.MinInt32, true},
		{"8000", 0, false},
		{"8080808000", 0, false},
		{"c000", -1, false},
		{"bfffffffff", math.MaxInt32, false},
		{"80808080f0", 0, false},
		{"8080808081", 1 << 27, false},
	} {
		b, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		for n := range len(b) {
			if _, _, ok := intAt(b[:n], 0); ok {
				t.Errorf("%s: the first %d bytes count as an int", c.hex, n)
			}
		}
		for _, tail := range []string{"", "ffffffffff"} {
			if v, n, ok := intAt(append(b, tail...), 0); v != c.want || n != len(b) || !ok {
				t.Errorf("%s: %d, %d bytes, %v, want %d, %d bytes", c.hex, v, n, ok, c.want, len(b))
			}
		}
		if got := hex.EncodeToString(demo.AppendInt(nil, c.want)); c.usual && got != c.hex {
			t.Errorf("%d is written as %s, want %s", c.want, got, c.hex)
		}
	}
}

func TestIntProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int32().Draw(t, "v")
		if got, n, ok := intAt(demo.AppendInt(nil, v), 0); got != v || n != len(demo.AppendInt(nil, v)) || !ok {
			t.Errorf("%d is read back as %d", v, got)
		}
		var l lengths
		for _, w := range []int32{v, v + 1, v - 1, -v, v, rapid.Int32().Draw(t, "w")} {
			if got := l.of(w); got != len(strconv.Itoa(int(w))) {
				t.Errorf("length of %d: %d", w, got)
			}
		}
	})
}
