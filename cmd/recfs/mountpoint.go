//go:build linux && (amd64 || arm64 || riscv64)

package main

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"recfs/formats/source/remote"
	"recfs/fs"
)

// madeByUs is an extended attribute of the directories that recfs made to mount on. It outlives a
// server that was killed, so that the next mount or umount knows that nobody else wants them.
const madeByUs = "user.recfs.made"

// makeMountPoint makes dir unless it is there, and marks it. It reports whether it made one that
// cannot be marked.
func makeMountPoint(source, dir string) (unmarked bool, err error) {
	err = os.Mkdir(dir, 0o777)
	if err != nil && !errors.Is(err, iofs.ErrExist) {
		if parent := filepath.Dir(dir); errors.Is(err, iofs.ErrNotExist) {
			return false, fmt.Errorf("the mount point cannot be made: there is no directory %s", parent)
		}
		return false, fmt.Errorf("the mount point cannot be made: %w", reason("", err))
	}
	if err == nil {
		unmarked = unix.Setxattr(dir, madeByUs, nil, 0) != nil // the file system does not have them
	}
	return unmarked, checkApart(source, dir)
}

// removeMountPoint removes dir if recfs made it, now or earlier, and nothing is mounted there or
// lies in it. Where directories can be marked the mark alone tells: after the end of the mount
// umount may have removed it, and somebody else made a new one.
func removeMountPoint(dir string, made bool) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return
	}
	if _, err := unix.Getxattr(dir, madeByUs, nil); made || err == nil {
		os.Remove(dir)
	}
}

// passing is how long a recfs, or somebody who cannot be named, may use a mount before it is called
// busy: who looks for a moment, as 'recfs stats' into all mounts, is gone when one asks who it was,
// and so is soon the server of a mount of this mount that was ended just now.
var passing = time.Second

// unmount ends the mount at dir, whichever process serves it or no longer does.
func unmount(dir string, lazy bool) error {
	err := fs.Unmount(dir, lazy)
	for end := time.Now().Add(passing); isBusy(err); err = fs.Unmount(dir, lazy) {
		if users, others := usersOf("/proc", linkTarget(dir)); others || time.Now().After(end) {
			return busyError(err, users)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err != nil {
		return err
	}
	removeMountPoint(dir, false)
	return nil
}

// checkShown refuses a mount that hides what its server writes to: it would wait for itself.
func (f *archiveFlags) checkShown(dir string) error {
	written := []string{f.log.file}
	if log, err := stateFile("recfs.log"); err == nil && f.log.background && f.log.file == "" {
		written = append(written, log)
	}
	if cacheDir, err := f.disk.path(); err == nil && f.disk.limit > 0 {
		written = append(written, cacheDir)
	}
	for _, name := range written {
		at, err := filepath.Abs(name)
		if name != "" && err == nil && contains(linkTarget(dir), linkTarget(at)) {
			return fmt.Errorf("a mount on %s would hide %s, which recfs writes to", dir, name)
		}
	}
	return nil
}

// checkApart refuses a mount inside its own source and one that hides it: we would wait for
// ourselves.
func checkApart(source, dir string) error {
	if remote.IsURL(source) {
		return nil
	}
	real, err := filepath.EvalSymlinks(source)
	if err != nil {
		return err
	}
	dir = linkTarget(dir)
	if contains(real, dir) || contains(dir, real) {
		return fmt.Errorf("the source %s and the mount point %s: one must not lie inside the other", source, dir)
	}
	return nil
}

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
// user may know, and tells whether any of them is no recfs. It reads links alone, and asks no
// server. Proc is where the process file system is.
func usersOf(proc, dir string) (users []string, others bool) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil, false
	}
	recfs, _ := os.Executable()
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		if use := useOf(filepath.Join(proc, e.Name()), dir); use != "" {
			name, _ := os.ReadFile(filepath.Join(proc, e.Name(), "comm"))
			users = append(users, fmt.Sprintf("%s (process %s: %s)", strings.TrimSpace(string(name)), e.Name(), use))
			program, _ := os.Readlink(filepath.Join(proc, e.Name(), "exe"))
			others = others || program != recfs
		}
	}
	return users, others
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
