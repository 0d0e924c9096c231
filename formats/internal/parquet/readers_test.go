package parquet_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"recfs/formats/columnar"
)

// TestReaders holds that others read what is written: Arrow and DuckDB, where the Python of this machine, or
// that which RECFS_PYTHON names, has them, and parquet-go, where go has it.
func TestReaders(t *testing.T) {
	python := cmp.Or(os.Getenv("RECFS_PYTHON"), "python3")
	rows := rowsOf(columnar.GroupRows + 100)
	table := tableOf(rows[:9], rows[9:columnar.GroupRows], rows[columnar.GroupRows:])
	for kind, file := range map[string][]byte{"computed": write(t, table), "compressed": compress(t, table)} {
		t.Run(kind, func(t *testing.T) { testReaders(t, python, file, rows) })
	}
}

func testReaders(t *testing.T, python string, file []byte, rows []row) {
	name := filepath.Join(t.TempDir(), "all.parquet")
	if err := os.WriteFile(name, file, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, reader := range []string{"pyarrow", "duckdb"} {
		t.Run(reader, func(t *testing.T) {
			if err := exec.Command(python, "-c", "import "+reader).Run(); err != nil {
				t.Skipf("%s has no %s: %v", python, reader, err)
			}
			cmd := exec.CommandContext(t.Context(), python, "testdata/reader.py", reader, name)
			cmd.Env = append(os.Environ(), "PYTHONUTF8=1")
			compareLines(t, cmd, rows)
		})
	}
	t.Run("parquet-go", func(t *testing.T) {
		program := filepath.Join(t.TempDir(), "reader")
		build := exec.CommandContext(t.Context(), "go", "build", "-C", "testdata/reader", "-o", program, ".")
		build.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off")
		if out, err := build.CombinedOutput(); err != nil {
			t.Skipf("no parquet-go, which go -C %s mod download gets: %v\n%s", build.Args[3], err, out)
		}
		compareLines(t, exec.CommandContext(t.Context(), program, name), rows)
	})
}

// compareLines compares what a reader of testdata writes with rows.
func compareLines(t *testing.T, reader *exec.Cmd, rows []row) {
	t.Helper()
	got, err := reader.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, err.(*exec.ExitError).Stderr)
	}
	lines := bytes.Split(bytes.TrimSuffix(got, []byte("\n")), []byte("\n"))
	if len(lines) != len(rows) {
		t.Fatalf("%d rows, want %d", len(lines), len(rows))
	}
	for i, line := range lines {
		var values []any
		for _, v := range rows[i] {
			values = append(values, written(v))
		}
		want, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		var same bytes.Buffer
		if err := json.Compact(&same, line); err != nil || same.String() != string(want) {
			t.Fatalf("row %d: %s, want %s, %v", i, line, want, err)
		}
	}
}

// written returns a value as testdata/reader.py writes it.
func written(v any) any {
	switch v := v.(type) {
	case float32:
		return written(float64(v))
	case float64:
		return fmt.Sprintf("%016x", math.Float64bits(v))
	case time.Time:
		return v.UnixMicro()
	}
	return v
}
