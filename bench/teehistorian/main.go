//go:build linux

// Command teehistorian measures how a long recording of a busy server is
// shown: the first listing, the pass that makes the index, lines/ from end to
// end, random ticks, and grep over all ticks against the same files in memory.
//
//	go run ./bench/teehistorian [-recfs /tmp/recfs] [-size 64] [-dir DIR]
//
// The recording is made of a sample: its header, its records many times, and
// FINISH. How fast the pass is against one that keeps nothing is measured
// without a mount:
//
//	go test -run '^$' -bench IndexRatio -benchtime 300x ./formats/teehistorian
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"recfs/bench/internal/harness"
	"recfs/nodes"
)

var (
	size   = flag.Int64("size", 64, "size of the recording in MB; 3600 is three days of a busy server")
	sample = flag.String("sample", "testdata/archive/teehistorian/busy-20.1.teehistorian.xz", "what it is made of")
	reads  = flag.Int("reads", 200, "random ticks")
)

func main() { harness.Main("teehistorian", run) }

// A bench is one mount of the recording.
type bench struct {
	source string // the recording
	bytes  int64
	cache  string
	root   string // the recording's directory
	daemon *harness.Daemon
	pass   time.Duration // processor time of the index
}

func run(ctx context.Context, dir, recfs string) error {
	mnt := filepath.Join(dir, "mnt")
	b := &bench{source: filepath.Join(dir, "archive", "long.teehistorian"), cache: filepath.Join(dir, "cache")}
	b.root = filepath.Join(mnt, filepath.Base(b.source))
	records, err := harness.ReadXZ(*sample)
	if err != nil {
		return err
	}
	if err := b.write(records); err != nil {
		return err
	}
	b.daemon, err = harness.Program{Binary: recfs, Cache: b.cache}.Start(ctx, filepath.Dir(b.source), mnt)
	if err != nil {
		return err
	}
	if err := errors.Join(b.measure(), b.daemon.Stop()); err != nil {
		return err
	}
	if err := measureCrowd(ctx, recfs, dir, records); err != nil {
		return err
	}
	return grep(ctx, dir, records)
}

// measure does everything that needs the mount, in the order of a user who has just found it.
func (b *bench) measure() error {
	if _, err := os.Stat(b.root); err != nil {
		return err
	}
	for _, measure := range []func() error{b.firstListing, b.index, b.events, b.randomTicks, b.lines} {
		if err := measure(); err != nil {
			return err
		}
	}
	return nil
}

// headerSize is how many bytes stand before the first record.
func headerSize(recording []byte) int {
	const magic = 16
	return magic + bytes.IndexByte(recording[magic:], 0) + 1
}

// write makes the recording.
func (b *bench) write(sample []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(b.source), 0o777); err != nil {
		return err
	}
	b.bytes, err = harness.WriteLong(b.source, sample, *size*1e6)
	fmt.Printf("recording of %d bytes\n", b.bytes)
	return err
}

// firstListing lists the recording before anything is known of it.
func (b *bench) firstListing() error {
	start := time.Now()
	if _, err := readNames(b.root); err != nil {
		return err
	}
	fmt.Printf("first listing: %v\n", time.Since(start).Round(10*time.Microsecond))
	return nil
}

func readNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// index makes the index by looking at a file that needs it.
func (b *bench) index() error {
	cost, err := harness.Measure(func() error {
		_, err := os.Stat(filepath.Join(b.root, "lines", "000000.jsonl"))
		return err
	}, b.daemon.CPU)
	if err != nil {
		return err
	}
	b.pass = cost.CPU
	kept, err := treeSize(b.cache)
	if err != nil {
		return err
	}
	peak, err := b.daemon.Number("status", "VmHWM")
	if err != nil {
		return err
	}
	fmt.Printf("index: %v, %.0f MB/s, %d bytes kept (%.2f %%), %d KiB resident at most\n",
		cost.Clock.Round(time.Millisecond), float64(b.bytes)/1e6/cost.Clock.Seconds(), kept, 100*float64(kept)/float64(b.bytes), peak)
	return nil
}

// events reads events.txt, which the index has nearly as it is.
func (b *bench) events() error {
	const aim = 0.1
	var size int64
	cost, err := harness.Measure(func() (err error) {
		size, err = harness.ReadFile(filepath.Join(b.root, "export", "events.txt"))
		return err
	}, b.daemon.CPU)
	if err == nil {
		fmt.Printf("events.txt: %d bytes in %v of processor time, %.2f of the pass (aim %.1f)\n", size, cost.CPU, cost.CPU.Seconds()/b.pass.Seconds(), aim)
	}
	return err
}

func treeSize(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e iofs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}

// randomTicks reads ticks anywhere, with nothing of the source in memory.
func (b *bench) randomTicks() error {
	chunks, err := b.chunks()
	if err != nil {
		return err
	}
	f, err := os.Open(b.source)
	if err != nil {
		return err
	}
	defer f.Close()
	rnd := rand.New(rand.NewPCG(1, 2))
	var times []time.Duration
	most := 0
	for len(times) < *reads {
		if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			return err
		}
		before, err := b.daemon.Number("io", "rchar")
		if err != nil {
			return err
		}
		c := chunks[rnd.IntN(len(chunks))]
		name := fmt.Sprintf("%08d.json", c.First+rnd.IntN(c.Last-c.First+1))
		start := time.Now()
		_, err = os.ReadFile(filepath.Join(b.root, "ticks", name))
		if errors.Is(err, iofs.ErrNotExist) {
			continue // a tick without records
		}
		if err != nil {
			return err
		}
		times = append(times, time.Since(start))
		after, err := b.daemon.Number("io", "rchar")
		if err != nil {
			return err
		}
		most = max(most, after-before)
	}
	slices.Sort(times)
	fmt.Printf("random tick: %v median, %v at the 95th percentile, at most %d KiB read\n",
		times[len(times)/2].Round(10*time.Microsecond), times[len(times)*95/100].Round(10*time.Microsecond), most>>10)
	return nil
}

// A chunk is an element of "chunks" in index.json.
type chunk struct {
	First int `json:"first_tick"`
	Last  int `json:"last_tick"`
}

func (b *bench) chunks() ([]chunk, error) {
	text, err := os.ReadFile(filepath.Join(b.root, "index.json"))
	if err != nil {
		return nil, err
	}
	var index struct{ Chunks []chunk }
	return index.Chunks, json.Unmarshal(text, &index)
}

// maxLines is how much of lines/ is read at least, if there is so much.
const maxLines = 2 << 30

// lines reads lines/.
func (b *bench) lines() error {
	dir := filepath.Join(b.root, "lines")
	names, err := readNames(dir)
	if err != nil {
		return err
	}
	slices.Sort(names)
	start := time.Now()
	var total int64
	for _, name := range names {
		if total > maxLines {
			break
		}
		n, err := harness.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		total += n
	}
	took := time.Since(start)
	fmt.Printf("lines: %d bytes of JSON in %v, %.0f MB/s\n", total, took.Round(time.Millisecond), float64(total)/1e6/took.Seconds())
	return nil
}

// grep compares grep over all ticks of the sample with the same files from memory.
func grep(ctx context.Context, dir string, sample []byte) error {
	ticks, closeTicks, err := openTicks(ctx, sample)
	if err != nil {
		return err
	}
	defer closeTicks()
	plain, err := copyOf(ctx, ticks)
	if err != nil {
		return err
	}
	var best [2]time.Duration
	for range 5 {
		for i, tree := range []nodes.Dir{ticks, plain} {
			took, err := grepMounted(dir, tree)
			if err != nil {
				return err
			}
			if best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	fmt.Printf("grep over the ticks of the sample: %v of processor time, from memory %v, ratio %.2f\n",
		best[0].Round(time.Millisecond), best[1].Round(time.Millisecond), best[0].Seconds()/best[1].Seconds())
	return nil
}
