package datafile

import (
	"context"
	"encoding/json"
	"strconv"

	"recfs/formats"
)

// header is header.json.
func (t *tree) header(context.Context) (any, error) {
	h := &t.r.Header
	size, swaplen := h.sizeChecks()
	return struct {
		formats.HeaderHead
		Source   formats.SourceInfo `json:"source"`
		Header   any                `json:"header"`
		Problems problemList        `json:"problems"`
	}{
		formats.HeaderHead{Format: formatName, FormatVersion: strconv.Itoa(int(h.Version))},
		t.src.Info(),
		struct {
			Header
			SizeCheck    sizeCheck `json:"size_check"`
			SwaplenCheck sizeCheck `json:"swaplen_check"`
			Total        int64     `json:"total"`
			Missing      int64     `json:"missing"`
			Trailing     int64     `json:"trailing"`
		}{*h, size, swaplen, h.Total(), t.r.Missing(), t.r.Trailing()},
		t.tableProblems().sorted(),
	}, nil
}

// tableProblems are what header and tables show.
func (t *tree) tableProblems() problemList {
	l := t.r.headerProblems()
	r, h := t.r, &t.r.Header
	start, end := r.ItemsOf(typeUUIDIndex)
	for i := start; i < end; i++ {
		it := r.Items[i]
		if r.repeats[i] > 0 {
			l.add("duplicate_uuid_index", t.itemPath(i), it.Offset, "item %d repeats the index of type %d", i, it.ID)
		}
		if it.Size < uuidIndexSize {
			l.add("uuid_index_short", t.itemPath(i), it.Offset, "item %d of the type index has %d bytes, %d are needed", i, it.Size, uuidIndexSize)
		}
	}
	for i, d := range r.Data {
		if i == 0 && d.Offset > h.dataAt() {
			l.add("data_gap", "", h.dataOffsetsAt(), "data 0 has offset %d, expected 0", d.Offset-h.dataAt())
		}
		if d.Size == 0 {
			l.add("data_size_zero", dataPath(i), h.sizeEntry(i), "data %d is empty", i)
		}
	}
	return l.sorted()
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

// index is index.json.
func (t *tree) index(ctx context.Context) (any, error) {
	found, err := t.found.Get(ctx, struct{}{})
	if err != nil {
		return nil, err
	}
	types, items, data := t.typeList(), t.itemList(), t.dataList()
	totals := totalsEntry{
		Total: t.r.Header.Total(), Bytes: t.src.Size, Missing: t.r.Missing(), Trailing: t.r.Trailing(),
		ItemTypes: len(types), Items: len(items), Data: len(data),
	}
	for _, d := range data {
		totals.Stored += d.Stored
		totals.Size += d.Size
	}
	whole := totals.Missing == 0
	return struct {
		formats.IndexHead
		Totals    totalsEntry `json:"totals"`
		ItemTypes []typeEntry `json:"item_types"`
		Items     []itemEntry `json:"items"`
		Data      []dataEntry `json:"data"`
		Problems  problemList `json:"problems"`
	}{
		formats.IndexHead{Format: formatName, Complete: whole, Finished: whole, End: t.r.end()},
		totals, types, items, data, found.problems,
	}, nil
}

func (t *tree) typeList() []typeEntry {
	list := make([]typeEntry, len(t.r.Types))
	for i, typ := range t.r.Types {
		list[i] = typeEntry{TypeID: typ.ID, Name: t.r.TypeName(typ.ID), Start: typ.Start, Num: typ.Num}
		if id, ok := t.r.UUID(typ.ID); ok {
			list[i].UUID = id.String()
		}
	}
	return list
}

func (t *tree) itemList() []itemEntry {
	list := make([]itemEntry, len(t.r.Items))
	for i, it := range t.r.Items {
		list[i] = itemEntry{i, it.Type, it.ID, it.Offset, it.Size, t.itemPath(i)}
	}
	return list
}

// dataList names for each data item the items that refer to it.
func (t *tree) dataList() []dataEntry {
	list := make([]dataEntry, len(t.r.Data))
	for i, d := range t.r.Data {
		list[i] = dataEntry{i, d.Offset, d.Stored, d.Size, []string{}}
	}
	for i := range t.r.Items {
		for _, ref := range t.r.references(i) {
			if ref < 0 || int(ref) >= len(list) {
				continue
			}
			used, path := &list[ref].UsedBy, t.itemPath(i)
			if n := len(*used); n == 0 || (*used)[n-1] != path {
				*used = append(*used, path)
			}
		}
	}
	return list
}

// smallIndex is how much data a file must announce for its problems to be
// kept on disk: less is inflated as fast as a file is opened.
const smallIndex = 8 << 20

// indexRevision is raised whenever a scan of the same file would find other
// problems or say them in other words, or they are saved in another form.
const indexRevision = 3

// A findings is the problems of index.json, and the bytes that they were found in.
type findings struct {
	problems problemList
	seal     formats.Seal
}

// A savedIndex is what is kept on disk of a scan. Everything in front of the
// problems must fit for them to be true again.
type savedIndex struct {
	Revision int
	Seal     formats.Seal
	MaxData  int64
	Problems problemList
}

func (t *tree) indexName(struct{}) string {
	size := int64(0)
	for _, d := range t.r.Data {
		size += d.Size
	}
	if t.src.ID == "" || size < smallIndex {
		return ""
	}
	return t.src.ID + "/" + formatName
}

func (t *tree) encodeIndex(f findings) []byte {
	b, err := json.Marshal(savedIndex{indexRevision, f.seal, t.r.MaxData, f.problems})
	if err != nil {
		return nil
	}
	return b
}

func (t *tree) decodeIndex(ctx context.Context, _ struct{}, b []byte) (findings, int64, error) {
	var saved savedIndex
	if err := json.Unmarshal(b, &saved); err != nil {
		return findings{}, 0, err
	}
	if saved.Revision != indexRevision || saved.MaxData != t.r.MaxData {
		return findings{}, 0, formats.ErrOther
	}
	fit, _, err := saved.Seal.Fit(ctx, t.src)
	if err != nil {
		return findings{}, 0, err
	}
	if fit != formats.Same {
		return findings{}, 0, formats.ErrOther
	}
	saved.Seal.Stamp = t.src.Stamp
	return findings{saved.Problems, saved.Seal}, saved.Problems.cost(), nil
}
