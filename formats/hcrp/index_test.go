package hcrp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes/nodestest"
)

// indexOf returns the index of a recording, made anew.
func indexOf(t testing.TB, in formats.Input, schema *Schema) (*head, *index) {
	t.Helper()
	opened, err := Options{}.open(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	h := opened.(*head)
	h.schema = schema
	x, err := scan(t.Context(), in, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h, x.(*index)
}

// fileInput returns the first n bytes of a recording that is a file.
func fileInput(b []byte, n int) formats.Input {
	return formatstest.BytesInput("test.hcrp", b[:n], testTime)
}

// dirInput returns a recording in segments.
func dirInput(fsys iofs.FS) formats.Input {
	files := formatstest.Files(fsys)
	return formats.Input{Name: "test", Files: files, Beside: formatstest.Folder{FS: fsys}, ModTime: testTime}
}

// shown returns all that an index is for those who use it.
func shown(x *index) string {
	other := *x
	other.eventRows, other.positionRows, other.markerRows = nil, nil, nil // print as addresses
	return fmt.Sprintf("%v %v %v %v", other, x.eventRows.Groups(), x.positionRows.Groups(), x.markerRows.Groups())
}

// A growth is one version after the other of a recording that is being written.
type growth struct {
	t      *testing.T
	schema *Schema
	saved  []byte // the index of the last version
}

// look indexes a version from its start and goes on with the index of the last version. It returns
// how many bytes of a file the latter read.
func (g *growth) look(what string, in formats.Input) int64 {
	g.t.Helper()
	h, fresh := indexOf(g.t, in, g.schema)
	saved := fresh.Append(nil)
	if g.saved == nil {
		g.saved = saved
	}
	counter := &nodestest.Counted{ReaderAt: in.ReaderAt}
	if in.ReaderAt != nil {
		in.ReaderAt = counter
	}
	read := func(b []byte) *index {
		x, err := readIndex(in, h, b)
		if err != nil {
			g.t.Fatalf("%s: %v", what, err)
		}
		return x.(*index)
	}
	if again := read(saved); shown(again) != shown(fresh) {
		g.t.Errorf("%s: the saved index is another:\n%s\nnot\n%s", what, shown(again), shown(fresh))
	}
	resumed, err := scan(g.t.Context(), in, h, read(g.saved))
	if err != nil {
		g.t.Fatalf("%s: %v", what, err)
	}
	if a, b := shown(fresh), shown(resumed.(*index)); a != b {
		g.t.Errorf("%s: the index that went on is another:\n%s\nnot\n%s", what, b, a)
	}
	if !bytes.Equal(resumed.Append(nil), saved) {
		g.t.Errorf("%s: the index that went on is saved otherwise", what)
	}
	g.saved = saved
	return counter.Bytes.Load()
}

// TestIndexGoesOn indexes recordings while they grow.
func TestIndexGoesOn(t *testing.T) {
	for _, host := range hosts(t) {
		for seed := range uint64(nodestest.Times(12, 4)) {
			g := &generator{rand.New(rand.NewPCG(seed, 20)), host.schema}
			rec := g.recording(host.layout, host.version, 2+g.IntN(6), 20)
			schema := host.schema
			if seed%4 == 3 {
				schema = nil
			}
			what := fmt.Sprintf("%s, seed %d", host.name, seed)

			live := growth{t: t, schema: schema}
			for n := 1; n <= len(rec.chunks); n++ {
				part := *rec
				part.chunks = rec.chunks[:n]
				live.look(fmt.Sprintf("%s, %d chunks in segments", what, n), dirInput(part.segments(t, 1+int(seed%3))))
			}

			file := rec.file(t)
			download := growth{t: t, schema: schema}
			for n := len(rec.preamble(rec.frames(t), func(int) int64 { return 0 })); n <= len(file); n += 1 + g.IntN(200) {
				download.look(fmt.Sprintf("%s, %d of %d bytes", what, n, len(file)), fileInput(file, n))
			}
		}
	}
}

// TestIndexGoesOnWithoutTheStart counts what is read of a long recording that has grown by one
// chunk: no more than it takes to play to there.
func TestIndexGoesOnWithoutTheStart(t *testing.T) {
	nodestest.Long(t)
	g := &generator{rand.New(rand.NewPCG(1, 21)), hosts(t)[0].schema}
	file := g.recording(Published, 4, 100, 100).file(t)
	live := growth{t: t, schema: g.schema}
	for _, cut := range []int{1, 0} {
		in := fileInput(file, len(file)-cut)
		h, _ := indexOf(t, in, g.schema)
		if n, last := live.look("a long recording", in), h.Entry(99).Stored; n > 5*last {
			t.Errorf("%d bytes were read to index one more chunk of %d", n, last)
		}
	}
}

// TestRewrittenRecordingIsIndexedAgain changes what was indexed before.
func TestRewrittenRecordingIsIndexedAgain(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 22)), hosts(t)[0].schema}
	rec := g.recording(Published, 4, 6, 20)
	// look returns index.json, and whether the index was made anew.
	look := func(fsys iofs.FS, disk cache.Store) (string, bool) {
		format, anew := New(Options{}), false
		format.Scan = func(ctx context.Context, in formats.Input, h formats.Head, earlier formats.Index) (formats.Index, error) {
			anew = anew || earlier == nil
			return scan(ctx, in, h, earlier)
		}
		in := dirInput(fsys)
		formatstest.Keep(&in, disk)
		dir, err := formatstest.Open(t.Context(), format, in, testCache(t, disk))
		if err != nil {
			t.Fatal(err)
		}
		return mustRead(t, dir, "index.json"), anew
	}
	for name, c := range map[string]struct {
		change func(fstest.MapFS)
		anew   bool
	}{
		"the start of the first segment": {func(m fstest.MapFS) { m["segment-000.dat"].Data[0] ^= 1 }, true},
		"the end of the first segment":   {func(m fstest.MapFS) { b := m["segment-000.dat"].Data; b[len(b)-1] ^= 1 }, true},
		"the start of the last segment":  {func(m fstest.MapFS) { m["segment-002.dat"].Data[0] ^= 1 }, true},
		"the end of the last segment":    {func(m fstest.MapFS) { b := m["segment-002.dat"].Data; b[len(b)-1] ^= 1 }, true},
		"a shorter segment":              {func(m fstest.MapFS) { b := m["segment-001.dat"].Data; m["segment-001.dat"].Data = b[:len(b)-1] }, true},
		"without the last segment":       {func(m fstest.MapFS) { delete(m, "segment-002.dat") }, true},
		"another index": {func(m fstest.MapFS) {
			other := *rec
			other.chunks = slices.Clone(rec.chunks[:5])
			m[preambleName] = other.segments(t, 2)[preambleName]
		}, true},
		"nothing":                   {func(fstest.MapFS) {}, false},
		"a segment of another time": {func(m fstest.MapFS) { m["segment-000.dat"].ModTime = testTime.Add(1) }, false},
		"a longer segment":          {func(m fstest.MapFS) { m["segment-002.dat"].Data = append(m["segment-002.dat"].Data, 0) }, false},
	} {
		disk, fsys := store{}, rec.segments(t, 2)
		look(fsys, disk)
		c.change(fsys)
		want, _ := look(fsys, nil)
		if got, anew := look(fsys, disk); got != want || anew != c.anew {
			t.Errorf("%s: made anew: %v, index.json is\n%s\nnot\n%s", name, anew, got, want)
		}
	}
}

// A chunk whose bytes were missing is looked for again once its file has become longer.
func TestLostChunkComesBack(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 23)), hosts(t)[0].schema}
	rec := g.recording(Published, 4, 4, 20)
	whole := rec.segments(t, 2)
	cut := rec.segments(t, 2)
	cut["segment-000.dat"].Data = cut["segment-000.dat"].Data[:len(cut["segment-000.dat"].Data)-1]
	_, lost := indexOf(t, dirInput(cut), g.schema)
	h, _ := indexOf(t, dirInput(whole), g.schema)
	if _, err := readIndex(dirInput(whole), h, lost.Append(nil)); !errors.Is(err, formats.ErrOther) {
		t.Errorf("the index without the chunk: %v", err)
	}
}

// TestRemoveWithoutEntity plays an event that removes nothing.
func TestRemoveWithoutEntity(t *testing.T) {
	schema, err := ParseSchema([]byte(`{"format":"recording-schema/1","name":"t","events":[
		{"id":1,"name":"put","role":"place","fields":[{"name":"entity","type":"u8"},{"name":"position","type":{"struct":[{"name":"x","type":"u8"}]}}]},
		{"id":2,"name":"gone","role":"remove","fields":[]},
		{"id":3,"name":"appear","role":"spawn","fields":[{"name":"entity","type":"string"},{"name":"position","type":"lp_vec3"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	rec := &testRecording{layout: Published, version: 4, metadata: []byte{10, 0}, chunks: []testChunk{
		{start: 0, ticks: 2, body: []byte{0, 0, 2, 1, 0, 5, 2, 1, 0, 2, 3, 0, 0, 1, 0, 6}},
	}}
	dir, err := openBytes(t, rec.file(t), Options{Schemas: []*Schema{schema}})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir, "tracks"); !slices.Equal(got, []string{"entity-0.csv"}) {
		t.Errorf("tracks/ lists %v", got)
	}
	if got, want := mustRead(t, dir, "tracks/entity-0.csv"), trackHead+"0,5,0,0,0,0\n1,6,0,0,0,0\n"; got != want {
		t.Errorf("the track is\n%s", got)
	}
}

// TestSaved holds the bytes of saved heads and indexes to the layout that all formats share.
func TestSaved(t *testing.T) {
	opt := Options{Schemas: []*Schema{testSchema(t, designSchema)}}
	nodestest.Saved(t, "../../testdata/hcrp/saved.sums", indexfile.Layout, func(b []byte) []byte {
		in := fileInput(b, len(b))
		h, err := opt.open(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		x, err := scan(t.Context(), in, h, nil)
		if err != nil {
			t.Fatal(err)
		}
		head, saved := h.Append(nil), x.Append(nil)
		again, err := opt.readHead(t.Context(), in, head)
		if err != nil || !bytes.Equal(again.Append(nil), head) {
			t.Fatalf("a head changes when it is saved: %v", err)
		}
		if x, err = readIndex(in, again, saved); err != nil || !bytes.Equal(x.Append(nil), saved) {
			t.Errorf("an index changes when it is saved: %v", err)
		}
		return append(head, saved...)
	}, "../../testdata/hcrp/*.txtar")
}

// A saved head or index that ends early, or goes on after its end, is none; and a broken one does
// no harm.
func TestSavedCut(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(3, 3)), hosts(t)[0].schema}
	b := g.recording(Published, 4, 3, 20).file(t)
	in := fileInput(b, len(b))
	h, x := indexOf(t, in, g.schema)
	saved := h.Append(nil)
	for n := range saved {
		if _, err := (Options{}).readHead(t.Context(), in, saved[:n]); err == nil {
			t.Fatalf("%d of %d bytes are a head", n, len(saved))
		}
	}
	if _, err := (Options{}).readHead(t.Context(), in, append(saved, 0)); err == nil {
		t.Error("a byte more is a head")
	}
	saved = x.Append(nil)
	for n := range saved {
		if _, err := readIndex(in, h, saved[:n]); err == nil {
			t.Fatalf("%d of %d bytes are an index", n, len(saved))
		}
	}
	if _, err := readIndex(in, h, append(saved, 0)); err == nil {
		t.Error("a byte more is an index")
	}
	other := fileInput(b, len(b)-1)
	cut, _ := indexOf(t, other, g.schema)
	if _, err := readIndex(other, cut, saved); err == nil {
		t.Error("the index of a longer recording is one")
	}
}

// TestBlockWithoutState shows a block that an event places without telling its state.
func TestBlockWithoutState(t *testing.T) {
	schema, err := ParseSchema([]byte(`{"format":"recording-schema/1","name":"t","events":[
		{"id":1,"name":"put","role":"block","fields":[{"name":"at","type":"block_pos"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	rec := &testRecording{layout: Published, version: 4, metadata: []byte{10, 0}, chunks: []testChunk{
		{start: 0, ticks: 1, body: []byte{0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}},
	}}
	dir, err := openBytes(t, rec.file(t), Options{Schemas: []*Schema{schema}})
	if err != nil {
		t.Fatal(err)
	}
	got := mustRead(t, dir, "states/00000000.json")
	if !json.Valid([]byte(got)) || !strings.Contains(got, `"state":null`) {
		t.Errorf("the state is\n%s", got)
	}
}
