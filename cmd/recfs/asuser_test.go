//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// withoutRights reports whether the test goes on here, as a user whom modes of files keep out: root
// runs it again as nobody, in a process of its own.
func withoutRights(t *testing.T) bool {
	t.Helper()
	switch {
	case os.Geteuid() != 0:
		return true
	case os.Getenv(asNobody) != "":
		must(t, syscall.Setgroups(nil))
		must(t, syscall.Setgid(65534))
		must(t, syscall.Setuid(65534))
		return true
	}
	args := []string{"-test.run=^" + t.Name() + "$", "-test.v"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	cmd := exec.Command(os.Args[0], args...)
	dir, err := os.MkdirTemp("", "recfs")
	must(t, err)
	defer os.RemoveAll(dir)
	must(t, os.Chown(dir, 65534, 65534))
	cmd.Env = append(os.Environ(), asNobody+"=1", "TMPDIR="+dir)
	out, err := cmd.CombinedOutput()
	if t.Logf("%s", out); err != nil {
		t.Error(err)
	}
	return false
}
