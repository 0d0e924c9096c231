package nethack

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// Files of lines of many ticks are made by pieces, which together are the ticks one by one.
func TestPiecesOfLines(t *testing.T) {
	const ticks = 5*pieceTicks + 100
	log := newGame("Agnes")
	for n := range ticks {
		log.line("move D4", -1)
		if n%7 == 0 {
			log.WriteString(strings.Repeat("wait\n", 50))
		}
		log.WriteString("~\n")
	}
	log.WriteString("wait\n")
	c := cache.New(64<<20, nil)
	defer c.Close()
	in := formatstest.BytesInput("many.nhgame", log.Bytes(), time.Unix(1e9, 0))
	dir, err := formatstest.Open(t.Context(), Format, in, c)
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) []byte {
		e, err := nodes.Lookup(t.Context(), dir, name)
		if err != nil {
			t.Fatal(err)
		}
		size, err := e.File.Size(t.Context())
		if err != nil {
			t.Fatal(name, err)
		}
		b, err := nodes.ReadAll(t.Context(), e.File)
		if err != nil || int64(len(b)) != size {
			t.Fatal(name, len(b), size, err)
		}
		return b
	}
	lines := strings.SplitAfter(string(read("lines/000000.jsonl")), "\n")
	if len(lines) != ticks+1 {
		t.Fatalf("%d lines", len(lines))
	}
	for n := 0; n < ticks; n += 101 {
		tick := string(read(fmt.Sprintf("ticks/%08d.json", n)))
		if want := string(jsonenc.AppendIndented(nil, []byte(strings.TrimSuffix(lines[n], "\n")))) + "\n"; tick != want {
			t.Errorf("tick %d is\n%s, its line\n%s", n, tick, want)
		}
	}
	commands := read("export/commands.jsonl")
	want := ticks + 50*((ticks+6)/7) + 1
	if n := bytes.Count(commands, []byte{'\n'}); n != want || !bytes.HasPrefix(commands, []byte(`{"tick":0,`)) || !bytes.Contains(commands, []byte(`{"tick":null,`)) {
		t.Errorf("%d commands, want %d", n, want)
	}
}

// The pieces have few ticks and few bytes, or one tick.
func TestCutsOfLines(t *testing.T) {
	x := &index{header: &header{size: 10}, end: 10}
	for n := range 4000 {
		x.end += 10
		if n%900 == 5 {
			x.end += 2 * pieceBytes
		}
		x.ticks.add(&tick{off: x.end - 1, end: x.end})
	}
	cuts := x.cut(3, x.ticks.len()+1, pieceTicks)
	if cuts[0] != 3 || cuts[len(cuts)-1] != x.ticks.len()+1 {
		t.Fatalf("cuts %v", cuts)
	}
	for i, first := range cuts[:len(cuts)-1] {
		end := cuts[i+1]
		if n := x.behind(end-1) - x.behind(first-1); end <= first || end-first > pieceTicks || end-first > 1 && n > pieceBytes {
			t.Errorf("a piece from %d to %d of %d bytes", first, end, n)
		}
	}
}

// A command of any length is one, as long as what stands between two saves is shown. One that is
// longer is still counted.
func TestLongCommands(t *testing.T) {
	nodestest.Long(t)
	w := newGame("Agnes")
	w.comp = plain
	w.backup(testSave(60), 1)
	for i, n := range []int{64<<10 - 1, 64 << 10, maxEventText - len("\n+1\n"), maxEventText, 5 << 20} {
		w.line(strings.Repeat("a", n), 1)
		w.diff(beta3, int32(i+2), w.rest(24))
	}
	w.line("B"+encodeBlob(make([]byte, 5<<20), zlibStream), 1)
	w.diff(beta3, 9, w.rest(24))
	root := mustOpen(t, w.Bytes())
	var bad []string
	for name := range nodestest.Check(t, root) {
		bad = append(bad, name)
	}
	slices.Sort(bad)
	if want := []string{"ticks/00000004.json", "ticks/00000005.json"}; !slices.Equal(bad, want) {
		t.Errorf("%q cannot be read, want %q", bad, want)
	}
	doc := nodestest.Read(t, root, "index.json")
	if n := strings.Count(doc, `"code":`); n != 2 || !strings.Contains(doc, `"commands": 5,`) {
		t.Errorf("%d problems, want 2, of\n%s", n, doc)
	}
	for name, want := range map[string]int{"export/commands.jsonl": 3, "lines/000000.jsonl": 5} {
		if n := strings.Count(nodestest.Read(t, root, name), "\n"); n != want {
			t.Errorf("%s has %d lines, want %d", name, n, want)
		}
	}
	for _, want := range []string{`{"event":"command","offset":`, `,"time":"`, `","command":"aaaaaaaa`} {
		if !strings.Contains(nodestest.Read(t, root, "ticks/00000003.json"), want) {
			t.Errorf("no %s in the tick of the longest one", want)
		}
	}
	if doc := nodestest.Read(t, root, "ticks/00000006.json"); !strings.Contains(doc, `"size":5242880`) {
		t.Errorf("the bones are %s", doc)
	}
}

// index.json is one document, however many pieces it is made in, and none of them has all that it
// has.
func TestIndexInPieces(t *testing.T) {
	least := int64(0)
	for _, chunks := range []int{0, 1, elementsAtOnce - 2, elementsAtOnce - 1, elementsAtOnce, 3 * elementsAtOnce} {
		w := newGame("Agnes")
		w.comp = plain
		problems := 0
		for n := range chunks {
			w.line("chat", 1)
			if n%2 == 0 {
				w.WriteString("<&>\n")
				problems++
			}
			w.backup(testSave(60), int32(n))
		}
		w.line("chat", 1)
		w.line("Q", -1)
		c := cache.New(1<<20, nil)
		root, err := formatstest.Open(t.Context(), Format, formatstest.BytesInput("many.nhgame", w.Bytes(), testTime), c)
		if err != nil {
			t.Fatal(err)
		}
		got := nodestest.Read(t, root, "index.json")
		c.Close()
		var doc struct{ Chunks, Pending, Problems []any }
		if err := json.Unmarshal([]byte(got), &doc); err != nil {
			t.Fatalf("%d chunks: %v", chunks, err)
		}
		if len(doc.Chunks) != chunks || len(doc.Pending) != 2 || len(doc.Problems) != problems {
			t.Errorf("%d chunks, %d events and %d problems of %d", len(doc.Chunks), len(doc.Pending), len(doc.Problems), chunks)
		}
		if want := string(appendDocument(nil, []byte(got))); got != want {
			t.Errorf("%d chunks: it is not laid out as a document is", chunks)
		}
		_, peak := c.Work()
		if least = cmp.Or(least, peak); peak > least {
			t.Errorf("%d chunks: %d bytes at most, and %d of none", chunks, peak, least)
		}
	}
}

// The shortest lines between two saves take no more memory than their text, some times over.
func TestShortLinesTakeLittle(t *testing.T) {
	w := newGame("Agnes")
	w.comp = plain
	w.WriteString(strings.Repeat("a\n", maxEventText/2))
	w.backup(testSave(60), 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	x := mustIndex(t, w.Bytes())
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; x.now.commands != maxEventText/2 || n > 16*maxEventText {
		t.Errorf("%d commands, %d bytes", x.now.commands, n)
	}
}

// A row group of commands is made as a whole, so it ends when its texts are long, also within a
// chunk.
func TestLongRowGroups(t *testing.T) {
	nodestest.Long(t)
	const commands, each = 24, 900 << 10
	w := newGame("Agnes")
	w.comp = plain
	w.backup(testSave(60), 1)
	for i := range commands {
		w.line(strings.Repeat("a", each), 1)
		w.diff(beta3, int32(i+2), w.rest(24))
	}
	x := mustIndex(t, w.Bytes())
	rows := 0
	for i, g := range x.commandGroups {
		if n := g.Rows * each; g.Skip != rows || n > maxGroupText+each || n < maxGroupText && i < len(x.commandGroups)-1 {
			t.Errorf("group %d has %d rows from %d on", i, g.Rows, g.Skip)
		}
		rows += g.Rows
	}
	if rows != commands {
		t.Errorf("%d rows", rows)
	}
	for name, err := range nodestest.Check(t, mustOpen(t, w.Bytes())) {
		t.Errorf("%s: %v", name, err)
	}
}
