package teehistorian

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes/nodestest"
)

// to makes the next record one of a later tick.
func (w *writer) to(tick int) { w.skip(tick - w.tick - 1) }

// TestEventsNames names a stay later than some of its lines, at the last tick that counts for the
// second of them.
func TestEventsNames(t *testing.T) {
	for _, c := range []struct {
		start any
		times []string
	}{
		{"2026-11-21T19:00:00+0100", []string{
			"2026-11-21T18:00:00.20Z", "2026-11-21T18:00:02.00Z", "2026-11-21T18:00:02.02Z", "2026-11-21T18:00:32.02Z",
		}},
		{"yesterday", []string{"-", "-", "-", "-"}},
	} {
		w := newWriter(map[string]any{"version": "2", "start_time": c.start})
		w.to(10)
		w.join(0)
		w.join(1)
		w.to(100)
		w.command(0, 128, "early")
		w.ex("player_switch", 1, packed(1, 0))
		w.to(101)
		w.command(0, 128, "later")
		w.to(101 + nameDelay)
		w.ex("player_name", 0, packed(0, "ann"))
		w.finish()
		root, err := openBytes(t, newCache(t), w.b)
		if err != nil {
			t.Fatal(err)
		}
		for name, err := range nodestest.Check(t, root) {
			t.Errorf("%s: %v", name, err)
		}
		want := strings.NewReplacer("A", c.times[0], "B", c.times[1], "C", c.times[2], "D", c.times[3]).Replace(
			`10 0:00:00.20 A 00 joined
10 0:00:00.20 A 01 joined
100 0:00:02.00 B 00 ran /early
100 0:00:02.00 B 01 swaps with 00
101 0:00:02.02 C 00-ann ran /later
1601 0:00:32.02 D 00-ann is called "ann"
1601 0:00:32.02 D end
`)
		if diff := cmp.Diff(want, nodestest.Read(t, root, "export/events.txt")); diff != "" {
			t.Error(diff)
		}
	}
}

// TestEventsNamesOverChunks names a stay at ticks for which whole chunks before, or only a part of
// one, lie too early, in a recording that has grown since it was indexed.
func TestEventsNamesOverChunks(t *testing.T) {
	for _, named := range []int{1500, 1520, 1530, 1541, 1550, 1570, 3000} {
		w := newWriter(nil)
		for chunk := range 3 {
			w.to(20*chunk + 10)
			w.ex("antibot", 0, strings.Repeat("x", chunkSize))
			w.command(0, 128, "first")
			w.to(20*chunk + 20)
			w.command(0, 128, "second")
		}
		before := len(w.b)
		w.to(named)
		w.ex("player_name", 0, packed(0, "ann"))
		indexes := store{}
		nodestest.Read(t, version(t, w.b[:before], indexes), "export/events.txt")
		root := version(t, w.b, indexes)
		for name, err := range nodestest.Check(t, root) {
			t.Errorf("named at %d: %s: %v", named, name, err)
		}
		for line := range strings.Lines(nodestest.Read(t, root, "export/events.txt")) {
			words := strings.Fields(line) // tick, clock, time, who
			tick, err := strconv.Atoi(words[0])
			if err != nil {
				t.Fatal(err)
			}
			want := "00"
			if named <= tick+nameDelay {
				want = "00-ann"
			}
			if words[3] != want {
				t.Errorf("named at %d: %q, want %s", named, line, want)
			}
		}
	}
}

// TestGrowing cuts a recording at each byte: what a growing file has then is what it begins with
// later.
func TestGrowing(t *testing.T) {
	w := newWriter(map[string]any{"version": "2"})
	start := len(w.b)
	w.to(10)
	w.join(0)
	w.new(0, 1, 2)
	w.join(1)
	w.ex("player_name", 1, packed(1, "bob"))
	w.diff(0, 5, 5)
	w.to(900)
	w.command(1, 128, "team", "1")
	w.ex("player_name", 0, packed(0, "ann"))
	w.inputNew(0, [inputs]int{1})
	w.join(2)
	w.to(900 + nameDelay + 1)
	w.drop(1, "bye")
	w.old(0)
	w.finish()
	formatstest.Growing(t, Format, w.b, start, 1,
		"export/events.txt", "lines/000000.jsonl",
		"players/00-ann/commands.txt", "players/00-ann/inputs.csv", "players/00-ann/positions.csv",
		"players/01-bob/commands.txt", "players/01-bob/inputs.csv", "players/01-bob/positions.csv")
}
