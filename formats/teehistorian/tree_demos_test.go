package teehistorian

import (
	"bytes"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/demo"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// demoOf returns the demo at a path below demos.
func demoOf(t testing.TB, root nodes.Dir, name string) []byte {
	t.Helper()
	e, err := nodes.Lookup(t.Context(), root, "demos/"+name)
	if err != nil {
		t.Fatal(err)
	}
	size, err := e.File.Size(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := nodes.ReadAll(t.Context(), e.File)
	if err != nil || int64(len(b)) != size {
		t.Fatalf("%s: %d bytes, Size said %d, %v", name, len(b), size, err)
	}
	return b
}

// TestDemoExample makes the demo of docs/formats/demo.md section 9.
func TestDemoExample(t *testing.T) {
	recording, err := os.ReadFile("../internal/demo/testdata/example.teehistorian")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../internal/demo/testdata/example.demo")
	if err != nil {
		t.Fatal(err)
	}
	root, err := openBytes(t, newCache(t), recording)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"1000-1003.demo", "00001000-001003.demo", "0:20-0:00:20.07.demo"} {
		if got := demoOf(t, root, name); !bytes.Equal(got, want) {
			t.Errorf("%s has %d other bytes than the example:\n% x", name, len(got), got)
		}
	}
}

// A race is a recording of two players for a number of ticks, of whom the first finishes at some.
func race(ticks int, finishes ...int) []byte {
	w := newWriter(map[string]any{"version": "2", "version_minor": "22", "start_time": "2026-11-21T00:45:45+0000"})
	w.skip(99)
	for cid, name := range []string{"ab", "cd"} {
		w.ex("joinver6", cid, packed(cid))
		w.join(cid)
		w.message(cid, startInfo(name))
		w.ex("player_name", cid, packed(cid, name))
	}
	for cid := range 2 {
		w.new(cid, 100*cid, 50)
	}
	for w.tick < 100+ticks {
		w.diff(0, 1, 0)
		w.diff(1, 0, w.tick%3-1)
		w.inputNew(0, [inputs]int{1, w.tick, -w.tick})
		for _, tick := range finishes {
			if tick == w.tick {
				w.ex("player_finish", 0, packed(0, 200))
			}
		}
	}
	w.finish()
	return w.b
}

func TestDemoNames(t *testing.T) {
	root, err := openBytes(t, newCache(t), race(100_000, 400, 500, 500))
	if err != nil {
		t.Fatal(err)
	}
	e, err := nodes.Lookup(t.Context(), root, "demos/runs")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	n, err := e.Dir.Len(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		run, err := e.Dir.At(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, run.Name)
	}
	if want := []string{"00000400-00-ab.demo", "00000500-00-ab-2.demo", "00000500-00-ab.demo"}; !slices.Equal(names, want) {
		t.Errorf("runs %q, want %q", names, want)
	}
	for name, same := range map[string]string{
		"runs/400-00-ab.demo":                   "runs/00000400-00-ab.demo",
		"0:02-0:04.demo":                        "00000100-00000200.demo",
		"0:00:02.00-0:00:04.01.demo":            "00000100-00000200.demo",
		"0:00:02.03-0:00:04.99-00-ab.demo":      "00000101-00000249-00-ab.demo",
		"33:00-0:33:01.demo":                    "99000-99050.demo",
		"000100-200-01-cd.demo":                 "00000100-00000200-01-cd.demo",
		"0000000:02-000000000000000000:04.demo": "100-200.demo",
	} {
		if !bytes.Equal(demoOf(t, root, name), demoOf(t, root, same)) {
			t.Errorf("%s is another demo than %s", name, same)
		}
	}
	for _, name := range []string{
		"99-200.demo", "100-100.demo", "200-100.demo", "100-100101.demo", "100-90101.demo", "100-.demo", "-100-200.demo", "100-200-.demo",
		"100-200-00-xy.demo", "+100-200.demo", "000000100-200.demo", "100-4294967296.demo", "0:0-0:04.demo", "0:02.00-0:04.demo", "0:60:00-1:00:01.demo",
		"0:00:02-0:00:60.demo", "99999999999999999999:00-1:00.demo", "100-200.DEMO", "100-200", "runs.demo", "x.demo", "nothing",
		"runs/400-00-ab", "runs/400-00-ab-2.demo", "runs/401-00-ab.demo", "runs/000000400-00-ab.demo", "runs/.demo", "runs/nothing",
	} {
		if _, err := nodes.Lookup(t.Context(), root, "demos/"+name); !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("%s: %v, want io/fs.ErrNotExist", name, err)
		}
	}
}

// A finish may claim that it took any time, over ticks that a few bytes skip.
func TestDemoOfLongRun(t *testing.T) {
	w := newWriter(nil)
	w.skip(9)
	w.new(0, 1, 1)
	w.skip(maxRun)
	w.ex("player_finish", 0, packed(0, maxRun+1))
	w.skip(99)
	w.ex("player_finish", 0, packed(0, 300))
	root, err := openBytes(t, newCache(t), w.b)
	if err != nil {
		t.Fatal(err)
	}
	e, err := nodes.Lookup(t.Context(), root, "demos/runs")
	if err != nil {
		t.Fatal(err)
	}
	n, err := e.Dir.Len(t.Context())
	if err != nil || n != 1 {
		t.Fatalf("%d runs, %v, want 1", n, err)
	}
	if run, err := e.Dir.At(t.Context(), 0); err != nil || run.Name != fmt.Sprintf("%08d-00.demo", w.tick) {
		t.Errorf("the run %s, %v", run.Name, err)
	}
	demoOf(t, root, fmt.Sprintf("runs/%d-00.demo", w.tick))
}

// Blocks depend on the recording alone: demos that overlap share them.
func TestDemoBlocks(t *testing.T) {
	root, err := openBytes(t, newCache(t), race(2000))
	if err != nil {
		t.Fatal(err)
	}
	key := func(tick int) []byte { return []byte{0xc0, 0, 0, byte(tick >> 8), byte(tick)} }
	block := func(name string, tick int) []byte {
		_, rest, ok := bytes.Cut(demoOf(t, root, name), key(tick))
		b, _, ok2 := bytes.Cut(rest, key(tick+demo.BlockTicks))
		if !ok || !ok2 {
			t.Fatalf("%s has no block of tick %d", name, tick)
		}
		return b
	}
	for _, tail := range []string{".demo", "-00-ab.demo"} {
		want := block("100-2000"+tail, 1000)
		for _, name := range []string{"999-1250", "1000-2001", "251-1260"} {
			if got := block(name+tail, 1000); !bytes.Equal(got, want) {
				t.Errorf("%s%s has another block", name, tail)
			}
		}
	}
}

// openCounted opens a recording whose indexes are kept on a shelf.
func openCounted(t *testing.T, shelf *nodestest.Shelf, recording []byte) (nodes.Dir, *atomic.Int64) {
	c := cache.New(64<<20, shelf)
	t.Cleanup(c.Close)
	counted := &nodestest.Counted{ReaderAt: formats.BytesReader(recording)}
	size := int64(len(recording))
	in := formats.Input{
		ReaderAt: counted, Name: "x.teehistorian", Size: size, Stored: size,
		ModTime: time.Unix(1e9, 0), Stamp: formats.Stamp{Size: size},
	}
	formatstest.Keep(&in, shelf)
	root, err := formatstest.Open(t.Context(), Format, in, c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := demoSize(t, root, "index.json"); err != nil {
		t.Fatal(err)
	}
	return root, &counted.Bytes
}

func demoSize(t testing.TB, root nodes.Dir, name string) (int64, error) {
	e, err := nodes.Lookup(t.Context(), root, name)
	if err != nil {
		return 0, err
	}
	return e.File.Size(t.Context())
}

// Listing runs decodes nothing, a run that was made is not made again for its size, and a seek
// decodes only what it shows.
func TestDemoLazy(t *testing.T) {
	nodestest.Long(t)
	var finishes []int
	for tick := 1000; tick < 40_000; tick += nodestest.Times(100, 1000) {
		finishes = append(finishes, tick)
	}
	recording := race(40_000, finishes...)
	shelf := &nodestest.Shelf{}
	root, read := openCounted(t, shelf, recording)

	before := read.Load()
	runs, err := nodes.Lookup(t.Context(), root, "demos/runs")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := nodes.Lookup(t.Context(), root, "demos/runs"); err != nil || again.Dir != runs.Dir {
		t.Errorf("another look-up gives another directory, %v", err)
	}
	for i := range finishes {
		e, err := runs.Dir.At(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		if e.File.(nodes.Measured).IsMeasured(t.Context()) {
			t.Errorf("the size of %s is known", e.Name)
		}
	}
	if n := read.Load() - before; n > 0 {
		t.Errorf("the listing has read %d bytes", n)
	}
	var want []byte
	for _, tick := range finishes {
		want = demoOf(t, root, fmt.Sprintf("runs/%08d-00-ab.demo", tick))
	}

	root, read = openCounted(t, shelf, recording)
	before = read.Load()
	last := fmt.Sprintf("demos/runs/%08d-00-ab.demo", finishes[len(finishes)-1])
	if size, err := demoSize(t, root, last); err != nil || size != int64(len(want)) {
		t.Errorf("the size was %d, %v, want %d", size, err, len(want))
	}
	if n := read.Load() - before; n > 0 {
		t.Errorf("a size that is kept has read %d bytes", n)
	}

	const long = "demos/100-40000.demo"
	if _, err := demoSize(t, root, long); err != nil {
		t.Fatal(err)
	}
	e, err := nodes.Lookup(t.Context(), root, long)
	if err != nil {
		t.Fatal(err)
	}
	content, err := e.File.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before = read.Load()
	if _, err := content.ReadAt(t.Context(), make([]byte, 10), content.Size()/2); err != nil {
		t.Fatal(err)
	}
	if n := read.Load() - before; n > 2*chunkSize {
		t.Errorf("a seek has read %d bytes", n)
	}
}

// Sizes that lie on disk are taken only of the same bytes.
func TestDemoSizesOfOther(t *testing.T) {
	shelf := &nodestest.Shelf{}
	root, _ := openCounted(t, shelf, race(1000, 400, 500))
	demoOf(t, root, "runs/400-00-ab.demo")
	root, _ = openCounted(t, shelf, race(1500, 400, 500))
	e, err := nodes.Lookup(t.Context(), root, "demos/runs/400-00-ab.demo")
	if err != nil {
		t.Fatal(err)
	}
	if e.File.(nodes.Measured).IsMeasured(t.Context()) {
		t.Error("the size of another version is known")
	}
}

// chats returns the lines of the chat in a demo.
func chats(t *testing.T, b []byte) (lines []string) {
	t.Helper()
	for _, text := range []string{"ab joined", "cd joined", "ab left", "ab left (x y)", "(7) left"} {
		var w demo.Writer
		w.Chat(text)
		if bytes.Contains(b, w.Bytes()) {
			lines = append(lines, text)
		}
	}
	return lines
}

// Servers before 16.0 do not record PLAYER_READY: there a client joins with its Cl_StartInfo.
func TestDemoMessages(t *testing.T) {
	for minor, want := range map[string]string{"2": "ab joined, cd joined, ab left (x y), (7) left", "3": "cd joined, ab left (x y), (7) left"} {
		w := newWriter(map[string]any{"version": "2", "version_minor": minor})
		w.skip(9)
		w.message(0, startInfo("ab"))
		w.skip(0)
		w.message(1, startInfo("cd"))
		w.ex("player_ready", 1, packed(1))
		w.new(0, 1, 1)
		w.skip(0)
		w.drop(0, "x\ty")
		w.drop(7, "")
		w.skip(0)
		w.finish()
		root, err := openBytes(t, newCache(t), w.b)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(chats(t, demoOf(t, root, "10-13.demo")), ", "); got != want {
			t.Errorf("minor %s: %s, want %s", minor, got, want)
		}
	}
}

// Of an id outside 0 to 1023 nothing is kept, and its records tell players nothing: neither of it,
// nor of the client of the record before. Each of its messages tells its own protocol.
func TestRecordsOfNoClient(t *testing.T) {
	id := extensionID("x")
	records := map[string]func(w *writer, cid int){
		"input_new":       func(w *writer, cid int) { w.inputNew(cid, [inputs]int{1, 2, 3}) },
		"input_diff":      func(w *writer, cid int) { w.inputDiff(cid, [inputs]int{1, 2, 3}) },
		"emoticon":        func(w *writer, cid int) { w.message(cid, packed(46, 5)) },
		"start_info":      func(w *writer, cid int) { w.message(cid, startInfo("new")) },
		"skin_change":     func(w *writer, cid int) { w.message(cid, packed(60, 5)) },
		"join":            func(w *writer, cid int) { w.join(cid) },
		"drop":            func(w *writer, cid int) { w.drop(cid, "x") },
		"console_command": func(w *writer, cid int) { w.command(cid, 128, "kill") },
	}
	for _, typ := range extensionTypes {
		records[typ.event] = func(w *writer, cid int) {
			fields := []any{cid}
			switch typ.event {
			case "team_finish", "team_practice", "save_success", "load_success", "save_failure", "load_failure", "test", "antibot":
				return // of no client
			case "ddnetver":
				fields = append(fields, id, 5, "v")
			case "player_name":
				fields = append(fields, "new")
			default:
				fields = append(fields, 7, "me")
			}
			w.ex(typ.event, cid, packed(fields...))
		}
	}
	for name, record := range records {
		for _, cid := range []int{-1, -64, 1024, 1 << 20, -1 << 31} {
			shown := func(with bool) string {
				w := newWriter(nil)
				w.skip(9)
				w.ex("player_ready", 3, packed(3))
				w.new(3, 1, 1)
				w.inputNew(3, [inputs]int{4})
				if with {
					record(w, cid)
				}
				w.message(3, packed(46, 5)) // unlike the one before, it tells something
				if with {
					record(w, cid)
				}
				w.skip(0)
				w.diff(3, 1, 0)
				root := rootOf(t, w)
				_, state, _ := strings.Cut(nodestest.Read(t, root, "states/11.json"), "time_ms")
				return state + nodestest.Read(t, root, "players/03/positions.csv") + string(demoOf(t, root, "10-11.demo"))
			}
			if got, want := shown(true), shown(false); got != want {
				t.Errorf("%s of %d shows\n%q, want\n%q", name, cid, got, want)
			}
		}
	}
}
