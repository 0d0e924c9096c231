package harness

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Result is what one run of a benchmark of a package has measured.
type Result struct {
	Name   string             // without "Benchmark" and the number of processors
	Values map[string]float64 // by unit, such as "ns/op" and "MB/s"
}

// Benchmarks runs the benchmarks of a package that match pattern, with more in the environment and
// further flags of go test.
func Benchmarks(ctx context.Context, env []string, pkg, pattern string, flags ...string) ([]Result, error) {
	args := slices.Concat([]string{"test", "-run", "^$", "-bench", pattern}, flags, []string{pkg})
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	return parseBenchmarks(string(out))
}

var processors = regexp.MustCompile(`-\d+$`)

// parseBenchmarks reads lines of a name, the number of iterations, and values with their units.
func parseBenchmarks(out string) (all []Result, err error) {
	for line := range strings.Lines(out) {
		name, ok := strings.CutPrefix(line, "Benchmark")
		fields := strings.Fields(name)
		if !ok || len(fields) < 4 {
			continue
		}
		r := Result{processors.ReplaceAllString(fields[0], ""), map[string]float64{}}
		for pair := range slices.Chunk(fields[2:], 2) {
			if len(pair) < 2 {
				break
			}
			if r.Values[pair[1]], err = strconv.ParseFloat(pair[0], 64); err != nil {
				return nil, err
			}
		}
		all = append(all, r)
	}
	return all, nil
}
