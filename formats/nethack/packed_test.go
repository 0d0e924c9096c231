package nethack

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// tickListOf returns a list of ticks that are named already.
func tickListOf(ticks ...tick) (l tickList) {
	var numbers []int32
	for i := range ticks {
		l.add(&ticks[i])
		numbers = append(numbers, ticks[i].nth)
	}
	l.nth = packList(numbers)
	return l
}

// all returns the ticks of a list.
func (l *tickList) all() (ticks []tick) {
	for n := range l.len() {
		ticks = append(ticks, l.at(n))
	}
	return ticks
}

// Ticks of all lengths of lines, clocks and turns come back as they were, one by one and in part,
// and usual ones take little memory.
func TestTickList(t *testing.T) {
	anyTick := rapid.Custom(func(t *rapid.T) tick {
		off := rapid.Int64Range(0, math.MaxInt64/2).Draw(t, "off")
		return tick{
			off: off, end: off + rapid.Int64Range(1, math.MaxInt64/2).Draw(t, "length"), clock: rapid.Uint64().Draw(t, "clock"),
			line: rapid.IntRange(0, math.MaxInt).Draw(t, "line"), turn: rapid.Int32Range(-1, math.MaxInt32).Draw(t, "turn"),
			size: rapid.Int32Range(0, maxBlob).Draw(t, "size"), tz: rapid.Int32().Draw(t, "tz"),
			nth: rapid.Int32Range(0, maxTicks).Draw(t, "nth"), backup: rapid.Bool().Draw(t, "backup"),
			format: diffFormat(rapid.IntRange(0, len(diffFormatNames)-1).Draw(t, "format")),
			comp:   compression(rapid.IntRange(0, len(compressionNames)-1).Draw(t, "compression")),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		several := rapid.SliceOfN(anyTick, 1, 5).Draw(t, "ticks")
		var ticks []tick
		for range rapid.IntRange(0, 3*groupRows).Draw(t, "count") {
			ticks = append(ticks, several[len(ticks)*7%len(several)])
		}
		l := tickListOf(ticks...)
		if got := l.all(); !slices.Equal(got, ticks) {
			t.Fatalf("%+v, want %+v", got, ticks)
		}
		for n, want := range ticks {
			part := tick{
				off: l.off(n), end: l.end(n), turn: l.turn(n), size: l.size(n), tz: l.zone(n), backup: l.backup(n),
				clock: want.clock, line: want.line, nth: want.nth, format: want.format, comp: want.comp,
			}
			if part != want || l.lost(n) != want.lost() {
				t.Fatalf("parts of tick %d: %+v, want %+v", n, part, want)
			}
		}
	})
}

// A save of a usual log takes at most 20 bytes of an index.
func TestIndexIsSmall(t *testing.T) {
	x := mustIndex(t, usualGame(20_000))
	if n := x.Memory() / int64(x.ticks.len()); n > 20 {
		t.Errorf("%d bytes a tick", n)
	}
}

// usualGame writes a log of a small save and so many ticks, three of which are a turn.
func usualGame(ticks int) []byte {
	w := newGame("Usual")
	w.comp = plain
	save := testSave(300)
	for i := range ticks {
		w.line("move D3", int64(100_000+i*7919%900_000))
		if i%400 == 0 {
			w.backup(save, int32(i/3))
			continue
		}
		w.diff(beta3, int32(i/3), op{cmd: cmdCopy, n: 76}, op{cmd: cmdEdit, data: make([]byte, 1+i%90)}, w.rest(100+1+i%90))
	}
	return w.Bytes()
}
