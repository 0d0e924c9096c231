package parquet_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"recfs/formats/internal/testing/parquettest"
)

// A reader runs a reader of Parquet that others have made.
type reader struct {
	Name    string
	command []string
}

// findReaders returns the readers that are there, and why others are not. Arrow, DuckDB and Polars
// are where the Python of this machine has them, or that which RECFS_PYTHON names, parquet-go where
// go has it.
var findReaders = sync.OnceValues(func() (found []reader, lacking error) {
	python := cmp.Or(os.Getenv("RECFS_PYTHON"), "python3")
	for _, name := range []string{"pyarrow", "duckdb", "polars"} {
		look := fmt.Sprintf("import importlib.util as u, sys; sys.exit(not u.find_spec(%q))", name) // an import takes a second
		if err := exec.Command(python, "-c", look).Run(); err != nil {
			lacking = errors.Join(lacking, fmt.Errorf("%s has no %s: %w", python, name, err))
			continue
		}
		found = append(found, reader{name, []string{python, "testdata/reader.py", name}})
	}
	const module = "testdata/reader"
	list := exec.Command("go", "list", "-C", module, "-deps", ".")
	list.Env = append(os.Environ(), readerEnv...)
	if out, err := list.CombinedOutput(); err != nil {
		return found, errors.Join(lacking, fmt.Errorf("no parquet-go, which go -C %s mod download gets: %w\n%s", module, err, out))
	}
	return append(found, reader{"parquet-go", []string{"go", "run", "-C", module, "."}}), lacking // links it once
})

// readerEnv is what readers need to be told.
var readerEnv = []string{"PYTHONUTF8=1", "GOPROXY=off", "GOWORK=off"}

// readers returns the readers that are there. The test is skipped if none is.
func readers(t *testing.T) []reader {
	t.Helper()
	found, lacking := findReaders()
	if len(found) == 0 {
		t.Skip(lacking)
	}
	if lacking != nil {
		t.Log(lacking)
	}
	return found
}

// read returns the rows of files as the reader has them, each as [document] has them.
func (r reader) read(t *testing.T, files []string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), r.command[0], append(r.command[1:len(r.command):len(r.command)], files...)...)
	cmd.Env = append(os.Environ(), readerEnv...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %v\n%s", r.Name, err, stderr.Bytes())
	}
	return out
}

// compare holds that the reader has read the rows that are wanted of each file.
func (r reader) compare(t *testing.T, files []string, out []byte, want [][]byte) {
	t.Helper()
	got := bytes.SplitAfter(out, []byte("\n"))
	if len(got) != len(want)+1 {
		t.Errorf("%s: %d files, want %d", r.Name, len(got)-1, len(want))
		return
	}
	for i := range want {
		if at := firstOther(got[i], want[i]); at >= 0 {
			from := max(0, at-100)
			t.Errorf("%s: %s: byte %d: %.200s, want %.200s", r.Name, filepath.Base(files[i]), at, got[i][from:], want[i][from:])
		}
	}
}

// firstOther returns the first place at which a and b differ, -1 if they are the same.
func firstOther(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// document returns rows as JSON, as readers write them.
func document(t *testing.T, rows [][]any) []byte {
	t.Helper()
	written := make([][]any, len(rows))
	for i, row := range rows {
		for _, v := range row {
			written[i] = append(written[i], jsonOf(v))
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(written); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// jsonOf returns a value as readers write it.
func jsonOf(v any) any {
	switch v := v.(type) {
	case float32:
		return jsonOf(float64(v))
	case float64:
		return fmt.Sprintf("%016x", math.Float64bits(v))
	case time.Time:
		return v.UnixMicro()
	}
	return v
}

// tableValues returns the rows of a table.
func tableValues(t *parquettest.Table) [][]any {
	rows := make([][]any, t.Rows())
	for i := range rows {
		rows[i] = make([]any, len(t.Columns))
		for c := range t.Columns {
			rows[i][c] = t.Columns[c].Values[i]
		}
	}
	return rows
}
