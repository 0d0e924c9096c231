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

type totals struct {
	Bytes     int64   `json:"bytes"`
	Lines     int     `json:"lines"`
	Commands  int     `json:"commands"`
	Ticks     int     `json:"ticks"`
	Saves     int     `json:"saves"`
	Backups   int     `json:"backups"`
	Turns     int     `json:"turns"`
	FirstTurn *int32  `json:"first_turn"`
	LastTurn  *int32  `json:"last_turn"`
	FirstTime *string `json:"first_time"`
	LastTime  *string `json:"last_time"`
	Partial   int64   `json:"partial"`
}

type lastSave struct {
	Tick    int     `json:"tick"`
	Turn    int32   `json:"turn"`
	Time    *string `json:"time"`
	Save    string  `json:"save"`
	LineEnd int64   `json:"line_end"`
}

type chunkRow struct {
	Chunk     int    `json:"chunk"`
	FirstTick int    `json:"first_tick"`
	LastTick  int    `json:"last_tick"`
	Ticks     int    `json:"ticks"`
	Offset    int64  `json:"offset"`
	Stored    int64  `json:"stored"`
	Size      int64  `json:"size"`
	FirstTurn *int32 `json:"first_turn"`
	LastTurn  *int32 `json:"last_turn"`
}

func (x *index) totals() totals {
	t := totals{
		Bytes: x.size, Lines: x.now.lines, Commands: x.now.commands, Ticks: x.ticks.len(), Saves: x.names.byTurn.rows,
		Backups: x.chunks.rows, Turns: x.names.turns, Partial: x.size - x.end,
	}
	if n := x.ticks.len(); n > 0 {
		t.FirstTurn, t.LastTurn = x.turnsOf(0, n)
		t.FirstTime, t.LastTime = x.timeOf(0), x.timeOf(n-1)
		if !x.ticks.backup(0) { // each other chunk begins with one
			t.Backups--
		}
	}
	return t
}

// timeOf returns the time of tick n, nil if it is none.
func (x *index) timeOf(n int) *string { return timeOf(x.ticks.at(n).clock, x.zone(n)) }

// turnsOf returns the turns of the first and the last of the ticks from first to before end that
// has a save.
func (x *index) turnsOf(first, end int) (from, to *int32) {
	for ; first < end && x.ticks.lost(first); first++ {
	}
	for ; first < end && x.ticks.lost(end-1); end-- {
	}
	if first < end {
		a, b := x.ticks.turn(first), x.ticks.turn(end-1)
		from, to = &a, &b
	}
	return from, to
}

func (x *index) lastSave() *lastSave {
	for n := x.ticks.len() - 1; n >= 0; n-- {
		if t := x.ticks.at(n); !t.lost() {
			return &lastSave{n, t.turn, x.timeOf(n), t.saveName(), t.end}
		}
	}
	return nil
}

func (x *index) chunkRow(i int) *chunkRow {
	first := x.chunks.number(i)
	end, endOff := x.chainEnd(first), x.end
	if end < x.ticks.len() {
		endOff = x.ticks.off(end)
	}
	size := endOff - x.ticks.off(first)
	row := &chunkRow{
		Chunk: i, FirstTick: first, LastTick: end - 1, Ticks: end - first,
		Offset: x.ticks.off(first), Stored: size, Size: size,
	}
	row.FirstTurn, row.LastTurn = x.turnsOf(first, end)
	return row
}
