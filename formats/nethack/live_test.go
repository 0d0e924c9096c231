package nethack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/source"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// A mapStore is a disk in memory.
type mapStore struct{ m sync.Map }

func (s *mapStore) Load(_ context.Context, name string) ([]byte, bool) {
	v, ok := s.m.Load(name)
	if !ok {
		return nil, false
	}
	return bytes.Clone(v.([]byte)), true
}

func (s *mapStore) Save(name string, data []byte) { s.m.Store(name, bytes.Clone(data)) }

func (s *mapStore) Forget(name string) { s.m.Delete(name) }

// A liveGame writes a log to a file as a running game does: each line in several steps, in place
// where the game rewrites, and cut where it recovers.
type liveGame struct {
	t     testing.TB
	f     *os.File
	rng   *rand.Rand
	w     *gameWriter // the log as it is committed, without what was rewritten in place
	turn  int32
	count int
	ends  []savedState // of the save lines in the log
	sums  sync.Map     // of every save that was ever committed
}

type savedState struct {
	end        int
	turn       int32
	clock      uint64
	save       []byte
	lastBackup int
}

func newLiveGame(t testing.TB, file string) *liveGame {
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	g := &liveGame{t: t, f: f, rng: rand.New(rand.NewPCG(3, 4)), w: newGame("Agnes"), turn: 1, count: 1}
	g.write(g.w.String())
	g.step(func() { g.w.backup(testSave(400), 1) })
	return g
}

func (g *liveGame) write(s string) {
	if _, err := g.f.WriteString(s); err != nil {
		g.t.Error(err)
	}
}

func (g *liveGame) rewrite(s string, off int64) {
	if _, err := g.f.WriteAt([]byte(s), off); err != nil {
		g.t.Error(err)
	}
}

// step lets the writer add a line and writes it piece by piece.
func (g *liveGame) step(add func()) {
	from := g.w.Len()
	add()
	if g.w.Bytes()[from] == '~' || g.w.Bytes()[from] == '*' {
		g.sums.Store(sha256.Sum256(g.w.save), true)
		g.ends = append(g.ends, savedState{g.w.Len(), g.turn, g.w.clock, bytes.Clone(g.w.save), g.w.lastBackup})
	}
	for text := g.w.String()[from:]; text != ""; {
		n := 1 + g.rng.IntN(len(text))
		g.write(text[:n])
		text = text[n:]
	}
}

// act plays one command.
func (g *liveGame) act() {
	g.turn += int32(g.rng.IntN(2))
	g.step(func() { g.w.line("move D4", int64(g.rng.IntN(1e6))) })
	if g.rng.IntN(12) == 0 {
		g.step(func() { g.w.backup(testSave(400+g.rng.IntN(50)), g.turn) })
		g.rewrite(fmt.Sprintf("%08x", g.w.lastBackup), int64(strings.Index(g.w.String(), "\n*")+2))
		g.rewrite(fmt.Sprintf("%78s", fmt.Sprintf("Exp:1, %d turns", g.turn)), descriptionAt)
		return
	}
	at := g.rng.IntN(300)
	g.step(func() {
		g.w.diff(beta3, g.turn, op{cmd: cmdCopy, n: at}, op{cmd: cmdEdit, data: []byte{byte(g.rng.Uint32())}}, g.w.rest(25+at))
	})
}

// crash leaves an unfinished line.
func (g *liveGame) crash() { g.write("~AUPMBwAA"[:1+g.rng.IntN(9)]) }

// recover makes the log end with the save line before the last back others.
func (g *liveGame) recover(back int) {
	g.count++
	g.rewrite(fmt.Sprintf("%08x", g.count), countAt)
	end := g.w.Len()
	if back > 0 {
		g.ends = g.ends[:max(1, len(g.ends)-back)]
		s := g.ends[len(g.ends)-1]
		end, g.turn = s.end, s.turn
		g.w.clock, g.w.save, g.w.lastBackup = s.clock, s.save, s.lastBackup
	}
	g.w.Truncate(end)
	if err := g.f.Truncate(int64(end)); err != nil {
		g.t.Error(err)
	}
	if _, err := g.f.Seek(int64(end), 0); err != nil {
		g.t.Error(err)
	}
}

// TestLiveGame looks at a log through an archive while a game writes it, crashes, recovers and is
// rewound. Every save that can be read must be one that the game once had, and no index may show
// damage.
func TestLiveGame(t *testing.T) {
	dir := t.TempDir()
	g := newLiveGame(t, filepath.Join(dir, "1_agnes.nhgame"))
	fsys, err := source.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	c := cache.New(4<<20, &mapStore{})
	defer c.Close()
	root := archive.New(fsys, []formats.Format{Format}, c, archive.Options{})

	ctx, cancel := context.WithCancel(t.Context())
	var readers, looked sync.WaitGroup
	for i := range 3 {
		looked.Add(1)
		saw := sync.OnceFunc(looked.Done)
		readers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			for ctx.Err() == nil {
				if lookAtLiveGame(t, g, root, rng) {
					saw()
				}
			}
		})
	}
	for range nodestest.Times(200, 20) {
		for range 1 + g.rng.IntN(20) {
			g.act()
		}
		switch g.rng.IntN(4) {
		case 0:
			g.crash()
			g.recover(0)
		case 1:
			g.recover(1 + g.rng.IntN(15))
		case 2:
			time.Sleep(time.Duration(g.rng.IntN(5)) * time.Millisecond)
		}
	}
	looked.Wait() // on a slow machine a reader may not have seen a whole tree yet
	cancel()
	readers.Wait()

	g.act() // what comes last is there on the next look
	tree, err := nodes.Lookup(t.Context(), root, "1_agnes.nhgame")
	if err != nil {
		t.Fatal(err)
	}
	if got := nodestest.Read(t, tree.Dir, fmt.Sprintf("saves/turn%d", g.turn)); got != string(g.w.save) {
		t.Error("the last save is not there")
	}
	if got := nodestest.Read(t, tree.Dir, "raw"); len(got) != g.w.Len() {
		t.Errorf("raw has %d bytes, the log %d", len(got), g.w.Len())
	}
}

// lookAtLiveGame reads some files of the log as it is now. It returns false if the game was
// recovered meanwhile.
func lookAtLiveGame(t testing.TB, g *liveGame, root nodes.Dir, rng *rand.Rand) bool {
	ctx := t.Context()
	gone := func(what string, err error) bool {
		if err != nil && !errors.Is(err, nodes.ErrStale) && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", what, err)
		}
		return err != nil
	}
	tree, err := nodes.Lookup(ctx, root, "1_agnes.nhgame")
	if gone("look-up", err) {
		return false
	}
	e, err := nodes.Lookup(ctx, tree.Dir, "index.json")
	if gone("index.json", err) {
		return false
	}
	doc, err := nodes.ReadAll(ctx, e.File)
	if gone("index.json", err) {
		return false
	}
	var x struct {
		Totals   struct{ Ticks, Saves int }
		Problems []formats.Problem
	}
	if err := json.Unmarshal(doc, &x); err != nil || len(x.Problems) > 0 || x.Totals.Ticks != x.Totals.Saves {
		t.Errorf("index.json: %v, %+v", err, x)
	}
	saves, err := nodes.Lookup(ctx, tree.Dir, "saves")
	if gone("saves", err) {
		return false
	}
	n, err := saves.Dir.Len(ctx)
	if gone("saves", err) {
		return false
	}
	for range 5 {
		e, err := saves.Dir.At(ctx, rng.IntN(n))
		if gone("saves", err) {
			return false
		}
		save, err := nodes.ReadAll(ctx, e.File)
		if gone(e.Name, err) {
			return false
		}
		if _, ok := g.sums.Load(sha256.Sum256(save)); !ok {
			t.Errorf("%s was never a save of the game: %08x", e.Name, crc32.ChecksumIEEE(save))
		}
		if want, _, _ := strings.Cut(e.Name, "."); saveName(saveTurn(save), 0) != want {
			t.Errorf("%s is of turn %d", e.Name, saveTurn(save))
		}
	}
	return true
}

// TestLiveLog holds to the protocol of docs/formats/nethack.md section 9.2: growth and rewriting in
// place are no change, a new recovery count and a shorter file are.
func TestLiveLog(t *testing.T) {
	log := sampleGame(60).Bytes()
	for name, c := range map[string]struct {
		change func(log []byte) []byte
		stale  bool
	}{
		"nothing":     {func(b []byte) []byte { return b }, false},
		"growth":      {func(b []byte) []byte { return append(b, "chat\n"...) }, false},
		"description": {func(b []byte) []byte { b[60] = 'x'; return b }, false},
		"status":      {func(b []byte) []byte { copy(b[statusAt:], "done"); return b }, false},
		"recovery":    {func(b []byte) []byte { b[countAt+7]++; return b }, true},
		"cut":         {func(b []byte) []byte { return b[:len(b)-10] }, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := &changingReader{log}
			in := logSource(log)
			in.ReaderAt = r
			l := live(in, mustIndex(t, log).header)
			r.log = c.change(bytes.Clone(log))
			_, err := l.ReadAt(t.Context(), make([]byte, 100), int64(len(log)-100))
			if errors.Is(err, nodes.ErrStale) != c.stale || !c.stale && err != nil {
				t.Errorf("reading: %v", err)
			}
		})
	}
}

type changingReader struct{ log []byte }

func (r *changingReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	return formats.BytesReader(r.log).ReadAt(ctx, p, off)
}

// TestGrowing cuts a game anywhere. The name of a save is that of the last one of its turn, so that
// lines/ holds back the last save; commands under way are held back until their tick is known.
func TestGrowing(t *testing.T) {
	w := sampleGame(60)
	w.line("go DE", 5)
	w.line("Q", 5)
	formatstest.Growing(t, Format, w.Bytes(), int(mustIndex(t, w.Bytes()).header.size), 5,
		"export/commands.jsonl", "export/game.cast", "export/hero.csv", "lines/000000.jsonl", "lines/000001.jsonl", "lines/000002.jsonl")
}
