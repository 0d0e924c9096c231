package parquet_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"recfs/formats/columnar"
	"recfs/formats/internal/testing/parquettest"
)

// TestOrigins holds that the columns before the own ones have the recording of each row and its
// start, in a computed file and a compressed one, with their bounds.
func TestOrigins(t *testing.T) {
	long := strings.Repeat("x", 1025)
	for _, list := range [][]columnar.Origin{
		{{Path: "a", Start: -62135596800e6, Dated: true, Rows: 300}},
		{{Path: "a", Rows: 300}},
		{{Path: long, Rows: 300}},
		{{Path: "b", Start: 7, Dated: true, Rows: 1}, {Path: "a", Rows: 200}, {Path: "c", Start: 5, Dated: true, Rows: 98}, {Path: "", Start: 9, Dated: true, Rows: 1}},
	} {
		rows := rowsOf(300)
		table := tableOf(rows).WithOrigins(false, func(int) []columnar.Origin { return list })
		var paths, starts []any
		for _, o := range list {
			paths = append(paths, slices.Repeat([]any{o.Path}, o.Rows)...)
			start := any(nil)
			if o.Dated {
				start = time.UnixMicro(o.Start).UTC()
			}
			starts = append(starts, slices.Repeat([]any{start}, o.Rows)...)
		}
		for name, file := range map[string][]byte{"computed": write(t, table), "compressed": compress(t, table)} {
			got := parquettest.Read(t, file)
			if !reflect.DeepEqual(paths, got.Columns[0].Values) || !reflect.DeepEqual(starts, got.Columns[1].Values) {
				t.Errorf("%s: %.40q %v", name, got.Columns[0].Values, got.Columns[1].Values)
			}
			if b := got.Columns[0].Bounds[0]; (b[0] == nil) != (list[0].Path == long) {
				t.Errorf("%s: a recording is between %.40q", name, b)
			}
			if b := got.Columns[1].Bounds[0]; (b[0] == nil) != !slices.ContainsFunc(list, func(o columnar.Origin) bool { return o.Dated }) {
				t.Errorf("%s: a start is between %v", name, b)
			}
			if !got.Columns[0].Dictionary[0] || got.Columns[0].Pages[0] != 1 {
				t.Errorf("%s: recording has no dictionary", name)
			}
			for i, c := range got.Columns[2:] {
				if want := valuesOf(rows, i); !reflect.DeepEqual(want, c.Values) {
					t.Errorf("%s: %s is %v, want %v", name, c.Name, c.Values, want)
				}
			}
		}
	}
	if got := parquettest.Read(t, write(t, tableOf(rowsOf(1)).WithOrigins(true, func(int) []columnar.Origin { return []columnar.Origin{{Path: "a", Rows: 1}} }))); got.Columns[1].Name == "start" {
		t.Error("a recording of no game has a start")
	}
}

// valuesOf returns the values of a column.
func valuesOf(rows []row, column int) (list []any) {
	for _, r := range rows {
		list = append(list, r[column])
	}
	return list
}
