//go:build unix

package harness

import (
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
