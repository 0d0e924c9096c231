package harness

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// A Process is asked for what it uses, most of it through /proc/PID.
type Process int

// Number is the number called key in a file of /proc/PID: VmRSS and VmHWM, in KiB, and Threads are
// in status, rchar is in io.
func (p Process) Number(file, key string) (int, error) {
	text, err := p.read(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, key+":"); ok {
			number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			return strconv.Atoi(number)
		}
	}
	return 0, fmt.Errorf("no %s in /proc/%d/%s", key, p, file)
}

// Files is how many descriptors the process has open.
func (p Process) Files() (int, error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p))
	return len(entries), err
}

func (p Process) read(file string) ([]byte, error) {
	return os.ReadFile(fmt.Sprintf("/proc/%d/%s", p, file))
}

// A Cost is what work took: time on the clock, and of the processors, which hardly depends on what
// else runs.
type Cost struct{ Clock, CPU time.Duration }

// Measure does work and returns its cost: of the processors the sum of what each of used, such as
// [CPU] and that of a [Process], counts.
func Measure(work func() error, used ...func() (time.Duration, error)) (Cost, error) {
	sum := func() (all time.Duration, err error) {
		for _, count := range used {
			d, countErr := count()
			all, err = all+d, cmp.Or(err, countErr)
		}
		return all, err
	}
	before, err := sum()
	if err != nil {
		return Cost{}, err
	}
	start := time.Now()
	if err := work(); err != nil {
		return Cost{}, err
	}
	clock := time.Since(start)
	after, err := sum()
	return Cost{clock, after - before}, err
}
