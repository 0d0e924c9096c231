//go:build linux && (amd64 || arm64 || riscv64)

package main

import (
	"context"
	"math"
	"os"
	"runtime/debug"
)

// mount serves a source on a directory: here with -f, else in a process of its own that is left
// behind once the mount can be used.
func (m *mountFlags) mount(ctx context.Context, e *env, args []string) error {
	if len(args) != 2 {
		return usagef("mount: name a SOURCE and a MOUNTPOINT")
	}
	starter := findStarter()
	if starter == nil && !m.foreground {
		return startDaemon()
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit(int64(m.cacheMem)))
	}
	err := m.serve(ctx, e, args[0], args[1], starter)
	if err != nil && starter != nil {
		starter.tell(err)
		return errReported
	}
	return err
}

// memoryLimit is what the garbage collector tries to stay below: the cache, as much again for
// what is being decoded and not yet collected, and some for everything else.
func memoryLimit(budget int64) int64 {
	const rest = 128 << 20
	if budget > (math.MaxInt64-rest)/2 {
		return math.MaxInt64
	}
	return 2*budget + rest
}
