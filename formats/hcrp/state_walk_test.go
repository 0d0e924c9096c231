package hcrp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// TestStateSizes holds the states that a pass over a stretch makes to those that are made alone,
// for random events in chunks of which some are damaged.
func TestStateSizes(t *testing.T) {
	nodestest.Long(t)
	known, unknown := 0, 0
	for seed := range uint64(nodestest.Times(12, 6)) {
		for _, host := range hosts(t) {
			g := &generator{rand.New(rand.NewPCG(seed, 5)), host.schema}
			r := g.recording(host.layout, host.version, 1+g.IntN(40), 1+g.IntN(30))
			if seed%3 == 2 {
				c := &r.chunks[g.IntN(len(r.chunks))]
				c.body = c.body[:g.IntN(len(c.body)+1)]
			}
			h, x := indexOf(t, fileInput(r.file(t), len(r.file(t))), host.schema)
			p := &playback{layout: host.layout, index: x, decode: h.reader(fileInput(r.file(t), len(r.file(t)))).decode}
			worlds := newPass(h.reader(fileInput(r.file(t), len(r.file(t)))), false)
			defer worlds.end()
			fast := &playback{layout: host.layout, index: x, decode: worlds.decode}
			for first := 0; first < int(x.ticks.count()); {
				from, end := x.run(first)
				if from != first || end <= first {
					t.Fatalf("%s, seed %d: the run of state %d is from %d to %d", host.name, seed, first, from, end)
				}
				made := map[int]string{}
				if err := fast.eachState(t.Context(), first, end, func(i int, compact []byte) error {
					made[i] = string(compact)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				for ; first < end; first++ {
					n := x.ticks.number(int64(first))
					doc, err := p.state(t.Context(), n)
					if known++; err != nil {
						unknown++
					}
					if made[first] != string(doc) || err != nil && !errors.Is(err, errUnknownTick) {
						t.Errorf("%s, seed %d: state %d is %.200s in its stretch, %.200s alone, %v", host.name, seed, n, made[first], doc, err)
					}
				}
			}
		}
	}
	if known < nodestest.Times(1000, 400) || unknown < nodestest.Times(10, 3) {
		t.Errorf("%d states, %d of them unknown", known, unknown)
	}
}

// TestQuiet holds chunks without text, and the rows made of those with it, to whole ones, whatever
// the limit of their text is.
func TestQuiet(t *testing.T) {
	stopped := 0
	for seed := range uint64(nodestest.Times(6, 2)) {
		for _, host := range hosts(t) {
			g := &generator{rand.New(rand.NewPCG(seed, 9)), host.schema}
			c := g.chunk(host.layout, 0, 20)
			e := Entry{Ticks: 20, Flags: c.flags}
			limits := Limits{}.withDefaults()
			for limits.Text = 1 << 20; limits.Text > 0; limits.Text = limits.Text * 7 / 8 {
				f := eventFormat{host.layout, host.schema, limits}
				want := f.decode(3, e, c.body)
				if want.stop != nil {
					stopped++
				}
				holdQuiet(t, f, e, c.body, want)
			}
		}
	}
	if stopped < nodestest.Times(100, 30) {
		t.Errorf("%d chunks are too long", stopped)
	}
}

// TestQuietFields does so with two events whose fields are no usual ones: blocks that are called an
// entity, and NBT of which members are dropped that the limit was exceeded by.
func TestQuietFields(t *testing.T) {
	name := func(tag byte) []byte { return []byte{tag, 0, 1, 'a'} }
	tags := slices.Concat([]byte{tagCompound}, name(tagString), []byte{1, 44}, make([]byte, 300), name(tagByte), []byte{1},
		name(tagByte), []byte{2, tagEnd})
	for fields, payload := range map[string][]byte{
		`{"name":"entity","type":{"list":{"struct":[{"name":"at","type":"block_pos"},{"name":"state","type":"varint"}]}}}`: {1, 0, 0, 0, 0, 0, 0, 0, 1, 7, 1, 1, 0, 0, 0, 0, 0, 0, 0, 2, 9},
		`{"name":"by","type":"lp_vec3"},{"name":"tags","type":"nbt"}`:                                                      slices.Concat([]byte{0}, tags, []byte{1, 0}, tags),
	} {
		s, err := ParseSchema([]byte(`{"format":"recording-schema/1","events":[{"id":1,"name":"odd","role":"blocks","fields":[` + fields + `]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		body := append([]byte{0, 0, 2, 1}, payload...)
		limits := Limits{}.withDefaults()
		for limits.Text = 100; limits.Text < 4000; limits.Text += 50 {
			f, e := eventFormat{Published, s, limits}, Entry{Ticks: 1, Flags: flagSnapshot}
			holdQuiet(t, f, e, body, f.decode(3, e, body))
		}
	}
}

// TestGatheredIsCounted decodes an event of many blocks: they are among the memory that a chunk
// takes.
func TestGatheredIsCounted(t *testing.T) {
	s, err := ParseSchema([]byte(`{"format":"recording-schema/1","events":[{"id":1,"name":"many","role":"blocks","fields":[` +
		`{"name":"list","type":{"list":{"struct":[{"name":"at","type":"block_pos"},{"name":"state","type":"varint"}]}}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	const blocks = 10_000
	body := slices.Concat([]byte{0, 0, 1, 1}, appendVarint(nil, blocks), make([]byte, 9*blocks))
	c := eventFormat{Published, s, Limits{}.withDefaults()}.decode(0, Entry{Ticks: 1}, body)
	if len(c.events[0].blocks) != blocks || c.weight() < int64(cap(c.text)+blocks*32) {
		t.Errorf("%d blocks, %d bytes with %d of text", len(c.events[0].blocks), c.weight(), cap(c.text))
	}
}

// holdQuiet holds what is decoded of a body without text to want, the whole chunk, and its rows.
func holdQuiet(t *testing.T, f eventFormat, e Entry, body []byte, want *chunk) {
	t.Helper()
	got := f.decodeIn(account{}, true, 3, e, body)
	if diff := cmp.Diff(want.problems, got.problems); diff != "" {
		t.Fatalf("%d bytes: %s", f.limits.Text, diff)
	}
	if want.known != got.known || want.final != got.final || want.records != got.records || want.marked != got.marked || len(want.ticks) != len(got.ticks) {
		t.Fatalf("%d bytes: %d ticks of %d, known to %d, %d are marked, want %d of %d, %d, %d", f.limits.Text,
			len(got.ticks), got.records, got.known, got.marked, len(want.ticks), want.records, want.known, want.marked)
	}
	for i := range want.ticks {
		w, g := want.ticks[i], got.ticks[i]
		if w.line = g.line; w != g {
			t.Fatalf("%d bytes: %+v, want %+v", f.limits.Text, g, w)
		}
	}
	if a, b := placesAfter(f.layout, want), placesAfter(f.layout, got); a != b {
		t.Fatalf("%d bytes: the positions are %s, want %s", f.limits.Text, b, a)
	}
	holdRows(t, f.decode(3, e, body))
}

// holdRows holds the data, id and entity of events to their objects.
func holdRows(t *testing.T, c *chunk) {
	t.Helper()
	for i := range c.events {
		e := &c.events[i]
		id, entity, data := takenApart(c.bytes(e.text))
		object := string(c.bytes(e.text))
		if got := string(c.appendData(nil, i)); got != data {
			t.Fatalf("data is %s, want %s of\n%s", got, data, object)
		}
		number, err := strconv.ParseInt(entity, 10, 32)
		if e.id != id || e.hasColumn != (err == nil) || err == nil && int64(e.column) != number {
			t.Fatalf("id %d, entity %d (%t) of\n%s", e.id, e.column, e.hasColumn, object)
		}
	}
}

// takenApart returns the id of an event, its entity if that is a whole number, and the object of
// its other fields.
func takenApart(object []byte) (id int32, entity, data string) {
	w := jsonenc.Walk(object)
	w.Enter()
	for w.More() {
		key, value := string(w.Value()), string(w.Value())
		switch {
		case key == `"event"`, key == `"snapshot"`:
		case key == `"id"`:
			n, _ := strconv.Atoi(value)
			id = int32(n)
		case key == `"entity"` && isWhole([]byte(value)):
			entity = value
		default:
			data += "," + key + ":" + value
		}
	}
	return id, entity, "{" + strings.TrimPrefix(data, ",") + "}"
}

// placesAfter returns where entities are after a chunk.
func placesAfter(l Layout, c *chunk) string {
	p := newReplay(l)
	p.places, p.world = true, nil
	p.play(&tickRange{Last: c.known}, c, c.known, nil)
	return fmt.Sprint(p.positions)
}

// TestTickSizes holds the sizes of all ticks of a directory to its documents, where chunks are
// damaged and overlap.
func TestTickSizes(t *testing.T) {
	for seed := range uint64(6) {
		for _, host := range hosts(t) {
			g := &generator{rand.New(rand.NewPCG(seed, 8)), host.schema}
			r := g.recording(host.layout, host.version, 2+g.IntN(20), 2+g.IntN(30))
			c := &r.chunks[g.IntN(len(r.chunks))]
			switch seed % 3 {
			case 1:
				c.body = c.body[:g.IntN(len(c.body)+1)]
			case 2:
				c.ticks += 5
			}
			rec, x := openedRecording(t, r.file(t), host.schema)
			if _, err := rec.Index(t.Context()); err != nil {
				t.Fatal(err)
			}
			holdTickSizes(t, rec, x)
		}
	}
}

// A tick that is cut in a chunk, or whole in the chunk behind it, has the size of what is shown.
func TestSizesOfCutTicks(t *testing.T) {
	host := hosts(t)[0]
	g := &generator{rand.New(rand.NewPCG(2, 8)), host.schema}
	r := g.recording(host.layout, host.version, 1, 1)
	r.chunks = []testChunk{g.chunk(host.layout, 0, 20), g.chunk(host.layout, 5, 20)}
	whole := r.chunks[0].body
	for n := len(whole) - 1; n > 0; n -= 7 {
		r.chunks[0].body = whole[:n]
		rec, x := openedRecording(t, r.file(t), host.schema)
		if _, err := rec.Index(t.Context()); err != nil {
			t.Fatal(err)
		}
		holdTickSizes(t, rec, x)
	}
}

// holdTickSizes holds the sizes of ticks to the documents.
func holdTickSizes(t *testing.T, rec *recording, x *index) {
	t.Helper()
	for i := range x.ticks.count() {
		n := x.ticks.number(i)
		file := fileOf(t, rec.Documents("ticks", rec.ticks()), n)
		size, err := file.Size(t.Context())
		b, readErr := nodes.ReadAll(t.Context(), file)
		if int64(len(b)) != size || (err == nil) != (readErr == nil) {
			t.Errorf("tick %d of %d bytes, %v; size %d, %v", n, len(b), readErr, size, err)
		}
	}
}

// openedRecording returns the recording in a file, and its index.
func openedRecording(t testing.TB, file []byte, schema *Schema) (*recording, *index) {
	in := fileInput(file, len(file))
	h, x := indexOf(t, in, schema)
	return newRecording(formats.Recording{
		Input: in, Head: h,
		Index:  func(context.Context) (formats.Index, error) { return x, nil },
		Damage: func(context.Context) (*formats.Problem, error) { return nil, nil },
	}, testCache(t, nil)), x
}

// fileOf returns the file of a tick.
func fileOf(t testing.TB, dir nodes.Dir, n int64) nodes.File {
	t.Helper()
	e, err := nodes.Lookup(t.Context(), dir, fmt.Sprintf("%08d.json", n))
	if err != nil {
		t.Fatal(err)
	}
	return e.File
}
