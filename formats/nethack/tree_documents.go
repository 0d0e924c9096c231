package nethack

import (
	"bytes"
	"context"

	"recfs/formats"
	"recfs/formats/views"
	"recfs/nodes"
)

type headerFields struct {
	Status         string  `json:"status"`
	RecoveryCount  uint32  `json:"recovery_count"`
	Version        string  `json:"version"`
	Description    string  `json:"description"`
	DescriptionHex string  `json:"description_hex,omitempty"`
	StartTime      *string `json:"start_time"`
	Mode           *string `json:"mode"`
	ModeNumber     int64   `json:"mode_number"`
	Name           string  `json:"name"`
	NameHex        string  `json:"name_hex,omitempty"`
	Role           string  `json:"role"`
	RoleHex        string  `json:"role_hex,omitempty"`
	Race           string  `json:"race"`
	RaceHex        string  `json:"race_hex,omitempty"`
	Gender         string  `json:"gender"`
	GenderHex      string  `json:"gender_hex,omitempty"`
	Alignment      string  `json:"alignment"`
	AlignmentHex   string  `json:"alignment_hex,omitempty"`
}

// headerDocument is header.json. A header with a problem does not open, so there is none to list.
func (rec *recording) headerDocument(context.Context) (any, error) {
	h := rec.header
	word := func(i int) (string, string) { return h.words[i], invalidHex([]byte(h.words[i])) }
	f := headerFields{
		Status: h.status, RecoveryCount: h.count, Version: h.version, ModeNumber: h.mode,
		Description: string(h.description), DescriptionHex: invalidHex(h.description),
		StartTime: timeOf(h.start, 0),
		Name:      string(h.name), NameHex: invalidHex(h.name),
	}
	if mode := h.modeName(); mode != "" {
		f.Mode = &mode
	}
	f.Role, f.RoleHex = word(0)
	f.Race, f.RaceHex = word(1)
	f.Gender, f.GenderHex = word(2)
	f.Alignment, f.AlignmentHex = word(3)
	return formats.HeaderDocument[headerFields]{
		HeaderHead: formats.HeaderHead{Format: name, FormatVersion: h.version},
		Source:     rec.Info(), Header: f, Problems: []formats.Problem{},
	}, nil
}

// An indexHead is index.json up to its lists, which may be long.
type indexHead struct {
	formats.IndexHead
	Totals   totals    `json:"totals"`
	LastSave *lastSave `json:"last_save"`
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

// indexText is index.json in pieces of units: what is in front of the chunks, each chunk, what is pending, each problem, and
// the end.
func (rec *recording) indexText(ctx context.Context, x *index) (*views.Text, error) {
	damage, err := rec.Damage(ctx)
	if err != nil {
		return nil, err
	}
	units := 3 + x.chunks.rows + len(x.problems)
	if damage != nil {
		units++
	}
	return &views.Text{
		N: (units + indexUnits - 1) / indexUnits, Claim: x.Memory(),
		Make: func(ctx context.Context, i int, _ any) (views.Part, error) {
			first := i * indexUnits
			b, err := rec.indexPiece(ctx, first, min(first+indexUnits, units), damage)
			return views.Part{Bytes: b}, err
		},
	}, nil
}

// indexPiece makes the units from first to before end.
func (rec *recording) indexPiece(ctx context.Context, first, end int, damage *formats.Problem) ([]byte, error) {
	x, err := rec.Index(ctx)
	if err != nil {
		return nil, err
	}
	need := int64(end-first) * unitCost
	if pending := x.chunks.rows + 1; first <= pending && pending < end {
		need += linesPerByte * int64(len(x.tail))
	}
	held, err := formats.Charge(ctx, need)
	if err != nil {
		return nil, err
	}
	defer held.Free()
	return x.appendIndex(nil, first, end, damage)
}

// What a piece of index.json has, and what one of these takes when it is made, about.
const (
	indexUnits = 2048
	unitCost   = 1 << 10
)

// appendIndex appends the units from first to before end of the index.json of a log whose compressed stream has that
// damage, if it has one.
func (x *index) appendIndex(dst []byte, first, end int, damage *formats.Problem) (_ []byte, err error) {
	ending := x.ending()
	head := indexHead{
		IndexHead: formats.IndexHead{Format: name, Complete: x.whole(), Finished: ending == endGameOver, End: ending},
		Totals:    x.totals(), LastSave: x.lastSave(),
	}
	pending := x.chunks.rows + 1
	var problems []formats.Problem
	if end > pending || damage != nil {
		problems = head.Damaged(x.problemList(), damage)
	}
	for n := first; n < end && err == nil; n++ {
		switch row := n - pending - 1; {
		case n == 0:
			var doc []byte
			doc, err = nodes.MarshalIndented(head)
			dst = append(append(dst, bytes.TrimSuffix(doc, []byte("\n}\n"))...), `,`+"\n  "+`"chunks": [`...)
		case n < pending:
			dst, err = appendElement(dst, n-1, x.chunkRow(n-1))
		case n == pending:
			dst = append(appendListEnd(dst, x.chunks.rows), `,`+"\n  "+`"pending": [`...)
			dst, err = x.appendPending(dst)
			dst = append(dst, `,`+"\n  "+`"problems": [`...)
		case row < len(problems):
			dst, err = appendElement(dst, row, &problems[row])
		default:
			dst = append(appendListEnd(dst, len(problems)), "\n}\n"...)
		}
	}
	return dst, err
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

// turnsOf returns the turns of the first and the last of the ticks from first to before end that has a save.
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
