package nethack

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
