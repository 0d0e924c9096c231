//go:build unix && !linux

package formats

import "syscall"

// changeTime is known on Linux alone.
func changeTime(*syscall.Stat_t) int64 { return 0 }
