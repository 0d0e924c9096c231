//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	iofs "io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"recfs/nodes/nodestest"
)

// TestHostileCommands gives directories of hostile files to every command that walks: each ends,
// with 0 or 1, within bounds of time and memory, and cp writes nothing but below its destination.
func TestHostileCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("processes of their own are not checked for races")
	}
	for name, fill := range map[string]func(*testing.T, string){
		"samples":    damagedSamples,
		"corpora":    fuzzCorpora,
		"containers": hostileContainers,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			fill(t, dir)
			for _, line := range [][]string{
				{"ls", "-lR"}, {"tree"}, {"find", "--json"}, {"info", "--json"}, {"index"}, {"check"}, {"find", "--damaged"},
			} {
				bounded(t, recfs(t, append(line, "--cache-mem=64MiB", dir)...))
			}
			hostileCopy(t, dir)
			hostileMount(t, dir)
		})
	}
}

// hostileCopy copies dir into a directory that is alone in another.
func hostileCopy(t *testing.T, dir string) {
	jail := t.TempDir()
	dest := filepath.Join(jail, "a", "b", "c")
	if err := os.MkdirAll(filepath.Dir(dest), 0o777); err != nil {
		t.Fatal(err)
	}
	bounded(t, recfs(t, "cp", "-rp", "--cache-mem=64MiB", dir, dest))
	for at := jail; at != dest; {
		entries, err := os.ReadDir(at)
		if err != nil || len(entries) != 1 {
			t.Fatalf("cp -r made %v in %s, %v", entries, at, err)
		}
		at = filepath.Join(at, entries[0].Name())
	}
}

// hostileMount runs tools of the system on a mount of dir. They may fail for what is damaged.
func hostileMount(t *testing.T, dir string) {
	if !canMount() {
		return
	}
	mnt, log := filepath.Join(t.TempDir(), "mnt"), filepath.Join(t.TempDir(), "log")
	if out, err := recfs(t, "mount", "--log-file", log, dir, mnt).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v\n%s", err, out)
	}
	for _, line := range [][]string{{"ls", "-lR", mnt}, {"find", mnt, "-type", "f", "-exec", "cat", "{}", "+"}} {
		inTime(t, exec.Command(line[0], line[1:]...))
	}
	if out, err := recfs(t, "umount", "-z", mnt).CombinedOutput(); err != nil {
		t.Errorf("umount: %v\n%s", err, out)
	}
	if text, err := os.ReadFile(log); err != nil || bytes.Contains(text, []byte("panic")) {
		t.Errorf("after hostile reads %v\n%.4000s", err, text)
	}
}

// bounded runs a command on hostile input and fails the test if it does not end as it should.
func bounded(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	const most = 256 << 10 // KiB
	stderr := inTime(t, cmd)
	line := strings.Join(cmd.Args[:2], " ")
	if code := cmd.ProcessState.ExitCode(); code != exitOK && code != exitFailed {
		t.Errorf("%s ends with %v\n%.4000s", line, cmd.ProcessState, stderr)
	}
	if bytes.Contains(stderr, []byte("goroutine ")) || bytes.Contains(stderr, []byte("panic")) {
		t.Errorf("%s panics:\n%.4000s", line, stderr)
	}
	// What the kernel reports of a child begins with what this process used when it was made.
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && runtime.GOOS == "linux" && usage.Maxrss > max(most, ownPeak(t)) {
		t.Errorf("%s used %d KiB of memory", line, usage.Maxrss)
	}
}

// ownPeak is the most memory that this process has used, in KiB.
func ownPeak(t *testing.T) int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return int64(usage.Maxrss)
}

// inTime runs a command, ends it with a trace of its goroutines when it hangs, and returns what it
// wrote to standard error.
func inTime(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	limit := time.AfterFunc(nodestest.Hang, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
	err := cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	if !limit.Stop() {
		t.Errorf("%q does not end\n%.4000s", cmd.Args, &stderr)
	}
	if took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); took > 2*time.Minute {
		t.Errorf("%q takes %v", cmd.Args, took)
	}
	return stderr.Bytes()
}

// damagedSamples copies the damaged and hostile samples of all formats, and further ones beside the
// repository where they are there.
func damagedSamples(t *testing.T, dir string) {
	for _, name := range []string{"archive/hcrp/bad", "archive/butter/combat-cut.butter", "archive/butter/old.milk", "datafile/broken"} {
		copyTree(t, filepath.Join("../../testdata", name), filepath.Join(dir, name))
	}
	beside, err := filepath.Glob("../../../shared/recordings/*/malformed")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range beside {
		copyTree(t, name, filepath.Join(dir, "beside", filepath.Base(filepath.Dir(name))))
	}
}

// copyTree copies the files at source to target.
func copyTree(t *testing.T, source, target string) {
	err := filepath.WalkDir(source, func(name string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(source, name)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		at := filepath.Join(target, rel)
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			return err
		}
		return os.WriteFile(at, content, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
}
