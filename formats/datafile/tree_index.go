package datafile

import (
	"context"
	"slices"
	"strconv"

	"recfs/formats"
)

func (t *Tables) formatVersion() string { return strconv.Itoa(int(t.Header.Version)) }

// header is header.json.
func (v *view) header(context.Context) (any, error) {
	h := &v.r.Header
	size, swaplen := h.sizeChecks()
	return struct {
		formats.HeaderHead
		Source   formats.SourceInfo `json:"source"`
		Header   any                `json:"header"`
		Problems problemList        `json:"problems"`
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
		v.r.tableProblems(),
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
func (v *view) index(x *index, damage *formats.Problem) any {
	types, items, data := v.typeList(), v.itemList(), v.dataList()
	totals := totalsEntry{
		Total: v.r.Header.Total(), Bytes: v.src.Size, Missing: v.r.Missing(), Trailing: v.r.Trailing(),
		ItemTypes: len(types), Items: len(items), Data: len(data),
	}
	for _, d := range data {
		totals.Stored += d.Stored
		totals.Size += d.Size
	}
	whole := totals.Missing == 0
	doc := struct {
		formats.IndexHead
		Totals    totalsEntry `json:"totals"`
		ItemTypes []typeEntry `json:"item_types"`
		Items     []itemEntry `json:"items"`
		Data      []dataEntry `json:"data"`
		Problems  problemList `json:"problems"`
	}{
		formats.IndexHead{Format: formatName, Complete: whole, Finished: whole, End: v.r.end()},
		totals, types, items, data, nil,
	}
	doc.Problems = doc.IndexHead.Damaged(slices.Clone(x.problems), damage)
	return doc
}

func (v *view) typeList() []typeEntry {
	list := make([]typeEntry, len(v.r.Types))
	for i, typ := range v.r.Types {
		list[i] = typeEntry{TypeID: typ.ID, Name: v.r.TypeName(typ.ID), Start: typ.Start, Num: typ.Num}
		if id, ok := v.r.UUID(typ.ID); ok {
			list[i].UUID = id.String()
		}
	}
	return list
}

func (v *view) itemList() []itemEntry {
	list := make([]itemEntry, len(v.r.Items))
	for i, it := range v.r.Items {
		list[i] = itemEntry{i, it.Type, it.ID, it.Offset, it.Size, v.r.itemPath(i)}
	}
	return list
}

// dataList names for each data item the items that refer to it.
func (v *view) dataList() []dataEntry {
	users := make([][]int, len(v.r.Data))
	v.m.references(func(item int, ref int32) {
		if ref >= 0 && int(ref) < len(users) {
			users[ref] = append(users[ref], item)
		}
	})
	list := make([]dataEntry, len(v.r.Data))
	for i, d := range v.r.Data {
		list[i] = dataEntry{i, d.Offset, d.Stored, d.Size, []string{}}
		slices.Sort(users[i])
		for _, item := range slices.Compact(users[i]) {
			list[i].UsedBy = append(list[i].UsedBy, v.r.itemPath(item))
		}
	}
	return list
}
