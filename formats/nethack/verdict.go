package nethack

import (
	"cmp"
	"fmt"
	"slices"

	"recfs/formats"
)

const endGameOver = "game_over"

// whole reports whether nothing of the game is missing or unreadable. A save that disagrees about
// the time takes nothing away. Problems beyond the end of the list may be of any kind.
func (x *index) whole() bool {
	return x.now.unlisted == 0 && !slices.ContainsFunc(x.problems, func(p formats.Problem) bool { return p.Code != clockMismatch })
}

// ending says how the log ends.
func (x *index) ending() string {
	switch {
	case x.end < x.size:
		return "partial_line"
	case x.ticks.len() == 0:
		return "no_save"
	case x.over:
		return endGameOver
	case x.end == x.reach():
		return "save"
	}
	return "action"
}

// problemList returns the problems by offset.
func (x *index) problemList() []formats.Problem {
	list := append([]formats.Problem{}, x.problems...)
	slices.SortStableFunc(list, func(a, b formats.Problem) int { return cmp.Compare(a.Offset, b.Offset) })
	if x.now.unlisted > 0 {
		list[len(list)-1].Message += fmt.Sprintf("; %d more problems are not listed", x.now.unlisted)
	}
	return list
}
