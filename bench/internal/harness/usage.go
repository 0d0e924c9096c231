//go:build unix

package harness

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// CPU is the processor time that this process and the programs it has waited for have used.
func CPU() (time.Duration, error) {
	var sum time.Duration
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var used unix.Rusage
		if err := unix.Getrusage(who, &used); err != nil {
			return 0, err
		}
		sum += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return sum, nil
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

// Peak runs the command name, and returns its highest resident size in KiB, with errors as of Run.
func (p Program) Peak(ctx context.Context, name string, args ...string) (kib int, err error) {
	cmd := exec.CommandContext(ctx, p.Binary, slices.Concat([]string{name, "--cache-dir", p.Cache}, p.Flags, args)...)
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return 0, err
	}
	if cmd.ProcessState.ExitCode() == 1 {
		err = ErrDamaged
	}
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return int(usage.Maxrss), err
}
