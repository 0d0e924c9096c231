package hcrp

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"

	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// TestLongHoles reads export/ghost.csv where nothing happens for as many ticks as there can be:
// between two chunks of the design layout, and in one chunk of the published one.
func TestLongHoles(t *testing.T) {
	nodestest.Long(t)
	const end = 1<<31 - 2
	own, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	design, err := ParseSchema([]byte(strings.Replace(string(parkourV4), `"layout": "published", "versions": [4]`, `"layout": "design"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	// record returns a tick in which entity 0 is placed at 1, 0, 0.
	record := func(n int64) []byte {
		b := append(appendVarint(nil, n), 0, 1, 1, 0, 0x3f, 0xf0)
		return append(b, make([]byte, 6+8+8+4+4+1)...)
	}
	row := func(n int64) string { return fmt.Sprintf("%d,%d,1,0,0,0,0\n", n, n*msPerTick) }
	before := func(n int64) int64 { // bytes of the file before the row of tick n
		return int64(len(ghostHead)) + digits(0, n, 1) + digits(0, n, msPerTick) + n*int64(len(row(0))-2)
	}
	for _, c := range []struct {
		schema *Schema
		rec    *testRecording
	}{
		{own[0], &testRecording{layout: Published, version: 4, chunks: []testChunk{{ticks: end + 1, body: append(record(0), record(end)...)}}}},
		{design, &testRecording{layout: Design, version: 1, chunks: []testChunk{
			{ticks: 1, body: record(0)}, {start: end, ticks: 1, body: record(0)},
		}}},
	} {
		c.rec.metadata = []byte{10, 0}
		dir, err := openBytes(t, c.rec.file(t), Options{Schemas: []*Schema{c.schema}})
		if err != nil {
			t.Fatal(err)
		}
		e, err := nodes.Lookup(t.Context(), dir, "export/ghost.csv")
		if err != nil {
			t.Fatal(err)
		}
		size, err := e.File.Size(t.Context())
		if err != nil || size != before(end+1) {
			t.Fatalf("%s: a size of %d, %v, want %d", c.rec.layout, size, err, before(end+1))
		}
		content, err := e.File.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		holdText(t, content, 0, ghostHead+row(0)+row(1))
		for _, n := range []int64{1<<16 - 1, 1 << 30, end - 1} {
			holdText(t, content, before(n), row(n)+row(n+1))
		}
		if got, want := mustRead(t, dir, "tracks/entity-0.csv"), trackHead+"0,1,0,0,0,0\n"+fmt.Sprintf("%d,1,0,0,0,0\n", end); got != want {
			t.Errorf("the track is\n%s\nwant\n%s", got, want)
		}
		if got := mustRead(t, dir, fmt.Sprintf("states/%d.json", end/2)); !strings.Contains(got, `"x":1,`) {
			t.Errorf("a state is\n%s", got)
		}
	}
}

// holdText holds what a content has at an offset.
func holdText(t *testing.T, content nodes.Content, at int64, want string) {
	t.Helper()
	b := make([]byte, len(want))
	if n, err := content.ReadAt(context.Background(), b, at); string(b[:n]) != want || err != nil && err != io.EOF {
		t.Errorf("at %d: %q, %v, want %q", at, b[:n], err, want)
	}
}

// TestManyMarkers shows markers that are too many for the index, in two ticks of two chunks.
func TestManyMarkers(t *testing.T) {
	nodestest.Long(t)
	rec := &testRecording{layout: Published, version: 4, metadata: []byte{10, 0}}
	want, rows := strings.Builder{}, 0
	for i := range 3 {
		c := testChunk{start: 2 * i, ticks: 2}
		for n := range 2 {
			const events = 16000
			c.body = binary.BigEndian.AppendUint16(append(c.body, byte(2*i+n)), events)
			for range events {
				c.body = append(c.body, 10)
				fmt.Fprintf(&want, "\n    {\"tick\":%d,\"time_ms\":%d,\"event\":\"run_start\",\"id\":10},", 2*i+n, (2*i+n)*msPerTick)
				rows++
			}
		}
		rec.chunks = append(rec.chunks, c)
	}
	file := rec.file(t)
	in := fileInput(file, len(file))
	own, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	if _, x := indexOf(t, in, own[0]); !x.markers.many || len(x.markers.list) > 0 {
		t.Error("all markers are in the index")
	}
	dir, err := openBytes(t, file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := "{\n  \"markers\": [" + strings.TrimSuffix(want.String(), ",") + "\n  ]\n}\n"
	if mustRead(t, dir, "markers.json") != text {
		t.Error("markers.json is another")
	}
	table := tableRows(t, dir, "tables/markers.parquet")
	if last := fmt.Sprint(table[len(table)-1]); len(table) != rows || last != "[5 run_start 10 {}]" {
		t.Errorf("%d rows, the last one %s", len(table), last)
	}
}
