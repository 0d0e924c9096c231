package hcrp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/nodes/nodestest"
)

// A growth is one version after the other of a recording that is being written.
type growth struct {
	t      *testing.T
	schema *Schema
	saved  []byte // the index of the last version
}

// look indexes a version from its start and goes on with the index of the last version. It returns
// how many bytes the latter read.
func (g *growth) look(what string, r *Reader, size int64, modified time.Time) int64 {
	g.t.Helper()
	counter := &countingReader{r: r.file}
	r.file = counter
	stamp := formats.Stamp{Size: size, Modified: modified.Unix(), Nanos: int64(modified.Nanosecond())}
	rec := eventReader{r, g.schema}
	fresh, err := makeIndex(g.t.Context(), rec, stamp)
	if err != nil {
		g.t.Fatal(err)
	}
	saved := fresh.encode(r.byTick)
	if g.saved == nil {
		g.saved = saved
	}
	counter.n.Store(0)
	resumed, err := resumeIndex(g.t.Context(), rec, stamp, g.saved)
	if err != nil {
		g.t.Errorf("%s: %v", what, err)
		return 0
	}
	if !bytes.Equal(resumed.encode(r.byTick), saved) {
		g.t.Errorf("%s: the index that went on is another", what)
	}
	if !reflect.DeepEqual(fresh.eventRows, resumed.eventRows) || !reflect.DeepEqual(fresh.positionRows, resumed.positionRows) {
		g.t.Errorf("%s: the index that went on has other rows of tables", what)
	}
	for _, x := range []*index{fresh, resumed} {
		x.eventRows, x.positionRows = nil, nil // were compared, and print as addresses
	}
	if a, b := fmt.Sprintf("%v", fresh), fmt.Sprintf("%v", resumed); a != b {
		g.t.Errorf("%s: the index that went on is another:\n%s\nnot\n%s", what, b, a)
	}
	g.saved = saved
	return counter.n.Load()
}

// TestIndexGoesOn indexes recordings while they grow.
func TestIndexGoesOn(t *testing.T) {
	for _, h := range hosts(t) {
		for seed := range uint64(12) {
			g := &generator{rand.New(rand.NewPCG(seed, 20)), h.schema}
			rec := g.recording(h.layout, h.version, 2+g.IntN(6), 20)
			schema := h.schema
			if seed%4 == 3 {
				schema = nil
			}
			what := fmt.Sprintf("%s, seed %d", h.name, seed)

			live := growth{t: t, schema: schema}
			for n := 1; n <= len(rec.chunks); n++ {
				part := *rec
				part.chunks = rec.chunks[:n]
				r, err := OpenDir(t.Context(), part.segments(t, 1+int(seed%3)), Options{})
				if err != nil {
					t.Fatal(err)
				}
				live.look(fmt.Sprintf("%s, %d chunks in segments", what, n), r, 0, testTime)
			}

			file := rec.file(t)
			download := growth{t: t, schema: schema}
			for n := len(rec.preamble(rec.frames(t), func(int) int64 { return 0 })); n <= len(file); n += 1 + g.IntN(200) {
				r, err := NewReader(t.Context(), formats.BytesReader(file[:n]), int64(n), nil, Options{})
				if err != nil {
					t.Fatal(err)
				}
				download.look(fmt.Sprintf("%s, %d of %d bytes", what, n, len(file)), r, int64(n), testTime.Add(time.Duration(n)))
			}
		}
	}
}

// TestIndexGoesOnWithoutTheStart counts what is read of a long recording that has grown by one
// chunk: all once, to compare it, and little to decode.
func TestIndexGoesOnWithoutTheStart(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 21)), hosts(t)[0].schema}
	rec := g.recording(Published, 4, 100, 100)
	file := rec.file(t)
	live := growth{t: t, schema: g.schema}
	for _, cut := range []int{1, 0} {
		r, err := NewReader(t.Context(), formats.BytesReader(file[:len(file)-cut]), int64(len(file)-cut), nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := live.look("a long recording", r, int64(len(file)-cut), testTime)
		if n > int64(len(file))+5*r.Entry(99).Stored {
			t.Errorf("%d bytes were read to index one more chunk of %d", n, r.Entry(99).Stored)
		}
	}
}

// TestRewrittenRecordingIsIndexedAgain changes what was indexed before.
func TestRewrittenRecordingIsIndexedAgain(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 22)), hosts(t)[0].schema}
	rec := g.recording(Published, 4, 6, 20)
	open := func(fsys fstest.MapFS) eventReader {
		r, err := OpenDir(t.Context(), fsys, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return eventReader{r, g.schema}
	}
	first := open(rec.segments(t, 2))
	fresh, err := makeIndex(t.Context(), first, formats.Stamp{})
	if err != nil {
		t.Fatal(err)
	}
	saved := fresh.encode(first.byTick)
	for name, change := range map[string]func(fstest.MapFS){
		"the start of the first segment": func(m fstest.MapFS) { m["segment-000.dat"].Data[0] ^= 1 },
		"the end of the first segment":   func(m fstest.MapFS) { b := m["segment-000.dat"].Data; b[len(b)-1] ^= 1 },
		"the start of the last segment":  func(m fstest.MapFS) { m["segment-002.dat"].Data[0] ^= 1 },
		"the end of the last segment":    func(m fstest.MapFS) { b := m["segment-002.dat"].Data; b[len(b)-1] ^= 1 },
		"a shorter segment":              func(m fstest.MapFS) { b := m["segment-001.dat"].Data; m["segment-001.dat"].Data = b[:len(b)-1] },
		"without the last segment":       func(m fstest.MapFS) { delete(m, "segment-002.dat") },
		"another index": func(m fstest.MapFS) {
			other := *rec
			other.chunks = slices.Clone(rec.chunks[:5])
			m[preambleName] = other.segments(t, 2)[preambleName]
		},
	} {
		fsys := rec.segments(t, 2)
		change(fsys)
		if _, err := resumeIndex(t.Context(), open(fsys), formats.Stamp{}, saved); err == nil {
			t.Errorf("%s: the old index is used", name)
		}
	}
	for name, change := range map[string]func(fstest.MapFS){
		"nothing":                   func(fstest.MapFS) {},
		"a segment of another time": func(m fstest.MapFS) { m["segment-000.dat"].ModTime = testTime.Add(1) },
		"a longer segment":          func(m fstest.MapFS) { m["segment-002.dat"].Data = append(m["segment-002.dat"].Data, 0) },
	} {
		fsys := rec.segments(t, 2)
		change(fsys)
		x, err := resumeIndex(t.Context(), open(fsys), formats.Stamp{}, saved)
		if err != nil || x.progress != fresh.progress {
			t.Errorf("%s changed: %v", name, err)
		}
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

// TestSaved holds the bytes of saved indexes to the layout that all formats share.
func TestSaved(t *testing.T) {
	given := []*Schema{testSchema(t, designSchema)}
	nodestest.Saved(t, "../../testdata/hcrp/saved.sums", indexfile.Layout, func(b []byte) []byte {
		r, err := NewReader(t.Context(), formats.BytesReader(b), int64(len(b)), nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		schema, err := chooseSchema(t.Context(), r, "a.hcrp", nil, given)
		if err != nil {
			t.Fatal(err)
		}
		x, err := makeIndex(t.Context(), eventReader{r, schema}, formats.Stamp{Size: r.size})
		if err != nil {
			t.Fatal(err)
		}
		saved := x.encode(r.byTick)
		again, err := decodeIndex(saved, r.byTick, r.Chunks())
		if err != nil || !bytes.Equal(again.encode(r.byTick), saved) {
			t.Errorf("an index changes when it is saved: %v", err)
		}
		return saved
	}, "../../testdata/hcrp/*.txtar")
}

// A saved index that ends early, or goes on after its end, is none; and a broken one does no harm.
func TestDecodeIndexCut(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(3, 3)), hosts(t)[0].schema}
	b := g.recording(Published, 4, 3, 20).file(t)
	r, err := NewReader(t.Context(), formats.BytesReader(b), int64(len(b)), nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := makeIndex(t.Context(), eventReader{r, g.schema}, formats.Stamp{})
	if err != nil {
		t.Fatal(err)
	}
	saved := x.encode(r.byTick)
	for n := range saved {
		if _, err := decodeIndex(saved[:n], r.byTick, r.Chunks()); err == nil {
			t.Fatalf("%d of %d bytes are an index", n, len(saved))
		}
	}
	if _, err := decodeIndex(append(saved, 0), r.byTick, r.Chunks()); err == nil {
		t.Error("a byte more is an index")
	}
	if _, err := decodeIndex(saved, r.byTick[:1], 1); err == nil {
		t.Error("the index of another recording is one")
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
