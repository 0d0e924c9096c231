package butter

import (
	"fmt"
	"os"
	"testing"

	"recfs/formats/internal/echovr"
)

// lean returns a copy of a frame with what visit gives of it.
func lean(f *echovr.Frame) echovr.Frame {
	g := *f
	g.Has &^= echovr.HasBones
	g.Bones, g.Pause.PausedTimer, g.Pause.UnpausedTimer = nil, 0, 0
	for t := range g.Teams {
		g.Teams[t].Stats = echovr.Stats{}
		g.Teams[t].Players = append([]echovr.Player{}, g.Teams[t].Players...)
		for i := range g.Teams[t].Players {
			g.Teams[t].Players[i].Stats = echovr.Stats{}
			for k := range g.Teams[t].Players[i].Poses {
				g.Teams[t].Players[i].Poses[k].Rotation = echovr.Quat{}
			}
		}
	}
	return g
}

// visitAll holds what visit gives of each chunk to what Chunk gives, and returns how many chunks it gives all of.
func visitAll(t *testing.T, r *Reader, x *echovr.Index) (whole int) {
	t.Helper()
	for n := range x.Chunks {
		c, _, err := r.Chunk(t.Context(), x, n, 0, nil, echovr.NewEncoder(r.Match()))
		if err != nil {
			t.Fatal(err)
		}
		var got []echovr.Frame
		ok, err := r.visit(t.Context(), n, len(c.Frames), func(f *echovr.Frame) error {
			got = append(got, lean(f))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !ok || len(got) != len(c.Frames) {
			continue
		}
		whole++
		for i := range got {
			want := fmt.Sprintf("%+v", lean(&c.Frames[i])) // in which NaN is itself
			if got := fmt.Sprintf("%+v", got[i]); got != want {
				t.Fatalf("chunk %d, frame %d: %s, want %s", n, i, got, want)
			}
		}
	}
	return whole
}

// TestVisit holds the frames that tables are made of to those that are kept, in all layouts and on all maps; of chunks that are
// damaged, or of another map than the file, there are none.
func TestVisit(t *testing.T) {
	for _, l := range []*layout{layoutDec2021, layoutV1, layoutV2, layoutV3Early, layoutV3} {
		for _, mapIndex := range []uint8{1, 2, 5} {
			b, _ := sample(l, mapIndex, 6, 100, l.bones, func(w *writer) { w.private = true })
			r := openBytes(t, b)
			if n := visitAll(t, r, scanned(t, b)); n != len(r.Header.Chunks) {
				t.Errorf("%s, map %d: %d chunks of %d", l.name, mapIndex, n, len(r.Header.Chunks))
			}
		}
	}
	for name, want := range map[string]int{"arena_private_bones_v3_zstd7": 5, "arena_v1_gzip": 3, "combat-cut": 1} {
		b, err := os.ReadFile("../../testdata/archive/butter/" + name + ".butter")
		if err != nil {
			t.Fatal(err)
		}
		if n := visitAll(t, openBytes(t, b), scanned(t, b)); n != want {
			t.Errorf("%s: %d chunks, want %d", name, n, want)
		}
	}
	b, _ := sample(layoutV3, 2, 6, 60, false, func(w *writer) { w.kind = combat })
	if n := visitAll(t, openBytes(t, b), scanned(t, b)); n != 0 {
		t.Errorf("%d chunks are of the map of the file", n)
	}
}
