package datafile

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"recfs/nodes"

	"pgregory.net/rapid"
)

func TestRunLengths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var runs, want []byte
		for _, run := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 3, 3)).Draw(t, "runs") {
			skip := rapid.IntRange(0, 255).Draw(t, "skip")
			runs = append(runs, run[0], run[1], byte(skip), run[2])
			for range skip + 1 {
				want = append(want, run[0], run[1], 0, run[2])
			}
		}
		var counter runCounter
		for part := range slices.Chunk(runs, rapid.IntRange(1, 9).Draw(t, "part")) {
			_, _ = counter.Write(part)
		}
		n := counter.tiles()
		if n != int64(len(want)/4) {
			t.Fatalf("%d tiles, want %d", n, len(want)/4)
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(iotest.HalfReader(&runReader{in: bytes.NewReader(runs)}), got); err != nil || !bytes.Equal(got, want) {
			t.Fatal("tiles differ", err)
		}
	})
}

// TestGridReads reads pieces of a grid and looks for them in the whole.
func TestGridReads(t *testing.T) {
	for _, kind := range []Kind{KindGame, KindTele, KindSpeedup} {
		rapid.Check(t, func(t *rapid.T) {
			l := Layer{Kind: kind}
			tiles := &Tiles{
				Kind: kind, Width: rapid.IntRange(1, 9).Draw(t, "width"), Height: rapid.IntRange(1, 9).Draw(t, "height"),
				size: int(l.recordSize()), main: map[Kind]int{KindTele: 1, KindSpeedup: 2}[kind],
			}
			n := tiles.Width * tiles.Height * tiles.size
			tiles.Records = rapid.SliceOfN(rapid.SampledFrom([]byte{0, 0, 1, 9, 10, 99, 100, 255}), n, n).Draw(t, "records")
			g := tiles.grid()
			whole, err := io.ReadAll(io.NewSectionReader(nodes.At(t.Context(), g), 0, g.Size()+100))
			if err != nil || int64(len(whole)) != g.Size() {
				t.Fatalf("%d bytes, size %d, %v", len(whole), g.Size(), err)
			}
			for y, row := range bytes.SplitAfter(whole, []byte("\n"))[:tiles.Height] {
				if int64(len(row)) != g.rowSize() {
					t.Fatalf("row %d has %d bytes", y, len(row))
				}
			}
			off := rapid.IntRange(0, len(whole)-1).Draw(t, "off")
			p := make([]byte, rapid.IntRange(0, len(whole)).Draw(t, "length"))
			k, err := g.ReadAt(t.Context(), p, int64(off))
			want := whole[off:min(off+len(p), len(whole))]
			if !bytes.Equal(p[:k], want) || (err == io.EOF) != (k < len(p)) {
				t.Fatalf("%q at %d, %v, want %q", p[:k], off, err, want)
			}
		})
	}
}

func TestGridCells(t *testing.T) {
	for _, c := range []struct {
		kind   Kind
		main   int
		record []byte
		want   string
	}{
		{KindTiles, 0, []byte{0, 0, 9, 9}, "   .   "},
		{KindTiles, 0, []byte{0, 1, 0, 0}, "   0/01"},
		{KindGame, 0, []byte{1, 0, 0, 0}, "   1   "},
		{KindFront, 0, []byte{17, 8, 0, 0}, "  17/08"},
		{KindTiles, 0, []byte{255, 0xff, 0, 0}, " 255/ff"},
		{KindTele, 1, []byte{0, 0}, "   .    "},
		{KindTele, 1, []byte{3, 26}, "  26#3  "},
		{KindTune, 1, []byte{255, 0}, "   0#255"},
		{KindSwitch, 1, []byte{0, 0, 0, 5}, "   0#0  "},
		{KindSpeedup, 2, []byte{50, 9, 128, 0, 0, 0}, " 128#50 "},
	} {
		g := (&Tiles{Kind: c.kind, Width: 1, Height: 1, Records: c.record, size: len(c.record), main: c.main}).grid()
		if got := string(g.append(nil, c.record)); got != c.want {
			t.Errorf("%s %v is %q, want %q", c.kind, c.record, got, c.want)
		}
	}
}

// TestTileJSON compares what is written by hand with encoding/json.
func TestTileJSON(t *testing.T) {
	type entry struct {
		X      int  `json:"x"`
		Y      int  `json:"y"`
		Number byte `json:"number"`
		Type   byte `json:"type"`
	}
	tiles := &Tiles{Kind: KindTele, Width: 3, Height: 2, Records: []byte{0, 0, 7, 26, 0, 10, 1, 0, 0, 0, 255, 255}, size: 2, main: 1}
	got, err := tiles.appendRecords(t.Context(), nil, 0, 6)
	if err != nil {
		t.Fatal(err)
	}
	want, err := appendElements(nil, []entry{{1, 0, 7, 26}, {2, 0, 0, 10}, {0, 1, 1, 0}, {2, 1, 255, 255}})
	if !bytes.Equal(got, want) || err != nil {
		t.Errorf("got %s, want %s, %v", got, want, err)
	}
	n, err := tiles.count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	counts, err := json.Marshal(n)
	if err != nil || string(counts) != `{"10":1,"26":1,"255":1}` {
		t.Errorf("counts %s, %v", counts, err)
	}
}

func TestTileTurns(t *testing.T) {
	// A cell whose four quarters are 1 2 over 3 4.
	quarters := []pixel{{1, 0, 0, 255}, {2, 0, 0, 255}, {3, 0, 0, 255}, {4, 0, 0, 255}}
	for flags, want := range map[byte][4]byte{
		0:                                    {1, 2, 3, 4},
		flagMirrorX:                          {2, 1, 4, 3},
		flagMirrorY:                          {3, 4, 1, 2},
		flagTurn:                             {3, 1, 4, 2},
		flagTurn | flagMirrorX:               {4, 2, 3, 1},
		flagTurn | flagMirrorX | flagMirrorY: {2, 4, 1, 3},
		flagTurn | flagMirrorY:               {1, 3, 2, 4},
		4 | flagMirrorX | flagMirrorY:        {4, 3, 2, 1},
	} {
		c := &canvas{tilesX: 1, tilesY: 1, scale: 2, width: 2, height: 2, right: 1, bottom: 1, rows: make([]byte, 12)}
		c.drawTile(0, 0, quarters, flags)
		if got := [4]byte{c.rows[0], c.rows[3], c.rows[6], c.rows[9]}; got != want {
			t.Errorf("flags %d give %v, want %v", flags, got, want)
		}
	}
}
