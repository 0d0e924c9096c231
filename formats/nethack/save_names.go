package nethack

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"recfs/formats/internal/jsonenc"
)

// Widths of the numbers in the names of saves; larger numbers are wider.
const (
	turnWidth = 7
	nthWidth  = 3
)

// saveNames are the names in saves/: the last save of a turn has the turn's own name, those before
// it are numbered.
type saveNames struct {
	turns  []int32 // that have a save, ascending
	last   []int32 // tick of the last save of each
	listed []int32 // ticks in the order of their names
}

// maxSaveName is how long the name of a save is at most.
const maxSaveName = len("turn-2147483648.2147483647")

// saveName returns the name of a save.
func saveName(turn, nth int32) string {
	return string(appendSaveName(make([]byte, 0, maxSaveName), turn, nth))
}

func appendSaveName(b []byte, turn, nth int32) []byte {
	b = appendPadded(append(b, "turn"...), turn, turnWidth)
	if nth != 0 {
		b = appendPadded(append(b, '.'), nth, nthWidth)
	}
	return b
}

// saveNameLen returns how long the name of a save is.
func saveNameLen(turn, nth int32) int {
	size := len("turn") + max(turnWidth, jsonenc.ShortLen(turn))
	if nth != 0 {
		size += len(".") + max(nthWidth, jsonenc.ShortLen(nth))
	}
	return size
}

// appendPadded appends a number with zeros up to a width, in which a minus counts. An index has a name for each save, so
// it is done without package fmt.
func appendPadded(b []byte, n int32, width int) []byte {
	abs := int64(n)
	if abs < 0 {
		b, abs, width = append(b, '-'), -abs, width-1
	}
	for zeros := width - jsonenc.Int64Len(abs); zeros > 0; zeros-- {
		b = append(b, '0')
	}
	return strconv.AppendInt(b, abs, 10)
}

func (t *tick) saveName() string { return saveName(t.turn, t.nth) }

// nameSaves numbers the saves within their turns and sorts their names.
func nameSaves(ticks []tick) saveNames {
	var n saveNames
	for i := range ticks {
		if !ticks[i].lost() {
			n.listed = append(n.listed, int32(i))
		}
	}
	slices.SortStableFunc(n.listed, func(a, b int32) int { return cmp.Compare(ticks[a].turn, ticks[b].turn) })
	wide := false
	for start := 0; start < len(n.listed); {
		turn, end := ticks[n.listed[start]].turn, start+1
		for end < len(n.listed) && ticks[n.listed[end]].turn == turn {
			end++
		}
		group := n.listed[start:end]
		for i, k := range group {
			ticks[k].nth = int32(i + 1)
		}
		last := group[len(group)-1]
		ticks[last].nth = 0
		copy(group[1:], group)
		group[0] = last
		n.turns = append(n.turns, turn)
		n.last = append(n.last, last)
		wide = wide || turn >= 1e7 || len(group) > 1e3
		start = end
	}
	if wide { // then names do not sort like numbers
		var x, y []byte
		slices.SortFunc(n.listed, func(a, b int32) int {
			x, y = appendSaveName(x[:0], ticks[a].turn, ticks[a].nth), appendSaveName(y[:0], ticks[b].turn, ticks[b].nth)
			return bytes.Compare(x, y)
		})
	}
	return n
}

// find returns the position of a name in the listing.
func (n *saveNames) find(ticks []tick, name string) (int, bool) {
	return sort.Find(len(n.listed), func(i int) int { return strings.Compare(name, ticks[n.listed[i]].saveName()) })
}

// inForce returns the tick whose save is that of a turn, and whether it is the turn's own; ok is false
// below the first turn and above the last.
func (n *saveNames) inForce(turn int32) (k int, own, ok bool) {
	i, own := slices.BinarySearch(n.turns, turn)
	if own {
		return int(n.last[i]), true, true
	}
	if i == 0 || i == len(n.turns) {
		return 0, false, false
	}
	return int(n.last[i-1]), false, true
}
