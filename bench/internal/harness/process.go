//go:build linux

package harness

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Process is asked for what it uses, most of it through /proc/PID.
type Process int

// Number is the number called key in a file of /proc/PID: VmRSS and VmHWM, in KiB, and Threads are
// in status, rchar is in io.
func (p Process) Number(file, key string) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p, file))
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

// watch looks at the resident memory of the process until peak is called, which returns the most of
// it. What the system tells at its end counts this program's own memory, of which it is a fork.
func (p Process) watch() (peak func() int) {
	done, most := make(chan struct{}), make(chan int)
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for kib := 0; ; {
			select {
			case <-done:
				most <- kib
				return
			case <-tick.C:
				now, _ := p.Number("status", "VmHWM")
				kib = max(kib, now)
			}
		}
	}()
	return func() int { close(done); return <-most }
}

// CPU is the processor time that the process has used, in user space and in the kernel: that of its
// clock (clock_getcpuclockid), which counts nanoseconds where /proc/PID/stat counts hundredths of a
// second.
func (p Process) CPU() (time.Duration, error) {
	const scheduled = 2 // CPUCLOCK_SCHED: of all threads, those that ended among them
	var t unix.Timespec
	if err := unix.ClockGettime(^int32(p)<<3|scheduled, &t); err != nil {
		return 0, os.NewSyscallError("clock_gettime", err)
	}
	return time.Duration(t.Nano()), nil
}

// CPU is the processor time that this process and the programs it has waited for have used.
func CPU() (time.Duration, error) {
	var own, programs unix.Rusage
	err := cmp.Or(unix.Getrusage(unix.RUSAGE_SELF, &own), unix.Getrusage(unix.RUSAGE_CHILDREN, &programs))
	return time.Duration(own.Utime.Nano() + own.Stime.Nano() + programs.Utime.Nano() + programs.Stime.Nano()), err
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
	start := time.Now()
	if err = cmp.Or(err, work()); err != nil {
		return Cost{}, err
	}
	clock := time.Since(start)
	after, err := sum()
	return Cost{clock, after - before}, err
}
