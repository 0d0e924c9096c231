package nethack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/internal/testing/parquettest"
	"recfs/formats/recordings"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

var testTime = time.Date(2026, 11, 21, 0, 42, 53, 745916663, time.UTC)

func newCache(t testing.TB, budget int64) *cache.Cache {
	c := cache.New(budget, nil)
	t.Cleanup(c.Close)
	return c
}

// openRecording opens a log with a tree of its own.
func openRecording(ctx context.Context, in formats.Input, c *cache.Cache) (*recording, nodes.Dir, error) {
	o, err := recordings.OpenOne(ctx, recordings.Source{Format: &Format, Input: in}, c, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, nil, err
	}
	rec := newTree(o.Recording, c)
	dir, _ := rec.dir()
	return rec, dir, nil
}

func openTree(t testing.TB, log []byte) (nodes.Dir, error) {
	return formatstest.Open(t.Context(), Format, formatstest.BytesInput("game.nhgame", log, testTime), newCache(t, 16<<20))
}

func mustOpen(t testing.TB, log []byte) nodes.Dir {
	t.Helper()
	tree, err := openTree(t, log)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestGolden(t *testing.T) {
	files, _ := filepath.Glob("../../testdata/nethack/*.txtar")
	if len(files) == 0 {
		t.Fatal("no golden files")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			nodestest.Golden(t, file, func(log []byte) (nodes.Dir, error) { return openTree(t, log) }, parquettest.Show)
		})
	}
}

func TestMatch(t *testing.T) {
	for line, want := range map[string]int{
		"NHGAME save 00000001 4.003.000\n":           -1,
		"NHGAME done 0000abcd 3.000.005\nmore":       -1,
		"NHGAME inpr 00000001 4.003.000\n":           statusAt,
		"NHGAME save 0000000g 4.003.000\n":           19,
		"NHGAME save 0000000A 4.003.000\n":           19,
		"NHGAME save 00000001 00000001 4.2.0\n":      22,
		"NHGAME save 00000001 4.003.000":             30,
		"NHGAME save 00000001 4.003.0001\n":          30,
		"NHGAM":                                      5,
		"":                                           0,
		"NHGAME sav":                                 statusAt,
		"nhgame save 00000001 4.003.000\n":           0,
		"NHGAME save 00000001 4.003.000\r\n":         30,
		"NHGAME save 00000001\t4.003.000\n":          20,
		"NHGAME done ffffffff 9.999.999\nNHGAME bla": -1,
	} {
		if got := mismatch([]byte(line)); got != want || Format.Match([]byte(line)) != (want < 0) {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
	}
}

// TestDoesNotOpen holds that a log whose header is not right says what is wrong and where.
func TestDoesNotOpen(t *testing.T) {
	good := newGame("Agnes").String()
	for name, c := range map[string]struct {
		log    string
		offset int64
		reason string
		kind   error
	}{
		"4.2":         {"NHGAME save 00000001 00000001 4.2.0\n", 22, "another format", errors.ErrUnsupported},
		"NitroHack":   {"NHGAME inpr 00000001 00000001 4.0.0\n", 7, "another format", errors.ErrUnsupported},
		"other":       {"PNG", 0, "not that of a NetHack 4.3 log", formats.ErrCorrupt},
		"empty":       {"", 0, "not that of a NetHack 4.3 log", formats.ErrCorrupt},
		"short":       {good[:100], 31, "second line", formats.ErrCorrupt},
		"long line 2": {strings.Replace(good, " (new game)", " (new  game)", 1), 31, "second line", formats.ErrCorrupt},
		"no newline":  {strings.TrimSuffix(good, "\n"), 110, "no newline", formats.ErrCorrupt},
		"no line 3":   {good[:110], 110, "no newline", formats.ErrCorrupt},
		"fields":      {strings.Replace(good, " Val", "", 1), 110, "7 fields", formats.ErrCorrupt},
		"empty field": {strings.Replace(good, "hum", "", 1), 110, "field 6", formats.ErrCorrupt},
		"start":       {strings.Replace(good, "660b", "660G", 1), 110, "start time", formats.ErrCorrupt},
		"zero":        {strings.Replace(good, "c 0 0 Q", "c x 0 Q", 1), 110, "second field", formats.ErrCorrupt},
		"mode":        {strings.Replace(good, "c 0 0 Q", "c 0 a Q", 1), 110, "play mode", formats.ErrCorrupt},
		"name":        {strings.Replace(good, "QWduZXM=", "QWduZXM", 1), 110, "name", formats.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openTree(t, []byte(c.log))
			var e *formats.Error
			if !errors.As(err, &e) || e.Offset != c.offset || !strings.Contains(err.Error(), c.reason) || !errors.Is(err, c.kind) {
				t.Errorf("%v, want %q at %d", err, c.reason, c.offset)
			}
		})
	}
}

func find(t testing.TB, root nodes.Dir, name string) (nodes.Entry, error) {
	t.Helper()
	return nodes.Lookup(t.Context(), root, name)
}

// TestUnlistedNames looks for names that open without being listed, and for some that do not.
func TestUnlistedNames(t *testing.T) {
	ar, err := os.ReadFile("../../testdata/nethack/damaged.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(ar), "-- recording.hex --\n")
	text, _, _ = strings.Cut(text, "-- tree/")
	log, err := nodestest.ParseHex([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	root := mustOpen(t, log)
	for alias, listed := range map[string]string{
		"saves/turn1": "saves/turn0000001", "saves/turn005": "saves/turn0000005", "saves/turn2": "saves/turn0000001",
		"saves/turn0000004": "saves/turn0000001", "ticks/1.json": "ticks/00000001.json", "chunks/0": "chunks/000000",
		"lines/01.jsonl": "lines/000001.jsonl", "states/1.json": "states/00000001.json",
	} {
		if nodestest.Read(t, root, alias) != nodestest.Read(t, root, listed) {
			t.Errorf("%s is not %s", alias, listed)
		}
	}
	for _, absent := range []string{
		"saves/turn0000000", "saves/turn10", "saves/turn9999999999", "saves/turn0000001.001", "saves/turn1.000", "saves/turn", "saves/turn-1",
		"saves/turn00000001", "saves/turn1x", "saves/turn2147483648", "saves/turn1.", "saves/turn.1", "ticks/5.json", "states/5.json", "chunks/2",
	} {
		if _, err := find(t, root, absent); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", absent, err)
		}
	}
	for _, lost := range []string{"saves/turn6", "saves/turn0000008"} {
		if _, err := find(t, root, lost); !errors.Is(err, formats.ErrCorrupt) {
			t.Errorf("%s: %v", lost, err)
		}
	}
	e, err := find(t, root, "states/00000002.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.File.Size(t.Context()); !errors.Is(err, formats.ErrCorrupt) {
		t.Errorf("size of a lost state: %v", err)
	}
}

// TestWideNames holds that names sort and open where turns and saves of a turn need more digits
// than usual.
func TestWideNames(t *testing.T) {
	w := newGame("Agnes")
	w.comp = plain
	w.backup(testSave(minSave), 9_999_998)
	for i := range 1005 {
		w.diff(beta1, 9_999_999+int32(i/1003), op{cmd: cmdCopy, n: 12})
	}
	w.diff(beta1, 123_456_789, op{cmd: cmdCopy, n: 12})
	w.diff(beta1, 5, op{cmd: cmdCopy, n: 12}) // no game goes back
	root := mustOpen(t, w.Bytes())
	if bad := nodestest.Check(t, root); len(bad) > 0 {
		t.Error(bad)
	}
	for _, name := range []string{"turn0000005", "turn9999999.1002", "turn9999999", "turn10000000", "turn10000000.1", "turn123456789"} {
		if _, err := find(t, root, "saves/"+name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"turn9999999.1003", "turn10000000.2", "turn123456790"} {
		if _, err := find(t, root, "saves/"+name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRealTrees walks the trees of real logs.
func TestRealTrees(t *testing.T) {
	logs, _ := filepath.Glob("../../testdata/archive/nethack/*.nhgame")
	for _, file := range logs {
		t.Run(filepath.Base(file), func(t *testing.T) {
			log, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			root := mustOpen(t, log)
			if bad := nodestest.Check(t, root); len(bad) > 0 {
				t.Error(bad)
			}
			all := nodestest.Read(t, root, "metadata")
			dir, err := find(t, root, "chunks")
			if err != nil {
				t.Fatal(err)
			}
			n, _ := dir.Dir.Len(t.Context())
			for i := range n {
				all += nodestest.Read(t, root, fmt.Sprintf("chunks/%06d", i))
			}
			if want := string(log[:bytes.LastIndexByte(log, '\n')+1]); all != want {
				t.Error("metadata and chunks are not the log")
			}
		})
	}
}

// walk opens a log, walks its tree and returns the sums of all saves by offset of their lines.
func walk(t testing.TB, log []byte, c *cache.Cache) (map[int64]string, error) {
	t.Helper()
	rec, tree, err := openRecording(t.Context(), formatstest.BytesInput("game.nhgame", log, testTime), c)
	if err != nil {
		return nil, err
	}
	nodestest.Check(t, tree)
	x, err := rec.Index(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[int64]string{}
	for i := range x.ticks.len() {
		if k := x.ticks.at(i); !k.lost() {
			sum := sha256.Sum256([]byte(nodestest.Read(t, tree, "saves/"+k.saveName())))
			got[k.off] = hex.EncodeToString(sum[:])
		}
	}
	return got, nil
}

// testCuts opens a log cut at every step-th length: what is shown is right, and all that can be is
// shown.
func testCuts(t *testing.T, log []byte, step int, want map[int64]string) {
	c := newCache(t, 1<<20)
	header := mustIndex(t, log).header.size
	for n := 0; n < len(log); n += step {
		got, err := walk(t, log[:n], c)
		if (err != nil) != (int64(n) < header) {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if err != nil {
			continue
		}
		whole := 0
		for off, sum := range want {
			if end := off + int64(bytes.IndexByte(log[off:], '\n')); end >= int64(n) {
				continue
			}
			whole++
			if got[off] != sum {
				t.Fatalf("cut at %d: another save at %d", n, off)
			}
		}
		if len(got) != whole {
			t.Fatalf("cut at %d: %d saves, want %d", n, len(got), whole)
		}
	}
}

func TestCuts(t *testing.T) {
	log := sampleGame(60).Bytes()
	testCuts(t, log, nodestest.Times(3, 17), saveSums(t, mustIndex(t, log), log))
}

func TestCutsOfRealLog(t *testing.T) {
	file := "../../testdata/archive/nethack/small.nhgame"
	log, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int64]string{}
	for off, row := range readTruth(t, file) {
		want[off] = row["save_sha256"]
	}
	step := 157
	if testing.Short() {
		step = 601
	}
	testCuts(t, log, step, want)
}

// TestFlips changes every byte of a log. A save that is shown where one was before must be the
// same, for all save lines here have a checksum; and nothing panics or hangs.
func TestFlips(t *testing.T) {
	w := newGame("Agnes")
	w.backup(append(testSave(100), make([]byte, 100)...), 1) // compressed, so that it has a checksum, too
	for i := range 8 {
		w.line("move D4", 1000)
		if i == 4 {
			w.backup(append(testSave(110), make([]byte, 110)...), 7)
			continue
		}
		w.diff(beta3, int32(2+i), op{cmd: cmdCopy, n: 30 + i}, op{cmd: cmdIncrement, n: 2}, w.rest(24+33+i))
	}
	log := w.Bytes()
	want := saveSums(t, mustIndex(t, log), log)
	c := newCache(t, 1<<20)
	for at := range nodestest.Places(len(log), 13) {
		damaged := bytes.Clone(log)
		damaged[at] ^= 1 << (at % 8)
		got, err := walk(t, damaged, c)
		if err != nil {
			continue
		}
		for off, sum := range got {
			if w, ok := want[off]; ok && w != sum {
				t.Fatalf("bit %d at %d: another save at %d", at%8, at, off)
			}
		}
	}
}

// A countingReader tells how much was read from a log, and fails where it was told to.
type countingReader struct {
	r         formats.ReaderAt
	bytes     atomic.Int64
	low, high atomic.Int64
}

func (c *countingReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if off != countAt { // the look at the recovery count
		c.bytes.Add(int64(len(p)))
		c.low.Store(min(c.low.Load(), off))
		c.high.Store(max(c.high.Load(), off+int64(len(p))))
	}
	return c.r.ReadAt(ctx, p, off)
}

func (c *countingReader) reset() {
	c.bytes.Store(0)
	c.low.Store(1 << 62)
	c.high.Store(0)
}

// TestReadsTouchTheirChunk holds that a save is made from its chunk, and a tick from its lines.
func TestReadsTouchTheirChunk(t *testing.T) {
	log := sampleGame(5000).Bytes()
	x := mustIndex(t, log)
	r := &countingReader{r: formats.BytesReader(log)}
	src := formatstest.BytesInput("game.nhgame", log, testTime)
	src.ReaderAt = r
	r.reset()
	root, err := formatstest.Open(t.Context(), Format, src, newCache(t, 16<<20))
	if err != nil {
		t.Fatal(err)
	}
	if n := r.bytes.Load(); n > 1<<10 {
		t.Errorf("opening reads %d bytes", n)
	}
	nodestest.Read(t, root, "index.json")
	nodestest.Read(t, root, "ticks/00000000.json")
	for _, c := range []struct {
		name      string
		low, high int64
	}{
		{"saves/" + x.saveName(14), x.ticks.off(10), x.ticks.end(14)},
		{"saves/" + x.saveName(15), x.ticks.end(14), x.ticks.end(15)},
		{"ticks/00000020.json", x.ticks.end(19), x.ticks.off(20)},
		{"states/00000010.json", x.ticks.off(10), x.ticks.end(10)},
		{"chunks/000001", x.ticks.off(10), x.ticks.off(18)},
		{"lines/000002.jsonl", x.ticks.end(17), x.ticks.end(24)},
	} {
		r.reset()
		nodestest.Read(t, root, c.name)
		if low, high := r.low.Load(), r.high.Load(); high > 0 && (low < c.low || high > c.high) {
			t.Errorf("%s reads from %d to %d, not only %d to %d", c.name, low, high, c.low, c.high)
		}
	}
}

// TestListingNeedsNoIndex holds that directories are there before the index pass.
func TestListingNeedsNoIndex(t *testing.T) {
	log := sampleGame(5000).Bytes()
	rec, root, err := openRecording(t.Context(), formatstest.BytesInput("game.nhgame", log, testTime), newCache(t, 16<<20))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"ticks": 25, "states": 25, "chunks": 3, "lines": 3} {
		e, err := find(t, root, name)
		if err != nil {
			t.Fatal(err)
		}
		n, err := e.Dir.Len(t.Context())
		if err != nil || n != want {
			t.Errorf("%s: %d, %v, want %d", name, n, err, want)
		}
		for i := range n {
			if _, err := e.Dir.At(t.Context(), i); err != nil {
				t.Error(err)
			}
		}
	}
	nodestest.Read(t, root, "chunks/000001")
	nodestest.Read(t, root, "header.json")
	if _, err := rec.Index(cache.SavedOnly(t.Context())); err == nil {
		t.Error("the index was made for a listing")
	}
}

// TestSequentialPass holds that reading all saves in order rebuilds each once, and that any other
// order gives the same.
func TestSequentialPass(t *testing.T) {
	log := longGame(2000, 300)
	want := saveSums(t, mustIndex(t, log), log)
	order := func(less func(a, b int) int) []int {
		list := make([]int, len(want))
		for i := range list {
			list[i] = i
		}
		slices.SortFunc(list, less)
		return list
	}
	for name, list := range map[string][]int{
		"forward":   order(func(a, b int) int { return a - b }),
		"backward":  order(func(a, b int) int { return b - a }),
		"scattered": order(func(a, b int) int { return a*7919%1009 - b*7919%1009 }),
	} {
		for _, budget := range []int64{0, 10_000, 16 << 20} {
			t.Run(fmt.Sprint(name, budget), func(t *testing.T) {
				r := &countingReader{r: formats.BytesReader(log)}
				src := formatstest.BytesInput("game.nhgame", log, testTime)
				src.ReaderAt = r
				rec, _, err := openRecording(t.Context(), src, newCache(t, budget))
				if err != nil {
					t.Fatal(err)
				}
				x, err := rec.Index(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				r.reset()
				if budget == 0 {
					list = list[:len(list)/20] // everything is made anew each time, the index too
				}
				for _, n := range list {
					save, err := rec.saves.Get(t.Context(), n)
					if err != nil {
						t.Fatal(err)
					}
					if sum := sha256.Sum256(save); hex.EncodeToString(sum[:]) != want[x.ticks.off(n)] {
						t.Fatalf("tick %d: another save", n)
					}
				}
				if read := r.bytes.Load(); budget == 16<<20 && name == "forward" && read > int64(len(log)) {
					t.Errorf("%d bytes read of a log of %d", read, len(log))
				}
			})
		}
	}
}

// TestLongGaps holds that lines without end between two saves hide no more than what they lead to.
func TestLongGaps(t *testing.T) {
	w := sampleGame(60)
	w.line("chat"+strings.Repeat(" ", maxEventText), 20)
	w.diff(beta3, 40, w.rest(24))
	w.line("chat", 20)
	w.diff(beta3, 41, w.rest(24))
	w.line("chat"+strings.Repeat(" ", maxEventText), 20)
	root := mustOpen(t, w.Bytes())
	var bad []string
	for name := range nodestest.Check(t, root) {
		bad = append(bad, name)
	}
	slices.Sort(bad)
	if want := []string{"ticks/00000025.json"}; !slices.Equal(bad, want) {
		t.Errorf("%q cannot be read, want %q", bad, want)
	}
	if n := strings.Count(nodestest.Read(t, root, "index.json"), `"code":"too_long"`); n != 2 {
		t.Errorf("%d problems, want 2", n)
	}
}

// TestInterrupted holds that a read ends with its context.
func TestInterrupted(t *testing.T) {
	root := mustOpen(t, sampleGame(300).Bytes())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"index.json", "lines/000000.jsonl", "saves"} {
		e, err := find(t, root, name[:strings.Index(name+"/", "/")])
		if err != nil {
			t.Fatal(err)
		}
		if e.Dir != nil {
			_, err = e.Dir.Len(ctx)
		} else {
			_, err = e.File.Size(ctx)
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzLog opens whatever bytes as a log and walks the tree.
func FuzzLog(f *testing.F) {
	f.Add(sampleGame(60).Bytes())
	f.Add(newGame("Agnes").Bytes())
	files, _ := filepath.Glob("../../testdata/nethack/*.txtar")
	for _, file := range files {
		ar, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		_, text, _ := strings.Cut(string(ar), "-- recording.hex --\n")
		text, _, _ = strings.Cut(text, "-- tree/")
		log, err := nodestest.ParseHex([]byte(text))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(log)
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		root, err := openTree(t, log)
		if err != nil {
			return
		}
		for name, err := range nodestest.Check(t, root) {
			if strings.HasPrefix(name, "tables/") { // what cannot be read has no rows
				t.Errorf("%s: %v", name, err)
			}
		}
		formatstest.Try(t.Context(), root)
	})
}

// Saves outside the years 1 to 9999 have no time, and do not hide those that have one.
func TestTimesOutsideTheYears(t *testing.T) {
	w := newGame("Agnes")
	w.line("chat", 1)
	for i, clock := range []uint64{uint64(firstMicro - 1), testStart, testStart + 5e6, uint64(endMicro), 1 << 63} {
		fmt.Fprintf(w, "chat\n+%x\n", clock-w.clock)
		w.clock = clock
		w.backup(testSave(60), int32(i+1))
	}
	root := mustOpen(t, w.Bytes())
	for name, want := range map[string]string{
		"2026-11-21T00:39:59Z": "00000001.json", "00:40:00": "00000001.json", "2026-11-21T00:40:03.141356Z": "00000002.json",
		"2026-11-21T00:39:57Z": "", "2026-11-21T00:40:04Z": "", "9999-12-31T23:59:59Z": "", "0001-01-01T00:00:00Z": "",
	} {
		e, err := nodes.Lookup(t.Context(), root, "states/@"+name+".json")
		if e.Name != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v, want %q", name, e.Name, err, want)
		}
	}
	doc := nodestest.Read(t, root, "export/commands.jsonl")
	if n := strings.Count(doc, `"time":null`); n != 3 {
		t.Errorf("%d times are null, want 3, of\n%s", n, doc)
	}
}
