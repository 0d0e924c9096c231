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

// indexText is index.json in pieces of units: what is in front of the chunks, each chunk, what is
// pending, each problem, and the end.
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

// appendIndex appends the units from first to before end of the index.json of a log whose
// compressed stream has that damage, if it has one.
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
