package nodestest

import (
	"iter"
	"os"
	"runtime/debug"
	"testing"
)

func init() {
	// Tests collect garbage less often than the program: that saves a fifth of their processor time.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// Long leaves a test out of a -short run, unless RECFS_LONG is set: then it does what Times says of
// such a run.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() && os.Getenv("RECFS_LONG") == "" {
		t.Skip("left out by -short")
	}
}

// Times returns how often a test does something: few times in a -short run.
func Times(all, few int) int {
	if testing.Short() {
		return few
	}
	return all
}

// Places yields the numbers below n: in a -short run each step-th of them, and the last.
func Places(n, step int) iter.Seq[int] {
	return func(yield func(int) bool) {
		step := Times(1, step)
		for i := (n - 1) % step; i < n && yield(i); i += step {
		}
	}
}
