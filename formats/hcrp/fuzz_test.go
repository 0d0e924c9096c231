package hcrp

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

func samples(f *testing.F) [][]byte {
	files, err := filepath.Glob("../../testdata/archive/hcrp/*.hcrp")
	if err != nil {
		f.Fatal(err)
	}
	var list [][]byte
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		list = append(list, b)
	}
	return list
}

func FuzzHeader(f *testing.F) {
	for _, b := range samples(f) {
		f.Add(b[:headerSize])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHeader(b)
		if err != nil {
			if _, ok := formats.Coded(err); !ok {
				t.Fatal(err)
			}
			return
		}
		if _, err := json.Marshal(h.json()); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzIndex puts arbitrary bytes into the place of metadata and index.
func FuzzIndex(f *testing.F) {
	for _, b := range samples(f) {
		f.Add(b, uint16(2), uint16(100), uint16(7), false)
	}
	f.Fuzz(func(t *testing.T, b []byte, metadata, index, chunks uint16, segments bool) {
		if h, err := parseHeader(b); err == nil {
			at := int(h.indexLengthOffset()) - 4
			b = bytes.Clone(b)
			copy(b[at:], []byte{0, 0, byte(metadata >> 8), byte(metadata), 0, 0, byte(index >> 8), byte(index)})
			copy(b[at+12:], []byte{0, 0, byte(chunks >> 8), byte(chunks)})
		}
		var r *Reader
		var err error
		if segments {
			r, err = Options{}.newReader(t.Context(), dirInput(fstest.MapFS{preambleName: {Data: b}, "segment-000.dat": {Data: b}}))
		} else {
			r, err = readerOf(t.Context(), b)
		}
		if err != nil {
			return
		}
		for i := range r.Chunks() {
			if _, err := r.Body(t.Context(), i); err != nil && !errors.Is(err, formats.ErrCorrupt) {
				t.Fatal(err)
			}
		}
		if _, err := withSchema(r, nil).salvage().find(t.Context(), 100); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzNBT(f *testing.F) {
	f.Add([]byte{10, 0})
	f.Add([]byte{10, 0, 1, 'a', 9, 0, 0, 9, 0, 0, 0, 0, 2, 1, 2, 0})
	for _, b := range samples(f) {
		f.Add(b[headerSize:])
	}
	limits := Limits{Text: 1 << 20}.withDefaults()
	f.Fuzz(func(t *testing.T, b []byte) {
		out, _, err := typedMetadata(b, limits)
		if err == nil && !json.Valid(out) {
			t.Fatalf("no JSON: %s", out)
		}
	})
}

func FuzzEvents(f *testing.F) {
	list := hosts(f)
	for i, h := range list {
		g := &generator{rand.New(rand.NewPCG(9, 9)), h.schema}
		for _, c := range g.recording(h.layout, h.version, 3, 10).chunks {
			f.Add(c.body, uint8(i), uint16(c.start), uint16(c.ticks), c.flags != 0)
		}
	}
	limits := Limits{Text: 1 << 20}.withDefaults()
	f.Fuzz(func(t *testing.T, b []byte, host uint8, start, ticks uint16, snapshot bool) {
		h := list[int(host)%len(list)]
		e := Entry{Start: int64(start), Ticks: int64(ticks)}
		if snapshot {
			e.Flags = flagSnapshot
		}
		format := eventFormat{h.layout, h.schema, limits}
		c := format.decode(3, e, b)
		holdQuiet(t, format, e, b, c)
		for _, lines := range [][]byte{c.Lines(), c.SnapshotLines(h.layout)} {
			for line := range bytes.Lines(lines) {
				if !json.Valid(line) {
					t.Fatalf("no JSON: %s", line)
				}
			}
		}
		p := newReplay(h.layout)
		g := &ghostRows{replay: p, out: new([]byte)}
		p.play(&tickRange{First: e.Start, Last: c.known}, c, min(c.known, e.Start+maxRange-1), g)
		if int64(len(*g.out)) != g.size {
			t.Fatalf("%d bytes of rows, %d counted", len(*g.out), g.size)
		}
		packed := p.encode()
		again := newReplay(h.layout)
		err := again.decode(packed)
		if err != nil || !bytes.Equal(again.encode(), packed) {
			t.Fatalf("the replay changes when packed: %v", err)
		}
		if p.world == nil {
			return
		}
		if state := p.world.appendState([]byte{'{'}); !json.Valid(state) {
			t.Fatalf("no JSON: %s", state)
		}
	})
}

func FuzzSchema(f *testing.F) {
	f.Add(parkourV4)
	f.Add([]byte(`{"format":"recording-schema/1","events":[{"id":1,"name":"a","fields":[{"name":"v","type":{"map":["u8",{"list":"string"}]}}]}]}`))
	g := &generator{Rand: rand.New(rand.NewPCG(9, 9)), schema: hosts(f)[0].schema}
	body := g.chunk(Published, 0, 30).body
	limits := Limits{Text: 1 << 20}.withDefaults()
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseSchema(b)
		if err != nil {
			return
		}
		for _, l := range []Layout{Published, Design} {
			f, e := eventFormat{l, s, limits}, Entry{Ticks: 100, Flags: flagSnapshot}
			holdQuiet(t, f, e, body, f.decode(3, e, body))
		}
	})
}

// FuzzTree opens arbitrary bytes and walks what they give.
func FuzzTree(f *testing.F) {
	for _, b := range samples(f) {
		f.Add(b)
	}
	format := New(Options{Schemas: []*Schema{hosts(f)[2].schema}, Limits: Limits{Text: 1 << 20, Body: 1 << 20}})
	f.Fuzz(func(t *testing.T, b []byte) {
		c := cache.New(64<<20, nil)
		defer c.Close()
		dir, err := formatstest.Open(t.Context(), format, formatstest.BytesInput("f.hcrp", b, testTime), c)
		if err != nil {
			return
		}
		if e, err := nodes.Lookup(t.Context(), dir, "export/ghost.csv"); err == nil {
			if n, err := e.File.Size(t.Context()); err == nil && n > 32<<20 {
				t.Skip("a hole that takes long to read")
			}
		}
		nodestest.Check(t, dir)
		formatstest.Try(t.Context(), dir)
	})
}
