//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Lines of 10 MB take no more than the budget and 64 MiB, also where each of their bytes becomes
// three.
func TestLongLines(t *testing.T) {
	if testing.Short() {
		t.Skip("processes of their own are not checked for races")
	}
	const (
		length = 10_000_000
		most   = (32 + 64) << 10 // KiB
	)
	const below = "RECFS_TEST_BELOW_SHELL"
	if own := ownPeak(t); own > most {
		// What the kernel reports of a child begins with the peak of its parent: a shell has used little.
		if os.Getenv(below) != "" {
			t.Fatalf("this process alone has used %d KiB", own)
		}
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", `"$0" "$@"; exit $?`, self, "-test.run=^TestLongLines$")
		cmd.Env = append(os.Environ(), below+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	for name, fill := range map[string]string{"plain": "x", "bytes that are no UTF-8": "\xff"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeLongLines(t, filepath.Join(dir, "a.echoreplay"), []byte(fill), 2, length)
			cmd := recfs(t, "check", "--sniff", "--cache-mem=32MiB", "--cache-disk=0", dir)
			stderr := inTime(t, cmd)
			if code := cmd.ProcessState.ExitCode(); code != exitOK {
				t.Errorf("ends with %d\n%s", code, stderr)
			}
			if used := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; used > most {
				t.Errorf("%d KiB of memory, want %d at most", used, most)
			}
		})
	}
}

// writeLongLines writes a recording of n frames with lines of length bytes, most of which are fill,
// and holds little of it.
func writeLongLines(t *testing.T, name string, fill []byte, n, length int) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const head, end, step = "2022/12/24 06:00:00.033\t{\"pad\":\"", "\"}\r\n", 10_000
	some := bytes.Repeat(fill, step)
	for range n {
		f.WriteString(head)
		for range length / step {
			f.Write(some)
		}
		if _, err := f.WriteString(end); err != nil {
			t.Fatal(err)
		}
	}
}
