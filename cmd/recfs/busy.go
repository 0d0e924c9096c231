//go:build linux && (amd64 || arm64 || riscv64)

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// shownUsers keeps the message about a busy mount to a few lines.
const shownUsers = 8

// isBusy reports whether a mount did not end because it is in use.
func isBusy(err error) bool {
	return errors.Is(err, syscall.EBUSY) || err != nil && strings.Contains(err.Error(), "busy")
}

// busyError adds the users of a mount to the error of ending it.
func busyError(err error, users []string) error {
	if len(users) > shownUsers {
		users = append(users[:shownUsers], more(len(users)-shownUsers)...)
	}
	if len(users) == 0 {
		users = []string{"a process that this user may not see"}
	}
	return fmt.Errorf("%w: in use by %s; 'recfs umount -l' detaches it all the same", err, strings.Join(users, ", "))
}

// usersOf names the processes that have something open below dir or stand in it, as far as this
// user may know. It reads links alone, and asks no server. Proc is where the process file system
// is.
func usersOf(proc, dir string) (users []string) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		if use := useOf(filepath.Join(proc, e.Name()), dir); use != "" {
			name, _ := os.ReadFile(filepath.Join(proc, e.Name(), "comm"))
			users = append(users, fmt.Sprintf("%s (process %s: %s)", strings.TrimSpace(string(name)), e.Name(), use))
		}
	}
	return users
}

// servesFUSE reports whether a process serves a mount, which may have begun in the directory that
// it hides.
func servesFUSE(process string) bool {
	open, _ := filepath.Glob(filepath.Join(process, "fd", "*"))
	return slices.ContainsFunc(open, func(fd string) bool {
		at, err := os.Readlink(fd)
		return err == nil && at == "/dev/fuse"
	})
}

// useOf says what a process has of dir, "" if nothing.
func useOf(process, dir string) string {
	below := func(link string) (string, bool) {
		at, err := os.Readlink(filepath.Join(process, link))
		return at, err == nil && filepath.IsAbs(at) && contains(dir, at)
	}
	if at, ok := below("cwd"); ok && !servesFUSE(process) {
		return "its working directory is " + at
	}
	if at, ok := below("root"); ok {
		return "its root is " + at
	}
	open, err := os.ReadDir(filepath.Join(process, "fd"))
	if err != nil {
		return ""
	}
	for _, fd := range open {
		if at, ok := below(filepath.Join("fd", fd.Name())); ok {
			return at + " is open"
		}
	}
	return ""
}
