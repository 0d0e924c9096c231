package teehistorian

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// A store keeps indexes in memory.
type store map[string][]byte

func (s store) Load(_ context.Context, name string) ([]byte, bool) {
	b, ok := s[name]
	return bytes.Clone(b), ok
}

func (s store) Save(name string, data []byte) { s[name] = bytes.Clone(data) }

func (s store) Forget(name string) { delete(s, name) }

// version opens recording as a version of one source with the given indexes.
func version(t testing.TB, recording []byte, indexes store) nodes.Dir {
	t.Helper()
	c := cache.New(16<<20, indexes)
	defer c.Close() // what is read later is not kept
	src := formatstest.BytesInput("x.teehistorian", recording, time.Unix(int64(len(recording)), 0))
	formatstest.Keep(&src, indexes)
	root, err := formatstest.Open(t.Context(), Format, src, c)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// draw writes a recording of random records, nearly all of which are as a server writes them.
func draw(t *rapid.T) *writer {
	w := newWriter(nil)
	ids := rapid.OneOf(rapid.IntRange(0, 3), rapid.SampledFrom([]int{63, 64, 127, 1023, 1024}))
	small := rapid.IntRange(-70, 70)
	number := rapid.OneOf(small, rapid.IntRange(-1<<31, 1<<31-1))
	text := rapid.SampledFrom([]string{"", "a", "b c", "é\u2028\"", "\xff", "/\\\x01", "a"})
	input := func() (v [inputs]int) {
		for range rapid.IntRange(0, 4).Draw(t, "components") {
			v[rapid.IntRange(0, inputs-1).Draw(t, "component")] = number.Draw(t, "value")
		}
		return v
	}
	for range rapid.IntRange(0, 60).Draw(t, "records") {
		cid := ids.Draw(t, "cid")
		switch rapid.IntRange(0, 16).Draw(t, "kind") {
		case 0, 1, 2:
			w.diff(cid, number.Draw(t, "dx"), small.Draw(t, "dy"))
		case 3:
			w.new(cid, number.Draw(t, "x"), number.Draw(t, "y"))
		case 4:
			w.old(cid)
		case 5:
			w.skip(rapid.SampledFrom([]int{0, 1, 7, 8, 500, 1498, 1499, 30000}).Draw(t, "dt"))
		case 6, 7:
			w.inputDiff(cid, input())
		case 8:
			w.inputNew(cid, input())
		case 9:
			w.message(cid, startInfo(text.Draw(t, "name")))
		case 10:
			w.join(cid)
		case 11:
			w.drop(cid, text.Draw(t, "reason"))
		case 12:
			w.command(rapid.IntRange(-3, 3).Draw(t, "by"), 128, text.Draw(t, "command"), text.Draw(t, "argument"))
		case 13:
			w.ex("player_name", cid, packed(cid, text.Draw(t, "name")))
		case 14:
			w.ex("player_team", cid, packed(cid, rapid.IntRange(0, 3).Draw(t, "team")))
		case 15:
			w.ex("team_practice", 0, packed(rapid.IntRange(0, 2).Draw(t, "team"), rapid.IntRange(0, 1).Draw(t, "on")))
		case 16:
			w.ex("player_switch", 0, packed(cid, ids.Draw(t, "with")))
		}
	}
	if rapid.Bool().Draw(t, "finish") {
		w.finish()
	}
	return w
}

// Lines hold the records that were written, with their ticks; the tree keeps what nodes asks of
// one.
func TestWrittenRecordings(t *testing.T) {
	c := newCache(t)
	rapid.Check(t, func(rt *rapid.T) {
		w := draw(rt)
		root, err := openBytes(t, c, w.b)
		if err != nil {
			rt.Fatal(err)
		}
		for name, err := range nodestest.Check(t, root) {
			rt.Errorf("%s: %v", name, err)
		}
		var got []written
		for name, text := range nodestest.Files(t, root) {
			if strings.HasPrefix(name, "lines/") {
				got = append(got, parseLines(rt, text)...)
			}
		}
		if diff := cmp.Diff(w.events, got, cmp.AllowUnexported(written{})); diff != "" {
			rt.Error(diff)
		}
	})
}

func parseLines(t *rapid.T, text string) (list []written) {
	for line := range strings.Lines(text) {
		var tick struct {
			Tick   int
			TimeMS int `json:"time_ms"`
			Events []struct {
				Event  string
				Offset int
				CID    int
			}
		}
		if err := json.Unmarshal([]byte(line), &tick); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if tick.TimeMS != tick.Tick*tickMS {
			t.Errorf("tick %d is at %d ms", tick.Tick, tick.TimeMS)
		}
		for _, e := range tick.Events {
			if e.Event == "player_team" || e.Event == "player_name" || e.Event == "team_practice" {
				e.CID = max(e.CID, 0)
			}
			list = append(list, written{e.Event, e.Offset, tick.Tick, e.CID})
		}
	}
	return list
}

// A recording that grew looks like one that was always so long, and a kept index like a new one.
func TestGrowth(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := draw(rt)
		start := bytes.IndexByte(w.b[len(magic):], 0) + len(magic) + 1
		indexes := store{}
		for _, end := range []int{
			rapid.IntRange(start, len(w.b)).Draw(rt, "first"), rapid.IntRange(start, len(w.b)).Draw(rt, "second"), len(w.b), len(w.b),
		} {
			got := nodestest.Files(t, version(t, w.b[:end], indexes))
			want := nodestest.Files(t, version(t, w.b[:end], store{}))
			if diff := cmp.Diff(want, got); diff != "" {
				rt.Fatalf("cut at %d: %s", end, diff)
			}
		}
	})
}

// Growth where there are many chunks.
func TestGrowthOfChunks(t *testing.T) {
	nodestest.Long(t)
	b := readBusy(t)
	indexes := store{}
	for _, end := range []int{5000, 150_000, 400_000, 800_001} {
		root := version(t, b[:end], indexes)
		fresh := version(t, b[:end], store{})
		for _, name := range []string{"index.json", "players.json", "export/events.txt", "export/paths.svg"} {
			if got, want := nodestest.Read(t, root, name), nodestest.Read(t, fresh, name); got != want {
				t.Errorf("%d bytes: %s differs: %s", end, name, cmp.Diff(want, got))
			}
		}
	}
	whole := nodestest.Files(t, version(t, b[:300_000], store{}))
	for name, got := range nodestest.Files(t, version(t, b[:300_000], store{})) {
		if got != whole[name] {
			t.Errorf("%s is not the same twice", name)
		}
	}
}

// An index that is damaged, or of another recording, is not used.
func TestForeignIndex(t *testing.T) {
	w := newWriter(nil)
	w.join(1)
	w.message(1, startInfo("nameless"))
	for range 2000 {
		w.diff(1, 1, 1)
	}
	indexes := store{}
	nodestest.Read(t, version(t, w.b, indexes), "index.json")
	saved := indexes["x/teehistorian-0"]
	want := nodestest.Files(t, version(t, append(w.b, 0x40), store{}))

	for i := range len(saved) {
		damaged := bytes.Clone(saved)
		damaged[i] ^= 0x10
		if x, err := decodeIndex(damaged[indexfile.HeadSize:]); err == nil && x == nil {
			t.Error("neither an index nor an error")
		}
	}
	other := newWriter(nil)
	other.join(2)
	for range 2000 {
		other.diff(2, 1, 1)
	}
	nodestest.Read(t, version(t, other.b, indexes), "index.json")
	if diff := cmp.Diff(want, nodestest.Files(t, version(t, append(w.b, 0x40), indexes))); diff != "" {
		t.Errorf("with the index of another recording: %s", diff)
	}
}

// Wherever a recording is cut, all before the cut is shown.
func TestCutAnywhere(t *testing.T) {
	nodestest.Long(t)
	w := newWriter(nil)
	ends := map[int]bool{len(w.b): true}
	for _, record := range []func(){
		func() { w.skip(3) },
		func() { w.ex("joinver6", 0, packed(0)) },
		func() { w.join(0) },
		func() { w.message(0, startInfo("ann")) },
		func() { w.new(0, 100000, -5) },
		func() { w.inputNew(0, [inputs]int{1, 1000, -1000}) },
		func() { w.diff(0, 400, 7) },
		func() { w.inputDiff(0, [inputs]int{-1, 70}) },
		func() { w.command(0, 128, "team", "1") },
		func() { w.ex("antibot", 0, "blob") },
		func() { w.old(0) },
		func() { w.drop(0, "Timeout") },
		func() { w.finish() },
	} {
		record()
		ends[len(w.b)] = true
	}
	start := bytes.IndexByte(w.b[len(magic):], 0) + len(magic) + 1
	c := newCache(t)
	for n := range w.b {
		root, err := openBytes(t, c, w.b[:n])
		if n < start {
			var e *formats.Error
			if !errors.As(err, &e) {
				t.Errorf("%d bytes: %v", n, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		for name, err := range nodestest.Check(t, root) {
			t.Errorf("%d bytes: %s: %v", n, name, err)
		}
		var index struct {
			Complete, Finished bool
			End                string
			Totals             struct{ Bytes int }
		}
		if err := json.Unmarshal([]byte(nodestest.Read(t, root, "index.json")), &index); err != nil {
			t.Fatal(err)
		}
		last := n
		for !ends[last] {
			last--
		}
		want := endUnfinished
		if last < n {
			want = endCut
		}
		if index.End != want || index.Totals.Bytes != last || index.Complete != (last == n) || index.Finished {
			t.Errorf("%d bytes: %+v, want %s at %d", n, index, want, last)
		}
	}
}

// An index that is kept spares reading the source, and is not written again. After a change of the
// inode alone the source is read once, to compare it, which a note says from then on.
func TestKeptIndex(t *testing.T) {
	r := newRepeated(t, 4<<20)
	indexes := store{}
	want := ""
	for mount := range 4 {
		changed := mount > 1
		c := cache.New(16<<20, indexes)
		defer c.Close()
		src := r.source()
		count := &nodestest.Counted{ReaderAt: r}
		src.ReaderAt = count
		src.Stamp = formats.Stamp{Size: r.size(), Changed: 1}
		if changed {
			src.Stamp.Changed = 2
		}
		formatstest.Keep(&src, indexes)
		root, err := formatstest.Open(t.Context(), Format, src, c)
		if err != nil {
			t.Fatal(err)
		}
		got := nodestest.Read(t, root, "index.json") + nodestest.Read(t, root, "players.json")
		switch n := count.Bytes.Load(); {
		case mount == 0:
			want = got
			indexes["first"] = indexes[formatstest.Key+"/teehistorian-0"]
		case got != want:
			t.Error("the kept index is another")
		case n > 16<<10 && mount != 2, n > r.size()+16<<10:
			t.Errorf("mount %d: %d bytes were read though the index was kept", mount, n)
		case !bytes.Equal(indexes["first"], indexes[formatstest.Key+"/teehistorian-0"]):
			t.Errorf("mount %d: the kept index was written again", mount)
		}
	}
}

// A recording that was rewritten with its size and times, also in front of its last bytes, is
// indexed anew.
func TestRewrittenIndex(t *testing.T) {
	w := newWriter(nil)
	w.join(1)
	for range 20_000 {
		w.diff(1, 1, 1)
	}
	indexes := store{}
	old := nodestest.Read(t, version(t, w.b, indexes), "index.json")
	damaged := bytes.Clone(w.b)
	copy(damaged[len(damaged)/2:], "\x40\x40\x40") // the end
	want := nodestest.Read(t, version(t, damaged, store{}), "index.json")
	if got := nodestest.Read(t, version(t, damaged, indexes), "index.json"); got != want || got == old {
		t.Error("the index is that of other bytes")
	}
}

// With an index one tick costs a chunk at most, and names and sizes that the index knows cost
// nothing.
func TestReadsLittle(t *testing.T) {
	r := newRepeated(t, 8<<20)
	c := cache.New(16<<20, nil)
	defer c.Close()
	src := r.source()
	count := &nodestest.Counted{ReaderAt: r}
	src.ReaderAt = count
	root, err := formatstest.Open(t.Context(), Format, src, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"header.json", "metadata"} {
		nodestest.Read(t, root, name)
	}
	if n := count.Bytes.Load(); n > 16<<10 {
		t.Errorf("the header cost %d bytes", n)
	}
	ticks, err := nodes.Lookup(t.Context(), root, "ticks")
	if err != nil {
		t.Fatal(err)
	}
	n, err := ticks.Dir.Len(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := count.Bytes.Load(); got > r.size()+16<<10 {
		t.Errorf("the index cost %d bytes of %d", got, r.size())
	}
	count.Bytes.Store(0)
	for i := range n {
		if _, err := ticks.Dir.At(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"lines", "chunks"} {
		e, err := nodes.Lookup(t.Context(), root, dir+"/3"+map[string]string{"lines": ".jsonl"}[dir])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.File.Size(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	nodestest.Read(t, root, "index.json")
	nodestest.Read(t, root, "players.json")
	if got := count.Bytes.Load(); got != 0 {
		t.Errorf("names and sizes cost %d bytes", got)
	}
	for _, i := range []int{0, 1, n / 3, n / 2, n - 1} {
		for _, dir := range []string{"ticks", "states"} {
			count.Bytes.Store(0)
			e, err := nodes.Lookup(t.Context(), root, dir)
			if err != nil {
				t.Fatal(err)
			}
			entry, err := e.Dir.At(t.Context(), i)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := nodes.ReadAll(t.Context(), entry.File); err != nil {
				t.Fatal(err)
			}
			if got := count.Bytes.Load(); got > 256<<10 {
				t.Errorf("%s entry %d cost %d bytes", dir, i, got)
			}
		}
	}
}

// Every tick from the first to the last has a state, also without records.
func TestStatesBetweenTicks(t *testing.T) {
	w := newWriter(nil)
	w.skip(9)
	w.new(3, 1, 2)
	w.skip(99)
	w.diff(3, 1, 1)
	root, err := openBytes(t, newCache(t), w.b)
	if err != nil {
		t.Fatal(err)
	}
	for tick, want := range map[int]string{10: `"x":1,"y":2`, 11: `"x":1,"y":2`, 109: `"x":1,"y":2`, 110: `"x":2,"y":3`} {
		got := nodestest.Read(t, root, fmt.Sprintf("states/%d.json", tick))
		if !strings.Contains(got, want) || !strings.Contains(got, fmt.Sprintf("\"tick\": %d,", tick)) {
			t.Errorf("tick %d: %s", tick, got)
		}
	}
	for _, name := range []string{"states/9.json", "states/111.json", "ticks/11.json"} {
		if _, err := nodes.Lookup(t.Context(), root, name); err == nil {
			t.Errorf("%s opens", name)
		}
	}
}

// A tick is found by its number, wherever its chunk is.
func TestSearchTick(t *testing.T) {
	r := newRepeated(t, 4<<20)
	h, err := readHeader(t.Context(), r.source().At(t.Context()), 0)
	if err != nil {
		t.Fatal(err)
	}
	x, err := buildIndex(r.source().At(t.Context()), r.size(), h)
	if err != nil {
		t.Fatal(err)
	}
	last := int32(-1)
	for i := range x.tickCount() {
		n := x.tickNumber(i)
		for _, at := range []int32{last + 1, n} {
			if got := x.searchTick(int64(at)); got != i {
				t.Fatalf("tick %d is sought at %d, stands at %d", at, got, i)
			}
		}
		last = n
	}
	if got := x.searchTick(int64(last) + 1); got != x.tickCount() {
		t.Errorf("behind the last tick: %d of %d", got, x.tickCount())
	}
}

// A source whose length is not known is read to its end.
func TestUnknownSize(t *testing.T) {
	b := readBusy(t)[:200_000]
	c := cache.New(16<<20, nil)
	defer c.Close()
	src := formatstest.BytesInput("x.teehistorian", b, time.Unix(1, 0))
	want := nodestest.Read(t, version(t, b, store{}), "index.json")
	src.Size = formats.UnknownSize
	root, err := formatstest.Open(t.Context(), Format, src, c)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, nodestest.Read(t, root, "index.json")); diff != "" {
		t.Error(diff)
	}
}

func FuzzOpen(f *testing.F) {
	w := newWriter(nil)
	w.join(0)
	w.message(0, startInfo("a"))
	w.new(0, 1, 2)
	w.inputNew(0, [inputs]int{1})
	w.inputDiff(0, [inputs]int{0, 1})
	w.command(0, 128, "c", "d")
	w.ex("save_success", 0, packed(1, extensionID("x"), "s"))
	w.finish()
	f.Add(w.b)
	f.Add(newWriter(map[string]any{"version": "1"}).b)
	f.Fuzz(func(t *testing.T, recording []byte) {
		root, err := openBytes(t, newCache(t), recording)
		if err != nil {
			return
		}
		for name, err := range nodestest.Check(t, root) {
			t.Errorf("%s: %v", name, err)
		}
	})
}

// FuzzRecords fuzzes the records behind a good header.
func FuzzRecords(f *testing.F) {
	w := newWriter(nil)
	head := len(w.b)
	w.skip(3)
	w.join(0)
	w.message(0, startInfo("a"))
	w.new(0, 1, 2)
	w.diff(0, 1, 1)
	w.inputNew(0, [inputs]int{1})
	w.ex("player_name", 0, packed(0, "n"))
	w.drop(0, "r")
	f.Add(w.b[head:])
	f.Fuzz(func(t *testing.T, records []byte) {
		root, err := openBytes(t, newCache(t), append(w.b[:head:head], records...))
		if err != nil {
			t.Fatal(err)
		}
		for name, err := range nodestest.Check(t, root) {
			t.Errorf("%s: %v", name, err)
		}
	})
}

// A saved index says all that the pass learned.
func TestIndexRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := draw(rt).b
		_, x := indexed(rt, b)
		saved := x.Append(nil)
		got, err := decodeIndex(saved)
		if err != nil {
			rt.Fatal(err)
		}
		if err := got.check(int64(len(b))); err != nil {
			rt.Fatal(err)
		}
		if !bytes.Equal(got.Append(nil), saved) {
			rt.Fatal("the index is another after it was saved")
		}
		for n := 0; n < len(saved); n += 1 + n/16 {
			if _, err := decodeIndex(saved[:n]); err == nil {
				rt.Fatalf("%d of %d bytes are an index", n, len(saved))
			}
		}
	})
}

// A saved index may say that lines are longer than there is memory.
func TestForgedLines(t *testing.T) {
	w := newWriter(nil)
	w.new(0, 1, 2)
	h, x := indexed(t, w.b)
	x.chunks[0].Lines = maxSize
	if err := x.check(int64(len(w.b))); err != nil {
		t.Fatal(err)
	}
	root, _ := newTree(formats.Recording{
		Input: formatstest.BytesInput("x.teehistorian", w.b, time.Unix(1, 0)), Head: h,
		Index: func(context.Context) (formats.Index, error) { return x, nil },
	}, newCache(t), Options{})
	e, err := nodes.Lookup(t.Context(), root, "lines/000000.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := nodes.ReadAll(t.Context(), e.File); err == nil {
		t.Errorf("%d bytes are read", len(b))
	}
}

func FuzzIndex(f *testing.F) {
	w := newWriter(nil)
	w.join(0)
	w.new(0, 1, 2)
	w.skip(5)
	_, x := indexed(f, w.b)
	f.Add(x.Append(nil))
	f.Fuzz(func(t *testing.T, values []byte) {
		x, err := decodeIndex(values)
		if err != nil || x.check(formats.UnknownSize) != nil {
			return
		}
		for k := range x.chunks {
			if _, _, err := x.stateAt(k, false); err != nil {
				t.Errorf("chunk %d: %v", k, err)
			}
		}
	})
}

// The outline is that of the map with the name and the hash of the header.
func TestMapOutline(t *testing.T) {
	file := []byte("a map")
	sum := sha256.Sum256(file)
	w := newWriter(map[string]any{"version": "2", "map_name": "some map", "map_sha256": hex.EncodeToString(sum[:])})
	w.new(0, 40, 40)
	w.diff(0, 5, 5)
	format := New(Options{Map: func(_ context.Context, b []byte) (*formats.Outline, error) {
		if !bytes.Equal(b, file) {
			return nil, errors.New("another map")
		}
		return &formats.Outline{Width: 3, Height: 2, Solid: []bool{true, true, false, false, false, true}}, nil
	}})
	outline := `<path fill="#ccc" d="M0 0h64v32h-64zM64 32h32v32h-32z"/>`
	for _, c := range []struct {
		files fstest.MapFS
		want  bool
	}{
		{fstest.MapFS{"some map.map": {Data: file}}, true},
		{fstest.MapFS{"maps/some map.map": {Data: file}}, true},
		{fstest.MapFS{"maps/some map_" + hex.EncodeToString(sum[:]) + ".map": {Data: file}}, true},
		{fstest.MapFS{"some map.map": {Data: []byte("another map")}}, false},
		{nil, false},
	} {
		src := formatstest.BytesInput("x.teehistorian", w.b, time.Unix(1, 0))
		src.Beside = formatstest.Folder{FS: c.files}
		root, err := formatstest.Open(t.Context(), format, src, newCache(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := nodestest.Read(t, root, "export/paths.svg"); strings.Contains(got, outline) != c.want {
			t.Errorf("%v: %s", c.files, got)
		}
	}
}

// Paths over a wide map are wide enough to be seen with all of it.
func TestStroke(t *testing.T) {
	for far, want := range map[int]string{100: "stroke-width:4;", 7000: "stroke-width:4;", 15000: "stroke-width:10;", 1 << 20: "stroke-width:32;"} {
		w := newWriter(nil)
		w.new(0, 0, 0)
		w.new(1, far, 0)
		if got := nodestest.Read(t, rootOf(t, w), "export/paths.svg"); !strings.Contains(got, want) {
			t.Errorf("%d: %.200s, want %s", far, got, want)
		}
	}
}

// A line breaks where its player teleports, and the best run is drawn once more, from start to end.
func TestPathsOfRun(t *testing.T) {
	w := newWriter(nil)
	w.new(0, 0, 0)
	w.diff(0, 32, 0)
	w.diff(0, 0, 32*11)
	w.diff(0, 32, 0)
	w.ex("player_finish", 0, packed(0, 10))
	got := nodestest.Read(t, rootOf(t, w), "export/paths.svg")
	for _, want := range []string{
		"<polyline points=\"0,0 32,0\"/>\n<path class=\"l\" d=\"M32,352 64,352\"/>\n</g>",
		"d=\"M0,0 32,0M32,352 64,352\"/>", "<title>start</title>", ">finish: 00, 0:00:00.20</text>",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %s in %s", want, got)
		}
	}
}

// A recording with a wrong byte anywhere is shown as far as it can be, with sizes that are right.
func TestFlippedBytes(t *testing.T) {
	sample, err := os.ReadFile("../../testdata/archive/teehistorian/reload-20.1.teehistorian")
	if err != nil {
		t.Fatal(err)
	}
	c := newCache(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range nodestest.Times(40, 6) {
		b := bytes.Clone(sample)
		i := rnd.IntN(len(b))
		b[i] ^= 1 << rnd.IntN(8)
		root, err := openBytes(t, c, b)
		if err != nil {
			continue // in the header
		}
		for name, err := range nodestest.Check(t, root) {
			t.Errorf("byte %d: %s: %v", i, name, err)
		}
	}
}

// Two bytes begin a stay, so that their number has to be bounded.
func TestManyStays(t *testing.T) {
	w := newWriter(nil)
	w.b = append(w.b, bytes.Repeat([]byte{0x47, 0}, maxStays+100)...)
	_, x := indexed(t, w.b)
	if len(x.stays) != maxStays+1 || x.end != endDamaged {
		t.Errorf("%d stays, ends %s", len(x.stays), x.end)
	}
	if dirs := x.dirs(nodes.SafeName); dirs[maxStays] != fmt.Sprint("00-", maxStays+1) {
		t.Errorf("the last one is %s", dirs[maxStays])
	}
}

// A record of 20 bytes may be a problem, so that their number has to be bounded, which is told even
// where the first one too many is an anomaly. What ends the records is told all the same.
func TestManyProblems(t *testing.T) {
	for _, anomalies := range []int{0, 1} {
		w := newWriter(nil)
		w.ex("auth_login", 1, packed(1))
		one := bytes.Clone(w.b[len(newWriter(nil).b):])
		w.b = append(w.b, bytes.Repeat(one, maxProblems-1)...)
		for range anomalies {
			w.new(1024, 0, 0)
		}
		w.b = append(append(w.b, bytes.Repeat(one, 9)...), one[:3]...)
		_, x := indexed(t, w.b)
		list := x.problemList()[maxProblems+anomalies:]
		if len(list) != 2 || !strings.HasSuffix(list[0].Message, "are missing (more like this are not listed)") || list[1].Code != codeTruncated {
			t.Errorf("%d anomalies: the last problems are %+v", anomalies, list)
		}
	}
}

// A tick may have any number of records: its document, and the lines of its chunk, are made as they
// are read, from wherever that is.
func TestLongTick(t *testing.T) {
	nodestest.Long(t)
	w := newWriter(nil)
	w.join(1)
	w.skip(4)
	w.join(2)
	w.skip(0)
	for range 40_000 { // of one tick
		w.message(1, startInfo("nameless"))
	}
	w.inputNew(1, [inputs]int{7})
	w.skip(0)
	w.join(3)
	w.finish()
	c := cache.New(64<<20, nil)
	defer c.Close()
	root, err := formatstest.Open(t.Context(), Format, formatstest.BytesInput("x", w.b, time.Unix(1, 0)), c)
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range nodestest.Check(t, root) {
		t.Errorf("%s: %v", name, err)
	}
	lines := strings.SplitAfter(nodestest.Read(t, root, "lines/000000.jsonl"), "\n")
	if len(lines) != 4 || len(lines[2]) < longLines || len(lines[3]) > 0 {
		t.Fatalf("%d lines, the third of %d bytes", len(lines), len(lines[2]))
	}
	for i, tick := range []string{"0", "5", "6"} {
		var line, doc bytes.Buffer
		text := nodestest.Read(t, root, "ticks/"+tick+".json")
		if err := errors.Join(json.Compact(&line, []byte(lines[i])), json.Compact(&doc, []byte(text))); err != nil {
			t.Fatal(err)
		}
		if line.String() != doc.String() {
			t.Errorf("tick %s is not as in the lines", tick)
		}
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		for range 6 {
			at := rng.IntN(len(text))
			n := rng.IntN(min(len(text)-at, 1<<20) + 1)
			b := make([]byte, n)
			err := c.Do(t.Context(), 0, func(ctx context.Context) error {
				e, err := nodes.Lookup(ctx, root, "ticks/"+tick+".json")
				if err != nil {
					return err
				}
				f, err := e.File.Open(ctx)
				if err == nil {
					_, err = f.ReadAt(ctx, b, int64(at))
				}
				return err
			})
			if err != nil && !errors.Is(err, io.EOF) || string(b) != text[at:at+n] {
				t.Errorf("tick %s: %d bytes from %d on are others, %v", tick, n, at, err)
			}
		}
	}
	if _, peak := c.Work(); peak > 48<<20 {
		t.Errorf("%d bytes counted", peak)
	}
	if got := nodestest.Read(t, root, "players/01-nameless/inputs.csv"); !strings.HasSuffix(got, "\n6,7,0,0,0,0,0,0,0,0,0\n") {
		t.Errorf("inputs %q", got)
	}
}
