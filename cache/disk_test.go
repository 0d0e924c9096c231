package cache

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recfs/nodes/nodestest"
)

func tempDisk(t *testing.T, limit int64) (*Disk, *bytes.Buffer) {
	var out bytes.Buffer
	return NewDisk(t.TempDir(), limit, slog.New(slog.NewTextHandler(&out, nil))), &out
}

// path returns where something is kept.
func (d *Disk) path(name, ext string) string { return filepath.Join(d.base, place(name, ext)) }

func TestDiskKeeps(t *testing.T) {
	d, _ := tempDisk(t, 1<<20)
	if _, ok := d.Load(t.Context(), "a"); ok {
		t.Error("loaded what was never saved")
	}
	for _, data := range []string{"one", "", "two"} {
		d.Save("a", []byte(data))
		if b, ok := d.Load(t.Context(), "a"); !ok || string(b) != data {
			t.Errorf("%q, %v, want %q", b, ok, data)
		}
	}
	again := NewDisk(filepath.Dir(d.Dir()), 1<<20, nil)
	if b, ok := again.Load(t.Context(), "a"); !ok || string(b) != "two" {
		t.Errorf("another process: %q, %v", b, ok)
	}
	info, err := os.Stat(d.Dir())
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(d.Dir()), "CACHEDIR.TAG")); err != nil {
		t.Error(err)
	}
}

// Whatever happens to a sidecar, it is a miss or what was saved.
func TestDiskDamage(t *testing.T) {
	d, out := tempDisk(t, 1<<20)
	file := d.path("name", sidecarExt)
	data := []byte("some data worth keeping")
	rapid.Check(t, func(r *rapid.T) {
		d.Save("name", data)
		b, err := os.ReadFile(file)
		if err != nil {
			r.Fatal(err)
		}
		switch i := rapid.IntRange(0, len(b)-1).Draw(r, "at"); rapid.IntRange(0, 2).Draw(r, "how") {
		case 0:
			b[i] ^= byte(rapid.IntRange(1, 255).Draw(r, "bits"))
		case 1:
			b = b[:i]
		case 2:
			b = append(b, make([]byte, i+1)...)
		}
		if err := os.WriteFile(file, b, 0o600); err != nil {
			r.Fatal(err)
		}
		if got, ok := d.Load(t.Context(), "name"); ok {
			r.Fatalf("loaded %q", got)
		}
		if _, err := os.Stat(file); err == nil {
			r.Fatal("the damaged file is still there")
		}
	})
	if out.Len() == 0 {
		t.Error("nobody was told")
	}
	d.Save("other", data)
	if err := os.Rename(d.path("other", sidecarExt), file); err != nil {
		t.Fatal(err)
	}
	if _, ok := d.Load(t.Context(), "name"); ok {
		t.Error("loaded what was saved under another name")
	}
}

// A file that is no sidecar is a miss, however large, without being read.
func TestDiskForeign(t *testing.T) {
	d, _ := tempDisk(t, 1<<20)
	file := d.path("name", sidecarExt)
	d.Save("name", []byte("data"))
	sound, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const huge = 10 << 30
	longer := bytes.Clone(sound[:len(sound)-4])
	binary.LittleEndian.PutUint64(longer[len(sidecarMagic)+8:], huge-uint64(sidecarHeader+len("name")+4))
	for what, start := range map[string][]byte{"zeros": nil, "sound at its start": sound, "as long as it says": longer} {
		if err := os.WriteFile(file, start, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, huge); err != nil {
			t.Skip(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if b, ok := d.Load(t.Context(), "name"); ok {
			t.Errorf("%s: %d bytes", what, len(b))
		}
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 1<<20 {
			t.Errorf("%s: %d bytes of memory", what, after.TotalAlloc-before.TotalAlloc)
		}
		d.Save("name", []byte("data"))
		if b, ok := d.Load(t.Context(), "name"); !ok || string(b) != "data" {
			t.Errorf("%s: %q, %v after that", what, b, ok)
		}
	}
}

func TestDiskIsBounded(t *testing.T) {
	const limit = 100_000
	d, _ := tempDisk(t, limit)
	day := time.Now().Add(-24 * time.Hour)
	for i := range 300 {
		name := fmt.Sprint("n", i)
		d.Save(name, make([]byte, 1000))
		os.Chtimes(d.path(name, sidecarExt), day, day.Add(time.Duration(i)*time.Second))
		if i == 250 { // used again, so it stays
			d.Load(t.Context(), "n170")
		}
	}
	items, err := d.Items()
	if err != nil || sum(items) > limit {
		t.Errorf("%d bytes, %v", sum(items), err)
	}
	if _, ok := d.Load(t.Context(), "n0"); ok {
		t.Error("the oldest is still there")
	}
	for _, name := range []string{"n299", "n170"} {
		if _, ok := d.Load(t.Context(), name); !ok {
			t.Errorf("%s is gone", name)
		}
	}
	d.Save("large", make([]byte, limit+1))
	if _, ok := d.Load(t.Context(), "large"); ok {
		t.Error("kept more than all that may be kept")
	}

	files, bytes, err := d.Prune(10_000)
	if left, _ := d.Items(); err != nil || sum(left) > 10_000 || len(left)+files != len(items) || bytes < 50_000 {
		t.Errorf("%d files, %d bytes, %v", files, bytes, err)
	}
	d.Clear()
	if left, err := d.Items(); err != nil || len(left) != 0 {
		t.Errorf("left after Clear: %v, %v", left, err)
	}
}

func TestDiskTellsNames(t *testing.T) {
	d, _ := tempDisk(t, 1<<20)
	d.Save("an index", []byte("x"))
	if items, err := d.Items(); err != nil || len(items) != 1 || items[0].Name != "an index" {
		t.Errorf("%+v, %v", items, err)
	}
}

func TestDiskBlob(t *testing.T) {
	d, _ := tempDisk(t, 1000)
	if _, err := d.Open("b"); err == nil {
		t.Error("opened what was never written")
	}
	for _, content := range []string{"first", "second"} {
		b, err := d.Create("b")
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(b, content)
		got := make([]byte, 3)
		if _, err := b.ReadAt(got, 2); err != nil || string(got) != content[2:5] {
			t.Errorf("%q, %v", got, err)
		}
		done, err := b.Commit()
		if err != nil {
			t.Fatal(err)
		}
		done.Close()
		f, err := d.Open("b")
		if err != nil {
			t.Fatal(err)
		}
		if all, err := io.ReadAll(f); err != nil || string(all) != content {
			t.Errorf("%q, %v", all, err)
		}
		f.Close()
	}
	b, err := d.Create("c")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Write(make([]byte, 1001)); !errors.Is(err, errFull) {
		t.Errorf("more than there is room for: %v", err)
	}
	b.Discard()
	if items, err := d.Items(); err != nil || len(items) != 1 {
		t.Errorf("%v, %v", items, err)
	}
	info, err := os.Stat(d.path("b", blobExt))
	if err != nil {
		t.Fatal(err)
	}
	d.Remove("b", info)
	if _, err := d.Open("b"); err == nil {
		t.Error("opened what was removed")
	}
}

// What a killed process left is removed by the next, what is being written
// is not.
func TestDiskClearsAbandoned(t *testing.T) {
	d, _ := tempDisk(t, 1<<20)
	d.Save("a", []byte("x"))
	dir := filepath.Dir(d.path("a", sidecarExt))
	mine, err := d.Create("mine")
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Discard()
	gone := filepath.Join(dir, "tmp-999999999-1")
	old := filepath.Join(dir, fmt.Sprintf("tmp-%d-1", os.Getpid()))
	foreign := filepath.Join(dir, "notes.txt")
	for _, name := range []string{gone, old, foreign} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	os.Chtimes(old, time.Now(), time.Now().Add(-2*staleTemp))
	NewDisk(filepath.Dir(d.Dir()), 1<<20, nil).Save("b", []byte("y"))
	for name, want := range map[string]bool{gone: false, old: false, foreign: true, mine.f.Name(): true} {
		if _, err := os.Stat(name); (err == nil) != want {
			t.Errorf("%s: there is %v, want %v", name, err == nil, want)
		}
	}
}

func TestDiskThatCannotBeWritten(t *testing.T) {
	base := t.TempDir()
	blocked := filepath.Join(base, "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	d := NewDisk(filepath.Join(blocked, "cache"), 1<<20, slog.New(slog.NewTextHandler(&out, nil)))
	for range 3 {
		d.Save("a", []byte("x"))
		if _, ok := d.Load(t.Context(), "a"); ok {
			t.Error("loaded from nowhere")
		}
		if _, err := d.Create("b"); err == nil {
			t.Error("created nowhere")
		}
		d.pause = time.Time{}
	}
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Errorf("%d lines, want 1: %s", n, out.String())
	}
	if n, _, err := d.Prune(0); n != 0 {
		t.Errorf("%d, %v", n, err)
	}
}

// Two processes on one directory never see anything but what was saved.
func TestDiskShared(t *testing.T) {
	dir := t.TempDir()
	value := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 100+i) }
	var wg sync.WaitGroup
	for range 4 {
		d := NewDisk(dir, 20_000, nil)
		wg.Go(func() {
			for range nodestest.Times(500, 100) {
				i := rand.IntN(100)
				if b, ok := d.Load(t.Context(), fmt.Sprint(i)); ok && !bytes.Equal(b, value(i)) {
					t.Errorf("%d: wrong bytes", i)
				}
				d.Save(fmt.Sprint(i), value(i))
				if rand.IntN(100) == 0 {
					d.Prune(5000)
				}
			}
		})
	}
	wg.Wait()
}

func TestMemoOnDisk(t *testing.T) {
	d, _ := tempDisk(t, 1<<20)
	loads := 0
	get := func(want string) {
		t.Helper()
		c := New(1<<20, d)
		defer c.Close()
		m := NewMemo(c, func(context.Context, int) (string, int64, error) {
			loads++
			return "value", 5, nil
		}).Durable(func(int) Place { return named("k") }, func(v string) []byte { return []byte(v) },
			func(_ context.Context, _ int, b []byte) (string, int64, error) { return string(b), int64(len(b)), nil })
		if v, err := m.Get(context.Background(), 1); err != nil || v != want {
			t.Errorf("%q, %v", v, err)
		}
	}
	get("value")
	get("value")
	if loads != 1 {
		t.Errorf("loaded %d times", loads)
	}
}

// What resume brought up to date is saved again, so that the next process
// need not do it.
func TestMemoSavesWhatGrew(t *testing.T) {
	d, _ := tempDisk(t, 1<<20)
	d.Save("k", []byte("old"))
	for range 2 {
		c := New(1<<20, d)
		m := NewMemo(c, func(context.Context, int) (string, int64, error) {
			return "", 0, errors.New("loaded")
		}).Durable(func(int) Place { return named("k") }, func(v string) []byte { return []byte(v) },
			func(_ context.Context, _ int, b []byte) (string, int64, error) {
				return strings.TrimSuffix(string(b), " and new") + " and new", 0, nil
			})
		v, err := m.Get(t.Context(), 1)
		if saved, _ := d.Load(t.Context(), "k"); v != "old and new" || err != nil || string(saved) != v {
			t.Errorf("%q, %v; saved is %q", v, err, saved)
		}
		c.Close()
	}
}

func TestSavedOnly(t *testing.T) {
	d, _ := tempDisk(t, 1<<20)
	fresh := func() *Memo[int, string] {
		c := New(1<<20, d)
		t.Cleanup(c.Close)
		return NewMemo(c, func(context.Context, int) (string, int64, error) { return "value", 5, nil }).Durable(
			func(int) Place { return named("k") }, func(v string) []byte { return []byte(v) },
			func(_ context.Context, _ int, b []byte) (string, int64, error) { return string(b), int64(len(b)), nil })
	}
	ctx := SavedOnly(t.Context())
	missing := (*NotSavedError)(nil)
	if _, err := fresh().Get(ctx, 1); !errors.As(err, &missing) || d.Lookup()(missing.Name) {
		t.Errorf("%v", err)
	}
	if v, err := fresh().Get(t.Context(), 1); v != "value" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	if !d.Lookup()(missing.Name) {
		t.Error("saved, but the disk has it not")
	}
	m := fresh()
	if v, err := m.Get(ctx, 1); v != "value" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	if _, ok := m.Peek(1); !ok {
		t.Error("not remembered")
	}
}

// What several write at the same time stays within the limit, too.
func TestDiskBoundsWhatIsWritten(t *testing.T) {
	const limit = 1 << 20
	d := NewDisk(t.TempDir(), limit, nil)
	var blobs []*Blob
	for _, name := range []string{"a", "b", "c"} {
		b, err := d.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		blobs = append(blobs, b)
	}
	full := 0
	for range 10 {
		for _, b := range blobs {
			if _, err := b.Write(make([]byte, limit/10)); err != nil {
				full++
			}
		}
	}
	items, err := d.Items()
	if err != nil || sum(items) > limit || sum(items) < limit*8/10 || full == 0 {
		t.Errorf("%d bytes of %d, %d writes refused, %v", sum(items), limit, full, err)
	}
	blobs[0].Discard()
	if _, err := blobs[1].Write(make([]byte, limit/10)); err != nil {
		t.Errorf("after there is room again: %v", err)
	}
	blobs[1].Discard()
	blobs[2].Discard()
}

// A named is a place that is known without a look.
type named string

// Find implements Place.
func (n named) Find(context.Context) Found { return Found{[]string{string(n)}, string(n)} }

// Name implements Place.
func (n named) Name(context.Context) string { return string(n) }
