package parquet_test

import (
	"os"
	"path/filepath"
	"testing"

	"recfs/formats/columnar"
	"recfs/formats/internal/testing/parquettest"
	"recfs/nodes/nodestest"
)

// TestReaders holds that others read what is written.
func TestReaders(t *testing.T) {
	nodestest.Long(t)
	rows := rowsOf(columnar.GroupRows + 100)
	var values [][]any
	for _, r := range rows {
		values = append(values, r)
	}
	table := tableOf(rows[:9], rows[9:columnar.GroupRows], rows[columnar.GroupRows:])
	for kind, file := range map[string][]byte{"computed": write(t, table), "compressed": compress(t, table)} {
		t.Run(kind, func(t *testing.T) { testReaders(t, file, values) })
	}
}

// TestReadersOfRising holds that others read numbers that are written as differences.
func TestReadersOfRising(t *testing.T) {
	nodestest.Long(t)
	file := compress(t, numberTable(manyNumbers()...))
	testReaders(t, file, tableValues(parquettest.Read(t, file)))
}

func testReaders(t *testing.T, file []byte, values [][]any) {
	name := filepath.Join(t.TempDir(), "all.parquet")
	if err := os.WriteFile(name, file, 0o666); err != nil {
		t.Fatal(err)
	}
	want := linesOfRows(t, values)
	for _, reader := range readerNames {
		t.Run(reader, func(t *testing.T) {
			r, err := findReader(t, reader)
			if err != nil {
				t.Skip(err)
			}
			got, err := r.lines(t, name)
			if err != nil {
				t.Fatal(err)
			}
			compareLines(t, reader, got, want)
		})
	}
}
