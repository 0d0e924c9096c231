package nethack

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats/internal/testing/formatstest"
)

// longGame writes a log with a backup of size bytes and a chain of diffs against it: a few edits
// all over the save, as monsters move, and now and then an insertion or a deletion.
func longGame(size, diffs int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	w := newGame("Bench")
	save := testSave(size)
	for i := 300; i < size; i += 7 {
		save[i] = byte(rng.Uint32())
	}
	w.backup(save, 1)
	for i := range diffs {
		w.line("move D3", 1000)
		var ops []op
		at := 24
		for range 12 {
			n := rng.IntN((len(w.save) - at - 20) / 8)
			data := make([]byte, 1+rng.IntN(4))
			for j := range data {
				data[j] = byte(rng.Uint32())
			}
			ops = append(ops, op{cmd: cmdCopyEdit, n: n, data: data})
			at += n + len(data)
		}
		switch i % 10 {
		case 3:
			ops = append(ops, op{cmd: cmdEdit, data: make([]byte, 40)}, op{cmd: cmdSeek, n: 40})
		case 7:
			ops = append(ops, op{cmd: cmdSeek, n: -40})
			at += 40
		}
		ops = append(ops, op{cmd: cmdCopy, n: len(w.save) - at})
		w.diff(beta3, int32(i+2), ops...)
	}
	return w.Bytes()
}

// openBench opens a log with a cache of its own and makes the index.
func openBench(b testing.TB, log []byte, budget int64) (*recording, *index, func()) {
	c := cache.New(budget, nil)
	rec, _, err := openRecording(b.Context(), formatstest.BytesInput("bench.nhgame", log, time.Time{}), c)
	if err != nil {
		b.Fatal(err)
	}
	x, err := rec.Index(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return rec, x, c.Close
}

const benchBudget = 256 << 20

// benchPasses measures the passes over a log beside each other, in bytes of saves per second of
// processor time: copying the saves over and over to the same memory, copying them to memory that
// is kept, the index pass, reading them in order.
func benchPasses(b *testing.B, log []byte) {
	var sizes []int
	total := 0
	_, x, done := openBench(b, log, benchBudget)
	done()
	for i := range x.ticks.len() {
		sizes = append(sizes, int(x.ticks.size(i)))
		total += sizes[i]
	}
	save := testSave(slices.Max(sizes))
	ring := make([]byte, benchBudget)
	clear(ring)
	passes := []struct {
		name string
		busy time.Duration
		run  func()
	}{
		{name: "floor", run: func() {
			at := 0
			for _, n := range sizes {
				if at+n > len(ring) {
					at = 0
				}
				at += copy(ring[at:], save[:n])
			}
		}},
		{name: "kept", run: func() {
			var kept [][]byte
			held := 0
			for _, n := range sizes {
				if held += n; held > benchBudget {
					kept, held = kept[:0], n
				}
				kept = append(kept, slices.Clone(save[:n]))
			}
			runtime.KeepAlive(kept)
		}},
		{name: "index", run: func() {
			_, _, done := openBench(b, log, benchBudget)
			done()
		}},
	}
	var sequential time.Duration
	for b.Loop() {
		for i := range passes {
			runtime.GC()
			start := formatstest.CPU()
			passes[i].run()
			passes[i].busy += formatstest.CPU() - start
		}
		rec, x, done := openBench(b, log, benchBudget)
		runtime.GC()
		start := formatstest.CPU()
		for n := range x.ticks.len() {
			if _, err := rec.saves.Get(b.Context(), n); err != nil {
				b.Fatal(err)
			}
		}
		sequential += formatstest.CPU() - start
		done()
	}
	rate := func(busy time.Duration, unit string) {
		b.ReportMetric(float64(total)*float64(b.N)/1e6/busy.Seconds(), unit+"-MB/cpu-s")
	}
	for _, p := range passes {
		rate(p.busy, p.name)
	}
	rate(sequential, "sequential")
}

// benchLog measures the passes over a log, single saves, and memory.
func benchLog(b *testing.B, log []byte) {
	rec, _, done := openBench(b, log, benchBudget)
	defer done()
	b.Run("passes", func(b *testing.B) { benchPasses(b, log) })
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			rec, x, done := openBench(b, log, benchBudget)
			b.StartTimer()
			if _, err := rec.saves.Get(b.Context(), x.ticks.len()-10); err != nil {
				b.Fatal(err)
			}
			done()
		}
	})
	b.Run("near", func(b *testing.B) {
		if _, err := rec.saves.Get(b.Context(), checkpointEvery+1); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, _, err := rec.loadSave(b.Context(), 2*checkpointEvery); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("memory", func(b *testing.B) { benchMemory(b, log) })
}

// benchMemory measures what a sequential pass keeps alive beyond the budget of the cache.
func benchMemory(b *testing.B, log []byte) {
	const budget = 32 << 20
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	over := 0.0
	for b.Loop() {
		rec, x, done := openBench(b, log, budget)
		for n := range x.ticks.len() {
			if _, err := rec.saves.Get(b.Context(), n); err != nil {
				b.Fatal(err)
			}
			if n%100 == 99 {
				runtime.GC()
				runtime.ReadMemStats(&now)
				over = max(over, (float64(now.HeapAlloc)-float64(before.HeapAlloc)-budget)/(1<<20))
			}
		}
		done()
	}
	b.ReportMetric(over, "MiB-over")
}

func BenchmarkLong(b *testing.B) { benchLog(b, longGame(970_000, 2400)) }

func BenchmarkMedium(b *testing.B) { benchLog(b, longGame(100_000, 600)) }

// sharedGames are those of real builds of the game.
const sharedGames = "../../../shared/recordings/nethack"

// busyGame writes a log in which the hero moves and loses life with each save.
func busyGame(ticks int) []byte {
	w := newGame("Busy")
	save := append(dungeonSave(listOf("OCHN")), make([]byte, 40_000)...) // as long as a real one
	for i := range ticks {
		w.line("move D3", 300_000)
		if i%400 == 0 {
			w.lastBackup, w.comp = 0, zlibStream
			w.backup(slices.Clone(save), int32(i/3+1))
			continue
		}
		w.comp = plain
		w.diff(beta3, int32(i/3+1), op{cmd: cmdCopy, n: heroAt + 16 - 24}, op{cmd: cmdEdit, data: u32(uint32(5 + i%10))},
			op{cmd: cmdCopy, n: 196}, op{cmd: cmdEdit, data: []byte{byte(20 + i%40), byte(3 + i%12)}}, w.rest(heroAt+218))
	}
	return w.Bytes()
}

// BenchmarkCounting measures how much longer an index pass takes than one that does not count the
// rows of tables: over the games that there are, and over one where each save has another hero.
func BenchmarkCounting(b *testing.B) {
	logs := map[string][]byte{"busy": busyGame(2000)}
	files, _ := filepath.Glob(sharedGames + "/*.nhgame")
	for _, file := range append(files, "../../testdata/archive/nethack/small.nhgame") {
		log, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		logs[filepath.Base(file)] = log
	}
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		log := bytes.NewReader(logs[name])
		h := mustIndex(b, logs[name]).header
		pass := func(run func(p *indexer) error) func() error {
			return func() error {
				for range 1 + 2<<20/log.Len() {
					if err := run(newIndex(h).indexer()); err != nil {
						return err
					}
				}
				return nil
			}
		}
		b.Run(name, func(b *testing.B) {
			slower(b, pass(func(p *indexer) error { return p.run(b.Context(), log, log.Size()) }), pass(func(p *indexer) error {
				s := newScanner(log, p.end, log.Size())
				defer s.close()
				err := p.lines(b.Context(), s, func(l line) {
					t := p.tickOf(l)
					p.skip()
					p.add(&t)
				})
				p.nameTicks()
				return err
			}))
		})
	}
}

// BenchmarkIndex measures what the saved index of a log of 200,000 saves takes to be read, what it
// takes in memory, and what each of its ticks and names takes to be found, in processor time.
func BenchmarkIndex(b *testing.B) {
	const ticks = 200_000
	log := usualGame(ticks)
	x := mustIndex(b, log)
	saved := x.Append(nil)
	list := savesList{&recording{}, x}
	run := func(name string, each func(n int) error) {
		b.Run(name, func(b *testing.B) {
			start := formatstest.CPU()
			n := 0
			for b.Loop() {
				if err := each(n % ticks); err != nil {
					b.Fatal(err)
				}
				n++
			}
			b.ReportMetric(float64(formatstest.CPU()-start)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(x.Memory())/ticks, "B/save")
		})
	}
	run("load", func(int) error {
		_, err := decodeIndex(saved, x.header)
		return err
	})
	var doc []byte
	run("tick", func(n int) error {
		doc = x.appendTick(doc[:0], n, &events{})
		return nil
	})
	run("name", func(n int) error {
		e, err := list.At(b.Context(), n)
		if err == nil {
			_, err = list.Find(b.Context(), e.Name)
		}
		return err
	})
}

// slower reports as with/without how much more processor time one function takes than another: the
// median of ten pairs in which the two take turns.
func slower(b *testing.B, with, without func() error) {
	b.Helper()
	took := func(do func() error) float64 {
		runtime.GC()
		start := formatstest.CPU()
		if err := do(); err != nil {
			b.Fatal(err)
		}
		return float64(formatstest.CPU() - start)
	}
	var ratios []float64
	for b.Loop() {
		for range 10 {
			one := took(with)
			ratios = append(ratios, one/took(without))
		}
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "with/without")
}
