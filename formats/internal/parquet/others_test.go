package parquet_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"testing"
	"time"

	"recfs/formats/internal/testing/parquettest"
)

// readerNames are the readers of Parquet that others have made.
var readerNames = []string{"pyarrow", "duckdb", "polars", "parquet-go"}

// A reader runs one of them.
type reader struct {
	Name    string
	command []string
}

// findReader returns a reader by its name, or why it is not there: Arrow, DuckDB and Polars are
// where the Python of this machine, or that which RECFS_PYTHON names, has them, parquet-go where go
// has it.
func findReader(t *testing.T, name string) (reader, error) {
	if name != "parquet-go" {
		python := cmp.Or(os.Getenv("RECFS_PYTHON"), "python3")
		look := fmt.Sprintf("import importlib.util as u, sys; sys.exit(not u.find_spec(%q))", name) // an import takes a second
		if err := exec.Command(python, "-c", look).Run(); err != nil {
			return reader{}, fmt.Errorf("%s has no %s: %w", python, name, err)
		}
		return reader{name, []string{python, "testdata/reader.py", name}}, nil
	}
	const module = "testdata/reader"
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOWORK", "off")
	if out, err := exec.CommandContext(t.Context(), "go", "list", "-C", module, "-deps", ".").CombinedOutput(); err != nil {
		return reader{}, fmt.Errorf("no parquet-go, which go -C %s mod download gets: %w\n%s", module, err, out)
	}
	return reader{name, []string{"go", "run", "-C", module, "."}}, nil // links it once
}

// lines returns the rows of files as the reader has them, a line each, as [linesOfRows] does.
func (r reader) lines(t *testing.T, files ...string) ([]string, error) {
	cmd := exec.CommandContext(t.Context(), r.command[0], append(r.command[1:len(r.command):len(r.command)], files...)...)
	cmd.Env = append(os.Environ(), "PYTHONUTF8=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", r.Name, err, stderr.Bytes())
	}
	var lines []string
	for line := range bytes.Lines(out) {
		var same bytes.Buffer
		if err := json.Compact(&same, line); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		lines = append(lines, same.String())
	}
	return lines, nil
}

// linesOfRows returns rows as JSON, as readers write them.
func linesOfRows(t *testing.T, rows [][]any) (lines []string) {
	t.Helper()
	for _, row := range rows {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		values := make([]any, len(row))
		for i, v := range row {
			values[i] = jsonOf(v)
		}
		if err := enc.Encode(values); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))))
	}
	return lines
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

// compareLines says which line of a reader is another one.
func compareLines(t *testing.T, name string, got, want []string) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("%s: row %d: %s, want %s", name, i, got[i], want[i])
			return
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d rows, want %d", name, len(got), len(want))
	}
}
