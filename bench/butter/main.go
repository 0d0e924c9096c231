// Command butter measures Echo VR recordings: a generated match of 18,000 frames of 8 players, in the process and
// through a mount, each against a floor measured in the same run on the same machine.
//
//	go run ./bench/butter [-rounds 3]
//
// Rates are per second of processor time, which a busy machine changes least; a mount counts the time of the server.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const frames = 18000

var rounds = flag.Int("rounds", 3, "how often to do everything; the best counts")

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench/butter:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "recfs-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := inProcess(); err != nil {
		return err
	}
	return mounted(dir)
}

// inProcess runs the benchmarks of the package on one processor.
func inProcess() error {
	cmd := exec.Command("go", "test", "-run", "^$", "-bench", "Decode|Lines|Text|Floor", "-benchtime", "1x",
		"-count", strconv.Itoa(*rounds), "./formats/butter")
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	best := map[string]float64{}
	line := regexp.MustCompile(`(?m)^Benchmark(\w+).*?([\d.e+]+) frames/cpu-s`)
	for _, m := range line.FindAllStringSubmatch(string(out), -1) {
		x, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return err
		}
		best[m[1]] = max(best[m[1]], x)
	}
	show := func(what, name, floor string, want float64) {
		fmt.Printf("%-34s %9.0f frames/cpu-s (wanted %6.0f)  %5.2f of the floor: %s\n", what, best[name], want, best[name]/best[floor], floor)
	}
	show("decode", "Decode", "FloorGunzip", 60000)
	show("JSON lines", "Lines", "FloorFloats", 15000)
	show(".echoreplay stream", "Text", "FloorFloats", 12000)
	return nil
}

// mounted measures the same through a mount.
func mounted(dir string) error {
	recfs, source, mount := filepath.Join(dir, "recfs"), filepath.Join(dir, "source"), filepath.Join(dir, "mount")
	for _, d := range []string{source, mount} {
		if err := os.Mkdir(d, 0o777); err != nil {
			return err
		}
	}
	if err := command(nil, "go", "build", "-o", recfs, "./cmd/recfs"); err != nil {
		return err
	}
	match := filepath.Join(source, "match.butter")
	if err := command([]string{"RECFS_BENCH_MATCH=" + match}, "go", "test", "-run", "TestWriteMatch", "./formats/butter"); err != nil {
		return err
	}
	server := func() (*exec.Cmd, error) {
		cmd := exec.Command(recfs, "mount", "-f", "--cache-mem", "64MiB", "--cache-dir", filepath.Join(dir, "cache"), source, mount)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		for range 500 {
			if _, err := os.Stat(filepath.Join(mount, "match.butter")); err == nil {
				return cmd, nil
			}
			time.Sleep(10 * time.Millisecond)
		}
		return nil, stop(cmd)
	}
	tree := filepath.Join(mount, "match.butter")
	for round := range *rounds {
		s, err := server()
		if err != nil {
			return err
		}
		fmt.Printf("mounted, round %d\n", round)
		err = measure(s, tree)
		if e := stop(s); err == nil {
			err = e
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// measure reads the mount of a server that has just started.
func measure(s *exec.Cmd, tree string) error {
	for _, what := range []struct{ name, pattern string }{
		{"first look, with the index", "index.json"},
		{"one frame, cold", "ticks/00012345.json"},
		{"lines/", "lines/*"},
		{".echoreplay", "export/match.echoreplay"},
	} {
		before, start := serverTime(s), time.Now()
		files, err := filepath.Glob(filepath.Join(tree, what.pattern))
		if err != nil {
			return err
		}
		n, err := readAll(files)
		if err != nil {
			return err
		}
		wall, cpu := time.Since(start), serverTime(s)-before
		fmt.Printf("  %-28s %8.1f MB  wall %8.1f ms  server %6.0f ms", what.name, float64(n)/1e6, ms(wall), ms(cpu))
		if n > 1<<20 {
			fmt.Printf("  %.0f frames/s, %.0f MB/s of wall; %.0f frames/s of server", frames/wall.Seconds(), float64(n)/1e6/wall.Seconds(), frames/cpu.Seconds())
		}
		fmt.Println()
	}
	fmt.Printf("  greatest resident size %s with 64 MiB of cache\n", highWater(s))
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

func readAll(files []string) (total int64, err error) {
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return total, err
		}
		n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, 1<<20))
		f.Close()
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// serverTime is the processor time of a process; a clock tick is 10 ms.
func serverTime(s *exec.Cmd) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Process.Pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

func highWater(s *exec.Cmd) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Process.Pid))
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			return strings.TrimSpace(v)
		}
	}
	return "unknown"
}

func stop(s *exec.Cmd) error {
	if err := s.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return s.Wait()
}

func command(env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}
