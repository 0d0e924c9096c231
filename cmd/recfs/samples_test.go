package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"recfs/nodes/nodestest"
)

// recfs returns a command that runs this program in a process of its own.
func recfs(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir(), "GOGC=", "GOMEMLIMIT=")
	return &exec.Cmd{Path: self, Args: append([]string{"recfs"}, args...), Env: env}
}

// smallSamples returns a directory with the files of the sample archive that do not make too many.
func smallSamples(t *testing.T) string {
	const limit = 30 << 10
	samples, dir := filepath.Join("..", "..", "testdata", "archive"), t.TempDir()
	err := filepath.WalkDir(samples, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil || len(b) > limit {
			return err
		}
		rel, err := filepath.Rel(samples, name)
		if err != nil {
			return err
		}
		target := filepath.Join(dir, rel)
		if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(target, b, 0o666); err != nil {
			return err
		}
		atRest := time.Now().Add(-time.Hour)
		return os.Chtimes(target, atRest, atRest)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestMountEqualsCopy compares samples through a mount with what cp -r makes of them. A file that
// cannot be read is an error there and missing here.
func TestMountEqualsCopy(t *testing.T) {
	nodestest.Long(t)
	if !canMount() {
		t.Skip("needs /dev/fuse and root")
	}
	archive := smallSamples(t)
	mnt, dest := filepath.Join(t.TempDir(), "mnt"), filepath.Join(t.TempDir(), "copy")
	if out, err := recfs(t, "mount", archive, mnt).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := recfs(t, "umount", "-z", mnt).CombinedOutput(); err != nil {
			t.Errorf("umount: %v\n%s", err, out)
		}
	})
	out, err := recfs(t, "cp", "-r", archive, dest).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != exitFailed) {
		t.Fatalf("cp: %v\n%s", err, out)
	}

	mounted, copied := fileNames(t, mnt), fileNames(t, dest)
	if len(mounted) < 100 {
		t.Errorf("only %d files in the mount", len(mounted))
	}
	for name := range copied {
		if !mounted[name] {
			t.Errorf("%s is only in the copy", name)
		}
	}
	for name := range mounted {
		want, err := os.ReadFile(filepath.Join(mnt, name))
		if errors.Is(err, syscall.EIO) && !copied[name] {
			continue
		}
		got, copyErr := os.ReadFile(filepath.Join(dest, name))
		if err != nil || copyErr != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: mount (%d bytes, %v) and copy (%d bytes, %v) differ", name, len(want), err, len(got), copyErr)
		}
	}
}

// fileNames returns the files below dir. A file whose attributes cannot be had is one, too.
func fileNames(t *testing.T, dir string) map[string]bool {
	names := map[string]bool{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			rel, err := filepath.Rel(dir, name)
			names[rel] = true
			return err
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return names
}
