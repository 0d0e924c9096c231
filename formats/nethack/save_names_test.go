package nethack

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Names of saves are those that fmt makes, whatever the turn of a damaged save is.
func TestSaveNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Int32(), rapid.Int32Range(-100, 100), rapid.Int32Range(-10_000_001, 10_000_001))
		turn, nth := number.Draw(t, "turn"), number.Draw(t, "nth")
		want := fmt.Sprintf("turn%07d", turn)
		if nth != 0 {
			want += fmt.Sprintf(".%03d", nth)
		}
		if got := saveName(turn, nth); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// The names of the saves are listed in the order of texts, and found there, in whatever order turns
// come; a turn without a save has that of the one before.
func TestNamesOfTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := new(index)
		turns := rapid.SampledFrom([][]int32{{-1, 0, 1, 2}, {5}, {-1}, {3, 9_999_998, 9_999_999, 10_000_000, 123_456_789}}).Draw(t, "turns")
		ordered := rapid.Bool().Draw(t, "ordered")
		var drawn []int32
		for range rapid.SampledFrom([]int{0, 1, 5, 200, 1500}).Draw(t, "count") {
			drawn = append(drawn, turns[len(drawn)*len(drawn)%7%len(turns)])
		}
		if ordered {
			slices.Sort(drawn)
		}
		for _, turn := range drawn {
			x.ticks.add(&tick{turn: turn})
		}
		x.nameTicks()

		named := map[string]int{}
		last := map[int32]int{}
		for k, turn := range drawn {
			if turn >= 0 {
				named[x.saveName(k)] = k
				last[turn] = k
			}
		}
		list := savesList{&recording{}, x}
		for i, name := range slices.Sorted(maps.Keys(named)) {
			e, err := list.At(t.Context(), i)
			found, notFound := list.Find(t.Context(), name)
			if err != nil || notFound != nil || e.Name != name || found != i {
				t.Fatalf("%s at %d, found at %d, %v, want %s at %d, %v", e.Name, i, found, notFound, name, i, err)
			}
		}
		if n, _ := list.Len(t.Context()); n != len(named) || x.names.turns != len(last) {
			t.Fatalf("%d names of %d turns, want %d of %d", n, x.names.turns, len(named), len(last))
		}
		for turn, k := range last {
			if named[saveName(turn, 0)] != k {
				t.Errorf("the save of turn %d is that of tick %d, want %d", turn, named[saveName(turn, 0)], k)
			}
			if got, own, ok := x.saveOf(turn); got != k || !own || !ok {
				t.Errorf("turn %d: tick %d, %t, %t, want %d", turn, got, own, ok, k)
			}
			if _, there := last[turn+1]; there {
				continue
			}
			_, err := list.Find(t.Context(), saveName(turn+1, 0))
			got, own, ok := x.saveOf(turn + 1)
			if behind := turn == slices.Max(drawn); err == nil || own || ok == behind || ok && got != k {
				t.Errorf("turn %d without a save: tick %d, %t, %t, want %d", turn+1, got, own, ok, k)
			}
		}
	})
}
