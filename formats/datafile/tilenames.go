package datafile

import (
	"fmt"
	"strconv"
	"strings"
)

// tileNames are those of the indexes of game and front layers, and of the types of tele, speedup
// and tune layers (docs/formats/datafile.md section B.9).
var tileNames = map[int]string{
	0: "air", 1: "hookable", 2: "death", 3: "unhookable", 4: "laser block", 5: "hook-through cut", 6: "hook-through", 7: "jump",
	9: "freeze", 10: "evil tele in", 11: "unfreeze", 12: "deep freeze", 13: "deep unfreeze", 14: "weapon tele in", 15: "hook tele in",
	16: "wall jump", 17: "endless hook on", 18: "endless hook off", 19: "hit others on", 20: "hit others off", 21: "solo on", 22: "solo off",
	26: "tele in", 27: "tele out", 28: "boost", 29: "tele checkpoint", 30: "checkpoint tele out", 31: "checkpoint tele in",
	32: "refill jumps", 33: "start", 34: "finish", 60: "stopper", 61: "two-way stopper", 62: "four-way stopper",
	63: "evil checkpoint tele in", 66: "hook-through all", 67: "hook-through one way", 68: "tune",
	192: "spawn", 193: "red spawn", 194: "blue spawn", 195: "red flag", 196: "blue flag", 197: "armor", 198: "health",
	199: "shotgun", 200: "grenade", 201: "ninja", 202: "laser",
}

// switchNames are those of types that mean something else in a switch layer.
var switchNames = map[int]string{22: "timed open", 23: "timed close", 24: "open", 25: "close"}

// cellName returns what the tile of a cell of a grid is called, "" if it has no name. Flags and
// numbers stand behind it.
func (k Kind) cellName(cell string) string {
	if cell == "." {
		cell = "0"
	}
	digits, rest := cell, ""
	if i := strings.IndexAny(cell, "/#"); i >= 0 {
		digits, rest = cell[:i], cell[i:]
	}
	n, err := strconv.Atoi(digits)
	name := tileNames[n]
	switch {
	case err != nil:
		return ""
	case k == KindSwitch && switchNames[n] != "":
		name = switchNames[n]
	case n >= 35 && n <= 59:
		name = fmt.Sprint("time checkpoint ", n-34)
	}
	if name == "" {
		return ""
	}
	return name + rest
}
