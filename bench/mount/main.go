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
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
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
		return serve(args[1], args[2], args[3])
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
type result map[string]cost

func (r result) add(kind string, c cost) {
	if best, ok := r[kind]; ok {
		c = cost{min(c.clock, best.clock), min(c.cpu, best.cpu)}
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
	fmt.Printf("  %-20s recfs %s  floor %s  ratio %.2f  by processor time %.2f", o.name, show(house.clock), show(floor.clock),
		ratio(floor.clock, house.clock), ratio(floor.cpu, house.cpu))
	if source, ok := r[kindSource]; ok {
		fmt.Printf("  source %s  ratio %.2f", show(source.clock), ratio(source.clock, house.clock))
	}
	fmt.Println()
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// onePass does one pass on a fresh mount. Of the source only raw is read,
// first from the disk and then from memory.
func (s setting) onePass(ctx context.Context, kind string, n int) ([]cost, error) {
	root, pid := s.dir, 0
	if kind == kindSource {
		if passes()[n][0].files > 0 {
			return nil, nil
		}
	} else {
		server, err := s.start(kind)
		if err != nil {
			return nil, err
		}
		defer server.stop()
		root, pid = server.dir, server.cmd.Process.Pid
	}
	if passes()[n][0].files == 0 {
		if err := dropPages(s.source); err != nil {
			return nil, err
		}
	}
	out, err := s.self(ctx, "client", strconv.Itoa(n), root, strconv.Itoa(pid)).Output()
	if err != nil {
		return nil, failure(err)
	}
	var costs []cost
	for line := range strings.Lines(string(out)) {
		var c cost
		if _, err := fmt.Sscan(line, (*int64)(&c.clock), (*int64)(&c.cpu)); err != nil {
			return nil, err
		}
		costs = append(costs, c)
	}
	return costs, nil
}

func failure(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return err
}

// self is this program with other arguments.
func (s setting) self(ctx context.Context, args ...string) *exec.Cmd {
	args = append([]string{
		"-small", strconv.Itoa(*small), "-large", strconv.Itoa(*large), "-size", strconv.FormatInt(*size, 10),
		"-cpuprofile", *profile,
	}, args...)
	if s.pinned {
		return exec.CommandContext(ctx, "taskset", append([]string{"-c", "0", os.Args[0]}, args...)...)
	}
	return exec.CommandContext(ctx, os.Args[0], args...)
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
	server, err := s.start(kindHouse)
	if err != nil {
		return err
	}
	defer server.stop()
	idle, err := server.resident()
	if err != nil {
		return err
	}
	if err := find("large")(server.dir); err != nil {
		return failure(err)
	}
	full, err := server.resident()
	if err != nil {
		return err
	}
	fmt.Printf("resident memory: %.1f MiB idle, %.1f MiB more after find has stat'ed %d files\n",
		mib(idle), mib(full-idle), *large)
	return nil
}

func mib(kib int) float64 { return float64(kib) / (1 << 10) }

// A server is a child process that serves one kind of filesystem.
type server struct {
	dir   string
	cmd   *exec.Cmd
	stdin io.Closer
}

// start starts a server of a kind, which goes on until stop is called or this program ends.
func (s setting) start(kind string) (*server, error) {
	mnt, err := os.MkdirTemp(s.dir, "mnt-")
	if err != nil {
		return nil, err
	}
	started := &server{dir: mnt, cmd: s.self(context.Background(), "serve", kind, mnt, s.source)}
	started.cmd.Stderr = os.Stderr
	if started.stdin, err = started.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := started.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := started.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return nil, fmt.Errorf("the server did not start: %w", err)
	}
	return started, nil
}

func (s *server) stop() {
	s.stdin.Close()
	s.cmd.Wait()
	os.Remove(s.dir)
}

// resident is the resident memory of the server in KiB.
func (s *server) resident() (int, error) {
	return harness.Process(s.cmd.Process.Pid).Number("status", "VmRSS")
}

// serve serves one kind at dir until standard input ends.
func serve(kind, dir, source string) error {
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
	fmt.Println("mounted")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
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
