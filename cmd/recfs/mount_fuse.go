//go:build linux && (amd64 || arm64 || riscv64)

package main

import (
	"context"
	"errors"
)

// mount serves a source on a directory: here with -f, else in a process of its own, which goes on
// in the background when the mount can be used.
func (m *mountFlags) mount(ctx context.Context, e *env, args []string) error {
	starter := findStarter()
	if m.asksToWrite && starter == nil {
		e.report(errors.New("-o rw changes nothing: the mount is read-only"))
	}
	if starter == nil && !m.foreground {
		return startDaemon()
	}
	m.log.background = starter != nil
	err := m.serve(ctx, e, args[0], args[1], starter)
	if err != nil && starter != nil {
		starter.tell(err)
		return errReported
	}
	return err
}
