package nethack

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// heroGame writes a log of so many ticks with a hero, whose chains are shorter than pieces are. At
// the seam of two pieces some ticks are lost, and in some there is no hero.
func heroGame(ticks int) *gameWriter {
	w := newGame("Agnes")
	w.comp = plain
	save := dungeonSave(listOf("OCHN"), testLevel{level: 1}.bytes())
	for n := range ticks {
		w.line("move D4", int64(1000+n*31_000%2_900_000))
		switch {
		case n == 2*castTicks-3:
			w.line("~"+encodeBlob([]byte{1, 0x43}, plain), -1)
		case n%50 == 0:
			w.backup(bytes.Clone(save), int32(n+1))
		default:
			dungeon := byte(0)
			if n%castTicks < 2 && n > 4*castTicks {
				dungeon = 9
			}
			at := heroAt + 16
			w.diff(beta3, int32(n+1), op{cmd: cmdCopy, n: at - 24}, op{cmd: cmdEdit, data: u32(uint32(n))},
				op{cmd: cmdCopy, n: 222 - 20}, op{cmd: cmdEdit, data: []byte{dungeon}}, w.rest(heroAt+223))
		}
	}
	return w
}

// openHeroes opens a log with a budget.
func openHeroes(t *testing.T, in formats.Input, budget int64) (*recording, nodes.Dir, *index, *cache.Cache) {
	t.Helper()
	c := newCache(t, budget)
	rec, root, err := openRecording(t.Context(), in, c)
	if err != nil {
		t.Fatal(err)
	}
	x, err := rec.Index(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return rec, root, x, c
}

// The pieces of the exports together are what all states make in one go, wherever a read begins.
func TestPiecesOfExports(t *testing.T) {
	log := heroGame(2*pieceTicks + 100).Bytes()
	rec, root, x, c := openHeroes(t, formatstest.BytesInput("game.nhgame", log, testTime), 16<<20)
	cast, _, err := rec.cast(t.Context(), x, 0, x.ticks.len(), castStart)
	if err != nil {
		t.Fatal(err)
	}
	table, err := rec.heroTable(t.Context(), x, 0, x.ticks.len())
	if err != nil {
		t.Fatal(err)
	}
	rows := bytes.Count(table, []byte{'\n'})
	if events := bytes.Count(cast, []byte{'\n'}); events != rows || rows < 2*pieceTicks || rows > x.ticks.len()-40 {
		t.Fatalf("%d lines, %d rows of %d ticks", events, rows, x.ticks.len())
	}
	for name, want := range map[string][]byte{"export/game.cast": cast, "export/hero.csv": table} {
		e, err := find(t, root, name)
		if err != nil {
			t.Fatal(err)
		}
		size, err := e.File.Size(t.Context())
		if err != nil || size != int64(len(want)) {
			t.Fatalf("%s: %d bytes, %v, want %d", name, size, err, len(want))
		}
		content, err := e.File.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := content.(*nodes.Pieces); !ok {
			t.Errorf("%s is %T", name, content)
		}
		got := make([]byte, size)
		for off := size; off > 0; { // backwards, so that no piece is made after the one before it
			n := min(off, 70_001)
			off -= n
			if _, err := content.ReadAt(t.Context(), got[off:off+n], off); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes than in one go", name)
		}
	}
	if now, _ := c.Work(); now != 0 {
		t.Errorf("%d bytes are still counted", now)
	}
}

// A read at the end of an export reads what its last piece is made of.
func TestReadsOfExportsTouchTheirPiece(t *testing.T) {
	log := heroGame(2*pieceTicks + 100).Bytes()
	r := &countingReader{r: formats.BytesReader(log)}
	in := formatstest.BytesInput("game.nhgame", log, testTime)
	in.ReaderAt = r
	_, root, x, _ := openHeroes(t, in, 256<<10) // of which an eighth is for pieces that are made for their sizes
	for name, most := range map[string]int{"export/game.cast": castTicks, "export/hero.csv": pieceTicks} {
		e, err := find(t, root, name)
		if err != nil {
			t.Fatal(err)
		}
		content, err := e.File.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r.reset()
		if _, err := content.ReadAt(t.Context(), make([]byte, 10), content.Size()-10); err != nil {
			t.Fatal(err)
		}
		cuts := x.cut(0, x.ticks.len(), most)
		if want := x.ticks.off(x.backupOf(cuts[len(cuts)-2])); r.low.Load() < want || r.high.Load() == 0 {
			t.Errorf("%s reads from %d on, not from %d", name, r.low.Load(), want)
		}
	}
}

// What an export takes does not grow with the game.
func TestExportsAreCharged(t *testing.T) {
	nodestest.Long(t)
	const ticks, most = 200 * castTicks, 6 << 20
	_, root, _, c := openHeroes(t, formatstest.BytesInput("game.nhgame", heroGame(ticks).Bytes(), testTime), 16<<20)
	sum := 0
	for _, name := range []string{"export/game.cast", "export/hero.csv"} {
		e, err := find(t, root, name)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := nodes.ReadAll(t.Context(), e.File)
		if err != nil {
			t.Fatal(err)
		}
		sum += len(doc)
	}
	if now, peak := c.Work(); now != 0 || peak > most || peak < castTicks*eventSize || sum < most {
		t.Errorf("%d bytes now, %d at most, for %d", now, peak, sum)
	}
}

// A game that is being played adds to its exports, also where they come to have pieces.
func TestGrowingExports(t *testing.T) {
	log := heroGame(5 * castTicks).Bytes()
	x := mustIndex(t, log)
	exports := func(n int) (list [2]string) {
		in := formatstest.BytesInput("game.nhgame", log[:n], testTime)
		in.Grows, in.Running = true, n < len(log)
		root, err := formatstest.Open(t.Context(), Format, in, newCache(t, 16<<20))
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"export/game.cast", "export/hero.csv"} {
			e, err := find(t, root, name)
			if err != nil || !e.Grows {
				t.Fatal(name, err)
			}
			doc, err := nodes.ReadAll(t.Context(), e.File)
			if err != nil {
				t.Fatal(err)
			}
			list[i] = string(doc)
		}
		return list
	}
	whole := exports(len(log))
	for _, n := range []int{0, 1, castTicks - 1, castTicks, castTicks + 1, 2*castTicks - 2, 3 * castTicks, x.ticks.len() - 1} {
		for i, text := range exports(int(x.ticks.end(n))) {
			if !strings.HasPrefix(whole[i], text) || len(text) < 100 {
				t.Errorf("with %d ticks export %d is no beginning of what it is later: %d bytes", n+1, i, len(text))
			}
		}
	}
}

// A countedStore counts what is read from it.
type countedStore struct {
	mapStore
	loads atomic.Int64
}

func (s *countedStore) Load(ctx context.Context, name string) ([]byte, bool) {
	s.loads.Add(1)
	return s.mapStore.Load(ctx, name)
}

// An index that alone has more than the memory for large requests stays while one tick after the
// other is read beside it.
func TestLargeIndexStays(t *testing.T) {
	nodestest.Long(t)
	const budget, ticks = 1 << 20, 20
	w := heroGame(ticks)
	w.Write(bytes.Repeat([]byte("*\n"), 150_000))
	shelf := &countedStore{}
	in := formatstest.BytesInput("game.nhgame", w.Bytes(), testTime)
	in.Stamp = formats.Stamp{Size: in.Size, Changed: 1}
	formatstest.Keep(&in, shelf)
	for range 2 {
		c := cache.New(budget, shelf)
		defer c.Close()
		rec, root, err := openRecording(t.Context(), in, c)
		if err != nil {
			t.Fatal(err)
		}
		x, err := rec.Index(t.Context())
		if err != nil || x.Memory() < 9<<20 {
			t.Fatal(x.Memory(), err)
		}
		var names []string
		for n := range ticks {
			names = append(names, x.saveName(n))
		}
		shelf.loads.Store(0)
		for n := range ticks {
			nodestest.Read(t, root, fmt.Sprintf("states/%08d.json", n))
			nodestest.Read(t, root, "saves/"+names[n])
			runtime.GC() // of what nobody holds
		}
		if n := shelf.loads.Load(); n > ticks/4 {
			t.Errorf("the index is read %d times for %d ticks", n, ticks)
		}
	}
}
