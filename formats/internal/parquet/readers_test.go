package parquet_test

import (
	"os"
	"path/filepath"
	"testing"

	"recfs/formats/columnar"
	"recfs/formats/internal/testing/parquettest"
	"recfs/nodes/nodestest"
)

// TestReaders holds that others read what is written, also numbers that are written as differences.
func TestReaders(t *testing.T) {
	nodestest.Long(t)
	readers := readers(t)
	rows := rowsOf(columnar.GroupRows + 100)
	var values [][]any
	for _, r := range rows {
		values = append(values, r)
	}
	table := tableOf(rows[:9], rows[9:columnar.GroupRows], rows[columnar.GroupRows:])
	all, rising := document(t, values), compress(t, numberTable(manyNumbers()...))
	dir, files, want := t.TempDir(), []string{}, [][]byte{}
	for _, f := range []struct {
		name       string
		file, want []byte
	}{
		{"computed", write(t, table), all},
		{"compressed", compress(t, table), all},
		{"rising", rising, document(t, tableValues(parquettest.Read(t, rising)))},
	} {
		name := filepath.Join(dir, f.name+".parquet")
		if err := os.WriteFile(name, f.file, 0o666); err != nil {
			t.Fatal(err)
		}
		files, want = append(files, name), append(want, f.want)
	}
	for _, r := range readers {
		t.Run(r.Name, func(t *testing.T) { r.compare(t, files, r.read(t, files), want) })
	}
}
