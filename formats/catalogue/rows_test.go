package catalogue

import (
	"fmt"
	"testing"

	"recfs/formats/columnar"
	"recfs/formats/internal/ledger"
	"recfs/formats/internal/parquet"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/internal/testing/parquettest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// The rows of very many recordings are in several groups, which begin in the middle of a block.
func TestParquetOfMany(t *testing.T) {
	nodestest.Long(t)
	const lines = columnar.GroupRows + 5000
	w := ledger.NewWriter(ledger.NewSink(nil, ""))
	for i := range lines {
		w.Append(ledger.Record{Path: fmt.Sprintf("%06d", i), Line: fmt.Sprintf("{\"path\":\"%06d\",\"format\":\"rec\",\"size\":%d}\n", i, i)})
		if i%7 == 0 {
			w.Append(ledger.Record{Path: fmt.Sprintf("%06d.txt", i)}) // which is no recording
		}
	}
	c := formatstest.NewCache(t)
	s := file{w.List(), ledger.NewPages(c)}
	b, err := nodes.ReadAll(t.Context(), parquet.File(c, s.maker(), parquet.Pair{Key: "recfs.table", Value: "recordings"}))
	if err != nil {
		t.Fatal(err)
	}
	table := parquettest.Read(t, b)
	if table.Rows() != lines {
		t.Fatalf("%d rows", table.Rows())
	}
	for _, column := range table.Columns {
		if column.Name != "path" && column.Name != "size" {
			continue
		}
		for i, v := range column.Values {
			if v != fmt.Sprintf("%06d", i) && v != int64(i) {
				t.Fatalf("row %d has %s %v", i, column.Name, v)
			}
		}
	}
}
