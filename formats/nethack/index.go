package nethack

import (
	"sort"

	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/rowcount"
)

// Limits of what one log may hold; the games that exist are a thousand times smaller.
const (
	maxTicks    = 1 << 21
	maxProblems = 100_000
)

// The codes of problems.
const (
	badSave       = "bad_save"
	lostSaves     = "lost_saves"
	badLine       = "bad_line"
	clockMismatch = "clock_mismatch"
	tooLong       = "too_long" // what stands between two saves is not shown
)

// A mark is how far the durable part of an index reaches: to the end of its last save line. What
// follows is an action under way, which is read again when the log has grown.
type mark struct {
	lines, commands int
	problems        int
	unlisted        int   // problems beyond maxProblems
	open, lost      int   // problem that counts the diffs without a save, -1: none; how many there are
	firstStep       int64 // offset of the first time step, -1: none yet
}

// An index knows every save line of a log and which saves can be rebuilt. The pass that makes it
// rebuilds each save once, because only that finds a wrong checksum, and keeps none.
type index struct {
	header   *header
	ticks    tickList
	chunks   packed // first tick of each
	problems []formats.Problem
	at       mark // at the last tick
	now      mark // at the end

	end  int64 // behind the last newline
	size int64
	over bool   // the last line is Q
	tail []byte // the lines after the last save, nil if they are too long to be kept

	names saveNames

	// Where the hero was in the last save that tells it. "": none does.
	dungeon string
	depth   int32

	// The rows of tables that the saves and the lines between them have, up to the last save, and
	// the groups of commands with those of the action under way.
	heroes, commands *rowcount.Counter
	commandGroups    []columnar.Group
}

// newIndex returns the index of a log that has nothing but its header.
func newIndex(h *header) *index {
	return &index{
		header: h, at: mark{lines: 3, open: -1, firstStep: -1},
		heroes: rowcount.New(heroesColumns), commands: rowcount.New(commandsColumns),
	}
}

// reach returns where the durable part ends.
func (x *index) reach() int64 {
	if x.ticks.len() > 0 {
		return x.ticks.last.end
	}
	return x.header.size
}

// chunkOf returns the chunk of a tick.
func (x *index) chunkOf(n int) int {
	return sort.Search(x.chunks.rows, func(i int) bool { return x.chunks.number(i) > n }) - 1
}

// chainEnd returns the tick behind the chunk of tick n.
func (x *index) chainEnd(n int) int {
	if c := x.chunkOf(n) + 1; c < x.chunks.rows {
		return x.chunks.number(c)
	}
	return x.ticks.len()
}

// backupOf returns the backup that the save of tick n is built on.
func (x *index) backupOf(n int) int { return x.chunks.number(x.chunkOf(n)) }

// zone returns the timezone in force at tick n.
func (x *index) zone(n int) int32 { return x.zoneAt(x.ticks.off(n), x.ticks.zone(n)) }

// zoneAt returns the timezone in force at an offset, where the save has tz: the clock is UTC until
// the first time step.
func (x *index) zoneAt(off int64, tz int32) int32 {
	if x.now.firstStep < 0 || x.now.firstStep > off {
		return 0
	}
	return tz
}

// Bytes of memory: what a tick takes at most while an index is made, with its place in the list of
// names; that place alone, for a tick that was there before, which is four numbers of 4 bytes; and
// about what a problem takes.
const (
	tickCost    = 52
	nameCost    = 16
	problemCost = 96
)

// Memory is about how many bytes the index keeps alive.
func (x *index) Memory() int64 {
	n := 512 + len(x.tail) + int(x.chunks.memory()+x.ticks.memory()+x.names.memory())
	for i := range x.problems {
		n += problemCost + len(x.problems[i].Message)
	}
	return int64(n) + x.heroes.Cost() + 2*x.commands.Cost()
}
