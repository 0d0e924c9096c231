package datafile

import (
	"context"
	"slices"

	"recfs/formats"
	"recfs/formats/views"
)

// problemList is the list of all problems, of header, tables and others.
func (t *tree) problemList(others problemList) views.List {
	return views.List{Key: "problems", N: t.r.problemParts(), Append: func(_ context.Context, b []byte, part int) ([]byte, error) {
		return appendElements(b, t.r.problemsIn(part, others))
	}}
}

// headerText is header.json.
func (t *tree) headerText(context.Context) (*views.Text, error) {
	h := &t.r.Header
	fields, table := h.sizeFields(), h.dataSizesLen()
	return document(0, struct {
		formats.HeaderHead
		Source   formats.SourceInfo `json:"source"`
		Header   any                `json:"header"`
		Problems formats.LongList   `json:"problems"`
	}{
		formats.HeaderHead{Format: formatName, FormatVersion: t.r.formatVersion()},
		t.Info(),
		struct {
			Header
			SizeCheck    sizeCheck `json:"size_check"`
			SwaplenCheck sizeCheck `json:"swaplen_check"`
			Total        int64     `json:"total"`
			Missing      int64     `json:"missing"`
			Trailing     int64     `json:"trailing"`
		}{*h, fields[0].check(table), fields[1].check(table), h.Total(), t.r.Missing(), t.r.Trailing()},
		formats.LongList{},
	}, t.problemList(nil)), nil
}

// indexText is index.json.
func (t *tree) indexText(ctx context.Context, x *index) (*views.Text, error) {
	damage, err := t.Damage(ctx)
	if err != nil {
		return nil, err
	}
	totals := totalsEntry{
		Total: t.r.Header.Total(), Bytes: t.Size, Missing: t.r.Missing(), Trailing: t.r.Trailing(),
		ItemTypes: len(t.r.Types), Items: len(t.r.Items), Data: len(t.r.Data),
	}
	for _, d := range t.r.Data {
		totals.Stored += d.Stored
		totals.Size += d.Size
	}
	whole := totals.Missing == 0
	doc := struct {
		formats.IndexHead
		Totals    totalsEntry      `json:"totals"`
		ItemTypes formats.LongList `json:"item_types"`
		Items     formats.LongList `json:"items"`
		Data      formats.LongList `json:"data"`
		Problems  formats.LongList `json:"problems"`
	}{IndexHead: formats.IndexHead{Format: formatName, Complete: whole, Finished: whole, End: t.r.end()}, Totals: totals}
	problems := doc.IndexHead.Damaged(slices.Clip(x.problems), damage)
	users := t.m.users(len(t.r.Data))
	return document(x.Memory()+int64(40*len(users)), doc,
		elementList("item_types", len(t.r.Types), elementText, t.typeEntry),
		elementList("items", len(t.r.Items), elementText, func(_ context.Context, i int) (any, error) {
			it := t.r.Items[i]
			return itemEntry{i, it.Type, it.ID, it.Offset, it.Size, t.r.itemPath(i)}, nil
		}),
		elementList("data", len(t.r.Data), elementText, func(_ context.Context, i int) (any, error) {
			return t.dataEntry(i, users[i]), nil
		}),
		t.problemList(problems)), nil
}

func (t *tree) typeEntry(_ context.Context, i int) (any, error) {
	typ := t.r.Types[i]
	e := typeEntry{TypeID: typ.ID, Name: t.r.TypeName(typ.ID), Start: typ.Start, Num: typ.Num}
	if id, ok := t.r.UUID(typ.ID); ok {
		e.UUID = id.String()
	}
	return e, nil
}

func (t *tree) dataEntry(i int, users []int) dataEntry {
	d := t.r.Data[i]
	e := dataEntry{i, d.Offset, d.Stored, d.Size, []string{}}
	for _, item := range users {
		e.UsedBy = append(e.UsedBy, t.r.itemPath(item))
	}
	return e
}
