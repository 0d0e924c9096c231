package nethack

import (
	"context"
	"encoding/json"

	"recfs/formats"
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

// headerFile is header.json. A header with a problem does not open, so there is none to list.
func headerFile(src formats.Input, h *header) nodes.File {
	return nodes.JSON(func(context.Context) (any, error) {
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
			Source:     src.Info(), Header: f, Problems: []formats.Problem{},
		}, nil
	})
}

type indexDocument struct {
	formats.IndexHead
	Totals   totals            `json:"totals"`
	LastSave *lastSave         `json:"last_save"`
	Chunks   []chunkRow        `json:"chunks"`
	Pending  []json.RawMessage `json:"pending"`
	Problems []formats.Problem `json:"problems"`
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

// document makes index.json of a log whose compressed stream has that damage, if it has one.
func (x *index) document(ctx context.Context, damage *formats.Problem) ([]byte, error) {
	end := x.ending()
	doc := indexDocument{
		IndexHead: formats.IndexHead{Format: name, Complete: x.whole(), Finished: end == endGameOver, End: end},
		Totals:    x.totals(), LastSave: x.lastSave(), Chunks: x.chunkRows(), Pending: []json.RawMessage{}, Problems: x.problemList(),
	}
	doc.Problems = doc.IndexHead.Damaged(doc.Problems, damage)
	pending, err := x.pending(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range pending {
		doc.Pending = append(doc.Pending, e)
	}
	return nodes.MarshalIndented(doc)
}

func (x *index) totals() totals {
	t := totals{
		Bytes: x.size, Lines: x.now.lines, Commands: x.now.commands, Ticks: x.ticks.len(), Saves: x.names.byTurn.rows,
		Backups: len(x.chunks), Turns: x.names.turns, Partial: x.size - x.end,
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

func (x *index) chunkRows() []chunkRow {
	rows := make([]chunkRow, len(x.chunks))
	for i, first := range x.chunks {
		end, endOff := x.chainEnd(first), x.end
		if end < x.ticks.len() {
			endOff = x.ticks.off(end)
		}
		size := endOff - x.ticks.off(first)
		rows[i] = chunkRow{
			Chunk: i, FirstTick: first, LastTick: end - 1, Ticks: end - first,
			Offset: x.ticks.off(first), Stored: size, Size: size,
		}
		rows[i].FirstTurn, rows[i].LastTurn = x.turnsOf(first, end)
	}
	return rows
}
