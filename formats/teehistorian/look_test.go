package teehistorian

import (
	"testing"

	"recfs/formats/internal/demo"
)

func TestLook(t *testing.T) {
	for _, want := range []struct {
		country int32
		look    demo.Look
	}{
		{-1, demo.DefaultLook},
		{276, demo.Look{Skin: "a  b", Custom: true, Body: -5, Feet: 1 << 30}},
		{0, demo.Look{Skin: "\n"}},
	} {
		if country, got := newLook(want.country, want.look).parse(); country != want.country || got != want.look {
			t.Errorf("%v came back as %d %v", want, country, got)
		}
	}
	for _, l := range []look{"", "nonsense", "1 2"} {
		if country, got := l.parse(); country != noCountry || got != demo.DefaultLook {
			t.Errorf("%q is %d %v", l, country, got)
		}
	}
}

// A checkpoint has what demos show: the look of a client, and the name and look of a character that
// outlives its stay.
func TestCheckpointLook(t *testing.T) {
	w := newWriter(nil)
	w.skip(9)
	w.message(1, packed(40, "ab", "clan", 49, "pinky", 1, 5, 6))
	w.new(1, 10, 20)
	w.message(2, packed(40, "cd", "", -1, "", 0, 0, 0))
	w.new(2, 30, 40)
	w.drop(2, "")
	for range chunkSize / 4 {
		w.diff(1, 1, 1)
		w.diff(2, 1, 1)
	}
	_, x := indexed(t, w.b)
	if len(x.chunks) < 2 {
		t.Fatal("no second chunk")
	}
	s, _, err := x.stateAt(1, false)
	if err != nil {
		t.Fatal(err)
	}
	for cid, want := range map[int32]player{
		1: {name: "ab", clan: "clan", look: "49 1 5 6 pinky", started: true, open: true, named: true},
		2: {name: "cd", look: "-1 0 0 0 default", named: true},
	} {
		p := s.lookup(cid)
		got := player{name: p.name, clan: p.clan, look: p.look, started: p.started, open: p.open, named: p.named}
		if !p.alive || got != want {
			t.Errorf("player %d: %+v, want %+v", cid, got, want)
		}
	}
}
