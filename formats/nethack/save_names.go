package nethack

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"strconv"
	"strings"

	"recfs/formats"
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
	turns  int    // that have a save
	byTurn packed // ticks in the order of their turns, of each the last one first
	sorted packed // ticks in the order of their names, where that is another one
}

// listed returns the ticks in the order of their names.
func (n *saveNames) listed() *packed {
	if n.sorted.rows > 0 {
		return &n.sorted
	}
	return &n.byTurn
}

// memory returns how many bytes the names keep alive.
func (n *saveNames) memory() int64 { return n.byTurn.memory() + n.sorted.memory() }

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

// appendPadded appends a number with zeros up to a width, in which a minus counts. An index has a
// name for each save, so it is done without package fmt.
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

// nameTicks numbers the saves within their turns and sorts their names. What it makes on the way
// takes 4 bytes a tick.
func (x *index) nameTicks() {
	list := make([]int32, 0, x.ticks.len())
	sorted, last := true, int32(0)
	for k := range x.ticks.len() {
		if turn := x.ticks.turn(k); turn >= 0 {
			list = append(list, int32(k))
			sorted = sorted && last <= turn
			last = turn
		}
	}
	if !sorted {
		slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(x.ticks.turn(int(a)), x.ticks.turn(int(b))) })
	}
	for start, end := 0, 0; start < len(list); start = end {
		turn := x.ticks.turn(int(list[start]))
		for end = start + 1; end < len(list) && x.ticks.turn(int(list[end])) == turn; end++ {
		}
		last := list[end-1]
		copy(list[start+1:end], list[start:])
		list[start] = last
	}
	x.names = saveNames{byTurn: packList(list)}
	if wide := x.numberTicks(list[:x.ticks.len()]); wide {
		x.sortNames(list[:0])
	}
}

// numberTicks numbers the saves within their turns, and reports whether their names do not sort
// like numbers. numbers is memory to use.
func (x *index) numberTicks(numbers []int32) (wide bool) {
	clear(numbers)
	turn, nth := int32(-1), int32(0)
	for i := range x.names.byTurn.rows {
		k := x.names.byTurn.number(i)
		nth++
		if t := x.ticks.turn(k); t != turn {
			turn, nth = t, 0
			x.names.turns++
		}
		numbers[k] = nth
		wide = wide || turn >= 1e7 || nth >= 1e3
	}
	x.ticks.nth = packList(numbers)
	return wide
}

// sortNames sorts the names as texts. list is memory to use.
func (x *index) sortNames(list []int32) {
	for i := range x.names.byTurn.rows {
		list = append(list, int32(x.names.byTurn.number(i)))
	}
	var a, b []byte
	slices.SortFunc(list, func(i, j int32) int {
		s, t := x.ticks.at(int(i)), x.ticks.at(int(j))
		a, b = appendSaveName(a[:0], s.turn, s.nth), appendSaveName(b[:0], t.turn, t.nth)
		return bytes.Compare(a, b)
	})
	x.names.sorted = packList(list)
}

// findSave returns the position of a name in the listing. The name with nth 0 is that of the last
// save of a turn.
func (x *index) findSave(turn, nth int32) (int, bool) {
	byTurn, sorted := &x.names.byTurn, &x.names.sorted
	i := x.firstOf(turn) + int(nth)
	switch {
	case i >= byTurn.rows || x.ticks.turn(byTurn.number(i)) != turn:
		return 0, false
	case sorted.rows == 0:
		return i, true
	}
	name := saveName(turn, nth)
	return sort.Find(sorted.rows, func(i int) int { return strings.Compare(name, x.saveName(sorted.number(i))) })
}

// firstOf returns the position of the first tick in the order of turns that is of a turn, or of one
// behind it.
func (x *index) firstOf(turn int32) int {
	byTurn := &x.names.byTurn
	return sort.Search(byTurn.rows, func(i int) bool { return x.ticks.turn(byTurn.number(i)) >= turn })
}

// saveName returns the name of the save of tick k.
func (x *index) saveName(k int) string {
	t := x.ticks.at(k)
	return t.saveName()
}

// saveOf returns the tick whose save is that of a turn, and whether it is the turn's own; ok is
// false below the first turn and above the last.
func (x *index) saveOf(turn int32) (k int, own, ok bool) {
	byTurn := &x.names.byTurn
	i := x.firstOf(turn)
	switch {
	case i == byTurn.rows:
		return 0, false, false
	case x.ticks.turn(byTurn.number(i)) == turn:
		return byTurn.number(i), true, true
	case i == 0:
		return 0, false, false
	}
	before := x.ticks.turn(byTurn.number(i - 1))
	return byTurn.number(x.firstOf(before)), false, true
}

const maxTurn = 1<<31 - 1

// inForce returns the tick whose save was in force in a turn: its own, or the one before.
func (x *index) inForce(turn int64) (int, error) {
	if turn > maxTurn {
		return 0, notExist(fmt.Sprint(turn))
	}
	k, own, ok := x.saveOf(int32(turn))
	switch {
	case !ok:
		return 0, notExist(saveName(int32(turn), 0))
	case own:
		return k, nil
	}
	if k+1 < x.ticks.len() && x.ticks.lost(k+1) {
		return 0, formats.Corrupt(name, x.ticks.off(k+1), "the save of turn %d is lost", turn)
	}
	return k, nil
}

func notExist(file string) error {
	return &fs.PathError{Op: "find", Path: file, Err: fs.ErrNotExist}
}
