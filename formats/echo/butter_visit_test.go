package echo

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/recordings"
	"recfs/nodes/nodestest"
)

// lean returns a copy of a frame with what visit gives of it.
func lean(f *Frame) Frame {
	g := *f
	g.Has &^= HasBones
	g.Bones, g.Pause.PausedTimer, g.Pause.UnpausedTimer = nil, 0, 0
	for t := range g.Teams {
		g.Teams[t].Stats = Stats{}
		g.Teams[t].Players = append([]Player{}, g.Teams[t].Players...)
		for i := range g.Teams[t].Players {
			g.Teams[t].Players[i].Stats = Stats{}
			for k := range g.Teams[t].Players[i].Poses {
				g.Teams[t].Players[i].Poses[k].Rotation = Quat{}
			}
		}
	}
	return g
}

// visitAll holds what visit gives of each chunk to what Chunk gives, and returns how many chunks it
// gives all of.
func visitAll(t *testing.T, r *butterReader, x *Index) (whole int) {
	t.Helper()
	for n := range x.Chunks {
		c, _, err := r.Chunk(t.Context(), x, n, 0, nil, NewEncoder(r.Match()))
		if err != nil {
			t.Fatal(err)
		}
		var got []Frame
		ok, err := r.visit(t.Context(), n, &ChunkInfo{FirstTick: r.tick(n), Ticks: len(c.Frames)}, func(f *Frame) error {
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

// TestVisit holds the frames that tables are made of to those that are kept, in all layouts and on
// all maps; of chunks that are damaged, or of another map than the file, there are none.
func TestVisit(t *testing.T) {
	nodestest.Long(t)
	for _, l := range []*layout{layoutDec2021, layoutV1, layoutV2, layoutV3Early, layoutV3} {
		for _, mapIndex := range []uint8{2, 5, 1}[:nodestest.Times(3, 1)] {
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

// TestRowsOfLongChunk holds the rows of a chunk with many frames to these, and the memory that is
// charged for them to what it takes to go through the chunk.
func TestRowsOfLongChunk(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and long under the race detector")
	}
	const frames, players = 5000, 8
	b, _ := sample(layoutV2, 2, players, frames, false, func(w *writer) { w.interval, w.compression = frames, gzipped }) // no layout to look for
	format, in, disk := NewButter(Options{}), formatstest.BytesInput("long.butter", b, time.Unix(1e9, 0)), memoryStore{}
	formatstest.Keep(&in, disk)
	var o *recordings.Opened
	var x formats.Index
	var c *cache.Cache
	for range 2 { // the second time with the index there
		if c != nil {
			c.Close()
		}
		c = cache.New(64<<20, disk)
		var err error
		if o, err = recordings.OpenOne(t.Context(), recordings.Source{Format: &format, Input: in}, c, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		if x, err = o.Index(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	defer c.Close()
	all, _, err := readParts(t.Context(), openBytes(t, b), x.(*Index), 0)
	if err != nil || len(all) != frames {
		t.Fatal(len(all), err)
	}
	for _, m := range o.Tables()[:2] {
		table, err := m.Make(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = c.Do(t.Context(), 1, func(ctx context.Context) error {
			rows, err := table.Rows(ctx, 0)
			if err != nil {
				return err
			}
			at := 0
			for tick := range all {
				of := all[tick].Teams[0].Players
				of = append(of[:len(of):len(of)], append(all[tick].Teams[1].Players, all[tick].Teams[2].Players...)...)
				if table.Name == "frames" {
					of = make([]Player, 1)
				}
				for i := range of {
					if rows.Columns[0].Int64s[at] != int64(tick) {
						t.Fatalf("row %d of %s is of tick %d, not of %d", at, table.Name, rows.Columns[0].Int64s[at], tick)
					}
					if x := of[i].Poses[Head].Position[0]; table.Name == "players" && rows.Columns[6].Floats[at] != x {
						t.Fatalf("row %d: x is %g, want %g", at, rows.Columns[6].Floats[at], x)
					}
					at++
				}
			}
			if rows.Rows() != at {
				t.Errorf("%s has %d rows, want %d", table.Name, rows.Rows(), at)
			}
			return nil
		})
		if _, peak := c.Work(); err != nil || peak > 4<<20 {
			t.Errorf("%s: %d bytes counted, %v", table.Name, peak, err)
		}
	}
}
