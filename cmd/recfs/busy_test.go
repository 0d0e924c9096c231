//go:build linux && (amd64 || arm64 || riscv64)

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Whoever stands in a mount or has a file of it open is in its way, but no server whose mount hides
// the directory that it began in.
func TestUsers(t *testing.T) {
	proc := t.TempDir()
	link := func(process, name, target string) {
		at := filepath.Join(proc, process, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, at); err != nil {
			t.Fatal(err)
		}
	}
	link("1", "cwd", "/mnt/a")
	link("2", "cwd", "/mnt")
	link("2", "fd/3", "/dev/fuse")
	link("3", "cwd", "/elsewhere")
	link("3", "fd/3", "/dev/fuse")
	link("3", "fd/4", "/mnt/file")
	users, others := usersOf(proc, "/mnt")
	if !others || len(users) != 2 || users[0] != " (process 1: its working directory is /mnt/a)" || users[1] != " (process 3: /mnt/file is open)" {
		t.Errorf("got %q", users)
	}
	recfs, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link("1", "exe", recfs)
	link("3", "exe", recfs)
	if users, others = usersOf(proc, "/mnt"); others || len(users) != 2 {
		t.Errorf("of recfs itself: %q, others %t", users, others)
	}
}
