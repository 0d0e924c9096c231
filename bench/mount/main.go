//go:build linux

// Command mount measures the mount against a floor, the least that a
// filesystem on the same library can do, in the same run on the same machine,
// and prints ratios.
//
//	go run ./bench/mount [-rounds 3] [-small 200000] [-large 1000000] [-pass n]
//
// Each pass is done with server and client on one processor (pinned, for the
// ratio) and wherever the scheduler puts them. Times are the best of all
// rounds.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"recfs/bench/internal/harness"
	"recfs/fs"
)

var (
	rounds   = flag.Int("rounds", 3, "how often to do everything")
	small    = flag.Int("small", 200_000, "files to look at one by one")
	large    = flag.Int("large", 1_000_000, "files to list, and for the memory")
	size     = flag.Int64("size", 1<<30, "bytes of the source of raw")
	only     = flag.Int("pass", -1, "do only this pass")
	pin      = flag.Bool("pin", true, "also measure on one processor")
	unpinned = flag.Bool("unpinned", true, "also measure where the scheduler likes")
	profile  = flag.String("cpuprofile", "", "write a profile of the house's server to this file")
)

func main() { harness.Run("mount", run) }

func run(ctx context.Context) error {
	switch args := flag.Args(); {
	case len(args) == 0:
		return harness.InTemp("", func(dir string) error { return measure(ctx, dir) })
	case len(args) == 4 && args[0] == "serve":
		return serve(ctx, args[1], args[2], args[3])
	case len(args) == 4 && args[0] == "client":
		var n, pid int
		if _, err := fmt.Sscan(args[1]+" "+args[3], &n, &pid); err != nil {
			return err
		}
		return runPass(passes()[n], args[2], harness.Process(pid))
	}
	return errors.New("there are no arguments")
}

// kinds of servers, and the source itself, which only raw is read from.
const (
	kindFloor  = "floor"
	kindHouse  = "recfs"
	kindSource = "source"
)

// A result is the least cost of an operation for each kind.
type result map[string]harness.Cost

func (r result) add(kind string, c harness.Cost) {
	if best, ok := r[kind]; ok {
		c = harness.Cost{Clock: min(c.Clock, best.Clock), CPU: min(c.CPU, best.CPU)}
	}
	r[kind] = c
}

func measure(ctx context.Context, dir string) error {
	source := filepath.Join(dir, "raw")
	if err := writeSource(source); err != nil {
		return err
	}
	for _, cpu := range []bool{true, false} {
		if cpu && *pin {
			fmt.Println("server and client on one processor:")
		} else if !cpu && *unpinned {
			fmt.Println("server and client unpinned:")
		} else {
			continue
		}
		if err := (setting{dir, source, cpu}).measure(ctx); err != nil {
			return err
		}
	}
	if *only >= 0 {
		return nil
	}
	return setting{dir, source, false}.measureMemory(ctx)
}

// A setting is where and how servers are measured.
type setting struct {
	dir    string // for mounts
	source string // the file that raw shows
	pinned bool   // to one processor
}

// measure does all passes and prints their results.
func (s setting) measure(ctx context.Context) error {
	for n, pass := range passes() {
		if *only >= 0 && *only != n {
			continue
		}
		results := make([]result, len(pass))
		for i := range results {
			results[i] = result{}
		}
		for range *rounds {
			for _, kind := range []string{kindFloor, kindHouse, kindSource} {
				costs, err := s.onePass(ctx, kind, n)
				if err != nil {
					return fmt.Errorf("%s: %w", kind, err)
				}
				for i, c := range costs {
					results[i].add(kind, c)
				}
			}
		}
		for i, o := range pass {
			o.print(results[i])
		}
	}
	return nil
}

// print shows the times per file, or the speed, and how much of the floor's
// speed is reached.
func (o operation) print(r result) {
	show := func(t time.Duration) string {
		if o.files > 0 {
			return fmt.Sprintf("%8.2f µs", float64(t.Nanoseconds())/1000/float64(o.files))
		}
		return fmt.Sprintf("%6.2f GB/s", float64(*size)/float64(t.Nanoseconds()))
	}
	house, floor := r[kindHouse], r[kindFloor]
	fmt.Printf("  %-20s recfs %s  floor %s  ratio %.2f  by processor time %.2f", o.name, show(house.Clock), show(floor.Clock),
		ratio(floor.Clock, house.Clock), ratio(floor.CPU, house.CPU))
	if source, ok := r[kindSource]; ok {
		fmt.Printf("  source %s  ratio %.2f", show(source.Clock), ratio(source.Clock, house.Clock))
	}
	fmt.Println()
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// onePass does one pass on a fresh mount. Of the source only raw is read,
// first from the disk and then from memory.
func (s setting) onePass(ctx context.Context, kind string, n int) ([]harness.Cost, error) {
	root, pid := s.dir, 0
	if kind == kindSource {
		if passes()[n][0].files > 0 {
			return nil, nil
		}
	} else {
		server, mnt, err := s.start(ctx, kind)
		if err != nil {
			return nil, err
		}
		defer server.Stop()
		root, pid = mnt, int(server.Process)
	}
	if passes()[n][0].files == 0 {
		if err := dropPages(s.source); err != nil {
			return nil, err
		}
	}
	line := s.self("client", strconv.Itoa(n), root, strconv.Itoa(pid))
	out, err := exec.CommandContext(ctx, line[0], line[1:]...).Output()
	if err != nil {
		return nil, failure(err)
	}
	var costs []harness.Cost
	for line := range strings.Lines(string(out)) {
		var c harness.Cost
		if _, err := fmt.Sscan(line, (*int64)(&c.Clock), (*int64)(&c.CPU)); err != nil {
			return nil, err
		}
		costs = append(costs, c)
	}
	return costs, nil
}

func failure(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return err
}

// self is the command line of this program with other arguments.
func (s setting) self(args ...string) []string {
	line := []string{
		os.Args[0], "-small", strconv.Itoa(*small), "-large", strconv.Itoa(*large), "-size", strconv.FormatInt(*size, 10),
		"-cpuprofile", *profile,
	}
	if s.pinned {
		line = append([]string{"taskset", "-c", "0"}, line...)
	}
	return append(line, args...)
}

// writeSource writes a file that has no holes.
func writeSource(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = byte(i * 7)
	}
	for left := *size; left > 0; left -= int64(len(block)) {
		if _, err := f.Write(block[:min(left, int64(len(block)))]); err != nil {
			return err
		}
	}
	return f.Sync()
}

// dropPages makes the kernel forget the pages of one file.
func dropPages(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// measureMemory shows how the resident memory of the house grows while find
// asks for the size of a million files.
func (s setting) measureMemory(ctx context.Context) error {
	server, mnt, err := s.start(ctx, kindHouse)
	if err != nil {
		return err
	}
	defer server.Stop()
	idle, err := server.Number("status", "VmRSS")
	if err != nil {
		return err
	}
	if err := find("large")(mnt); err != nil {
		return failure(err)
	}
	full, err := server.Number("status", "VmRSS")
	if err != nil {
		return err
	}
	fmt.Printf("resident memory: %.1f MiB idle, %.1f MiB more after find has stat'ed %d files\n",
		mib(idle), mib(full-idle), *large)
	return nil
}

func mib(kib int) float64 { return float64(kib) / (1 << 10) }

// start mounts a kind of filesystem at mnt, served by a process of its own.
func (s setting) start(ctx context.Context, kind string) (server *harness.Daemon, mnt string, err error) {
	if mnt, err = os.MkdirTemp(s.dir, "mnt-"); err != nil {
		return nil, "", err
	}
	line := s.self("serve", kind, mnt, s.source)
	server, err = harness.StartMount(ctx, mnt, line[0], line[1:]...)
	return server, mnt, err
}

// serve serves one kind at dir until a signal comes.
func serve(ctx context.Context, kind, dir, source string) error {
	f, err := os.Open(source)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var unmount func() error
	if kind == kindFloor {
		if err := mountFloor(dir, newFloor(f, info.Size())); err != nil {
			return err
		}
		unmount = func() error { return unix.Unmount(dir, unix.MNT_DETACH) }
	} else {
		server, err := fs.Mount(dir, houseTree(f, info.Size()), fs.Options{FsName: "bench"})
		if err != nil {
			return err
		}
		unmount = server.Unmount
		stop, err := startProfile()
		if err != nil {
			return err
		}
		defer stop()
	}
	<-ctx.Done()
	return unmount()
}

func startProfile() (stop func(), err error) {
	if *profile == "" {
		return func() {}, nil
	}
	f, err := os.Create(*profile)
	if err != nil {
		return nil, err
	}
	return pprof.StopCPUProfile, pprof.StartCPUProfile(f)
}
