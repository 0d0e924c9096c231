package parquet_test

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"recfs/formats/internal/testing/parquettest"
	"recfs/nodes/nodestest"
)

const samples = "../../../testdata/archive"

// build builds the program.
func build(t *testing.T) string {
	t.Helper()
	if fuse, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil || os.Getuid() != 0 {
		t.Skip("needs /dev/fuse and root")
	} else {
		fuse.Close()
	}
	program := filepath.Join(t.TempDir(), "recfs")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", program, "recfs/cmd/recfs").CombinedOutput(); err != nil {
		t.Skipf("recfs cannot be built: %v\n%s", err, out)
	}
	return program
}

// mount mounts a directory until the end of the test.
func mount(t *testing.T, program, source string) string {
	t.Helper()
	dir := t.TempDir()
	mnt := filepath.Join(dir, "mnt")
	cmd := exec.Command(program, "mount", "-f", "--cache-dir", filepath.Join(dir, "cache"), source, mnt)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the mount ended with %v", err)
		}
	})
	nodestest.Eventually(t, "a mount", func() bool {
		_, err := os.Stat(filepath.Join(mnt, ".recfs"))
		return err == nil
	})
	return mnt
}

// copySamples copies the samples that have up to a limit of bytes.
func copySamples(t *testing.T, limit int64) string {
	t.Helper()
	dir := t.TempDir()
	err := filepath.WalkDir(samples, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil || int64(len(b)) > limit {
			return err
		}
		to := filepath.Join(dir, strings.TrimPrefix(name, samples))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		return os.WriteFile(to, b, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// tablesBelow returns the paths of all tables below a directory.
func tablesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".parquet") {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// documentsOf returns the rows of tables as readers write them, and how many there are.
func documentsOf(t *testing.T, names []string) (documents [][]byte, rows int) {
	t.Helper()
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		table := parquettest.Read(t, b)
		documents, rows = append(documents, document(t, tableValues(table))), rows+table.Rows()
	}
	return documents, rows
}

// TestReadersOfMounts has readers read tables from mounts.
func TestReadersOfMounts(t *testing.T) {
	nodestest.Long(t)
	readers, program := readers(t), build(t)
	t.Run("samples", func(t *testing.T) { testReadersOfSamples(t, program, readers) })
	t.Run("growing", func(t *testing.T) { testReadersOfGrowing(t, program, readers) })
}

// testReadersOfSamples has all readers read each table of each sample at once, from a mount that
// has made nothing yet. Then they read the tables over all samples, which tell more with each index
// that is there.
func testReadersOfSamples(t *testing.T, program string, readers []reader) {
	mnt := mount(t, program, copySamples(t, 150<<10))
	tables := filepath.Join(mnt, "tables")
	names := tablesBelow(t, tables)
	if len(names) < 30 {
		t.Fatalf("the tables %q of samples", names)
	}
	const above = 1 // slashes in FORMAT/TABLE.parquet
	readAtOnce(t, readers, slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return strings.Count(name[len(tables)+1:], "/") <= above
	}))
	readAtOnce(t, readers, slices.DeleteFunc(names, func(name string) bool {
		return strings.Count(name[len(tables)+1:], "/") > above
	}))
}

// readAtOnce has all readers read tables at once, and compares what they got.
func readAtOnce(t *testing.T, readers []reader, names []string) {
	t.Helper()
	if len(names) == 0 {
		t.Fatal("there are no tables")
	}
	all := make([][]byte, len(readers))
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() { all[i] = readers[i].read(t, names) })
	}
	wg.Wait()
	want, _ := documentsOf(t, names)
	for i, got := range all {
		readers[i].compare(t, names, got, want)
	}
}

// testReadersOfGrowing holds that a recording which grows has more rows for who opens a table then,
// and those it had for who has it open.
func testReadersOfGrowing(t *testing.T, program string, readers []reader) {
	whole, err := os.ReadFile(filepath.Join(samples, "teehistorian", "reload-20.1.teehistorian"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "r.teehistorian"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	grow := func(b []byte) {
		if _, err := f.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	grow(whole[:len(whole)/2])
	tables := filepath.Join(mount(t, program, dir), "r.teehistorian", "tables")
	names := tablesBelow(t, tables)
	_, before := documentsOf(t, names)
	positions := filepath.Join(tables, "positions.parquet")
	open, err := os.Open(positions)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	info, err := open.Stat()
	if err != nil {
		t.Fatal(err)
	}

	grow(whole[len(whole)/2:])
	nodestest.Eventually(t, "more rows", func() bool {
		now, err := os.Stat(positions)
		return err == nil && now.Size() > info.Size()
	})
	want, after := documentsOf(t, names)
	if after <= before {
		t.Errorf("%d rows, and %d before", after, before)
	}
	for _, r := range readers {
		r.compare(t, names, r.read(t, names), want)
	}
	if old, err := io.ReadAll(open); err != nil || int64(len(old)) != info.Size() || !bytes.HasSuffix(old, []byte("PAR1")) {
		t.Errorf("%d bytes of what was open with %d, %v", len(old), info.Size(), err)
	}
}
