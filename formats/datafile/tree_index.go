package datafile

import (
	"context"
	"slices"
	"strconv"

	"recfs/formats"
)

func (t *Tables) formatVersion() string { return strconv.Itoa(int(t.Header.Version)) }

// header is header.json.
func (v *view) header(context.Context) (longText, error) {
	h := &v.r.Header
	size, swaplen := h.sizeChecks()
	doc := struct {
		formats.HeaderHead
		Source   formats.SourceInfo `json:"source"`
		Header   any                `json:"header"`
		Problems emptyList          `json:"problems"`
	}{
		formats.HeaderHead{Format: formatName, FormatVersion: v.r.formatVersion()},
		v.src.Info(),
		struct {
			Header
			SizeCheck    sizeCheck `json:"size_check"`
			SwaplenCheck sizeCheck `json:"swaplen_check"`
			Total        int64     `json:"total"`
			Missing      int64     `json:"missing"`
			Trailing     int64     `json:"trailing"`
		}{*h, size, swaplen, h.Total(), v.r.Missing(), v.r.Trailing()},
		emptyList{},
	}
	return longText{
		document: func(context.Context) (any, error) { return doc, nil }, lists: []longList{elementListOf(v.r.tableProblems())},
	}, nil
}

// How a file ends (docs/tree/datafile.md section 3).
const (
	endClean     = "clean"          // where the header says
	endTruncated = "truncated"      // before that
	endTrailing  = "trailing_bytes" // after that
)

// end says how the file ends.
func (r *Reader) end() string {
	switch {
	case r.Missing() > 0:
		return endTruncated
	case r.Trailing() > 0:
		return endTrailing
	}
	return endClean
}

type totalsEntry struct {
	Total     int64 `json:"total"` // length that the header gives
	Bytes     int64 `json:"bytes"` // of the file
	Missing   int64 `json:"missing"`
	Trailing  int64 `json:"trailing"`
	ItemTypes int   `json:"item_types"`
	Items     int   `json:"items"`
	Data      int   `json:"data"`
	Stored    int64 `json:"stored"`
	Size      int64 `json:"size"`
}

type typeEntry struct {
	TypeID uint16 `json:"type_id"`
	Name   string `json:"name"`
	UUID   string `json:"uuid,omitempty"`
	Start  int    `json:"start"`
	Num    int    `json:"num"`
}

type itemEntry struct {
	Item   int    `json:"item"`
	TypeID uint16 `json:"type_id"`
	ID     uint16 `json:"id"`
	Offset int64  `json:"offset"`
	Size   int32  `json:"size"`
	Path   string `json:"path"`
}

type dataEntry struct {
	Data   int      `json:"data"`
	Offset int64    `json:"offset"`
	Stored int64    `json:"stored"`
	Size   int64    `json:"size"`
	UsedBy []string `json:"used_by"`
}

// index is index.json. damage is that of the compressed stream, nil if there is none.
func (v *view) index(x *index, damage *formats.Problem) longText {
	totals := totalsEntry{
		Total: v.r.Header.Total(), Bytes: v.src.Size, Missing: v.r.Missing(), Trailing: v.r.Trailing(),
		ItemTypes: len(v.r.Types), Items: len(v.r.Items), Data: len(v.r.Data),
	}
	for _, d := range v.r.Data {
		totals.Stored += d.Stored
		totals.Size += d.Size
	}
	whole := totals.Missing == 0
	doc := struct {
		formats.IndexHead
		Totals    totalsEntry `json:"totals"`
		ItemTypes emptyList   `json:"item_types"`
		Items     emptyList   `json:"items"`
		Data      emptyList   `json:"data"`
		Problems  emptyList   `json:"problems"`
	}{
		formats.IndexHead{Format: formatName, Complete: whole, Finished: whole, End: v.r.end()},
		totals,
		emptyList{},
		emptyList{},
		emptyList{},
		emptyList{},
	}
	problems := doc.IndexHead.Damaged(x.problems[:len(x.problems):len(x.problems)], damage)
	users := v.users()
	return longText{
		document: func(context.Context) (any, error) { return doc, nil },
		lists: []longList{
			elementList(len(v.r.Types), elementText, v.typeEntry),
			elementList(len(v.r.Items), elementText, func(_ context.Context, i int) (any, error) {
				it := v.r.Items[i]
				return itemEntry{i, it.Type, it.ID, it.Offset, it.Size, v.r.itemPath(i)}, nil
			}),
			elementList(len(v.r.Data), elementText, func(_ context.Context, i int) (any, error) { return v.dataEntry(i, users[i]), nil }),
			elementListOf(problems),
		},
	}
}

func (v *view) typeEntry(_ context.Context, i int) (any, error) {
	typ := v.r.Types[i]
	e := typeEntry{TypeID: typ.ID, Name: v.r.TypeName(typ.ID), Start: typ.Start, Num: typ.Num}
	if id, ok := v.r.UUID(typ.ID); ok {
		e.UUID = id.String()
	}
	return e, nil
}

func (v *view) dataEntry(i int, users []int) dataEntry {
	d := v.r.Data[i]
	e := dataEntry{i, d.Offset, d.Stored, d.Size, []string{}}
	for _, item := range users {
		e.UsedBy = append(e.UsedBy, v.r.itemPath(item))
	}
	return e
}

// users are the items that refer to each data item.
func (v *view) users() [][]int {
	users := make([][]int, len(v.r.Data))
	v.m.references(func(item int, ref int32) {
		if ref >= 0 && int(ref) < len(users) {
			users[ref] = append(users[ref], item)
		}
	})
	for i := range users {
		slices.Sort(users[i])
		users[i] = slices.Compact(users[i])
	}
	return users
}
