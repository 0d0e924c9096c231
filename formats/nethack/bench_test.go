package nethack

import (
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
)

// longGame writes a log with a backup of size bytes and a chain of diffs against it: a few edits all over
// the save, as monsters move, and now and then an insertion or a deletion.
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
	rec, _, err := openRecording(formats.BytesSource("bench.nhgame", log, time.Time{}), c)
	if err != nil {
		b.Fatal(err)
	}
	x, err := rec.index.Get(b.Context(), struct{}{})
	if err != nil {
		b.Fatal(err)
	}
	return rec, x, c.Close
}

const benchBudget = 256 << 20

// benchLog measures the floor and the passes over a log. Bytes are those of the saves.
func benchLog(b *testing.B, log []byte) {
	rec, x, done := openBench(b, log, benchBudget)
	defer done()
	total := int64(0)
	for i := range x.ticks {
		total += int64(x.ticks[i].size)
	}
	b.Run("floor", func(b *testing.B) {
		src := testSave(int(x.ticks[0].size))
		ring := make([]byte, benchBudget/len(src)*len(src))
		b.SetBytes(total)
		for b.Loop() {
			at := 0
			for left := total; left > 0; left -= int64(len(src)) {
				copy(ring[at:at+len(src)], src)
				if at += len(src); at == len(ring) {
					at = 0
				}
			}
		}
	})
	b.Run("index", func(b *testing.B) {
		b.SetBytes(total)
		for b.Loop() {
			_, _, done := openBench(b, log, benchBudget)
			done()
		}
	})
	b.Run("sequential", func(b *testing.B) {
		b.SetBytes(total)
		for b.Loop() {
			b.StopTimer()
			rec, x, done := openBench(b, log, benchBudget)
			b.StartTimer()
			for n := range x.ticks {
				if _, err := rec.saves.Get(b.Context(), n); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			done()
			b.StartTimer()
		}
	})
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			rec, x, done := openBench(b, log, benchBudget)
			b.StartTimer()
			if _, err := rec.saves.Get(b.Context(), len(x.ticks)-10); err != nil {
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
		for n := range x.ticks {
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

func BenchmarkMedium(b *testing.B) {
	log, err := os.ReadFile("../../../shared/recordings/nethack/medium.nhgame")
	if err != nil {
		b.Skip("no folder shared next to the repository:", err)
	}
	benchLog(b, log)
}
