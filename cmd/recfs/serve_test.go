//go:build linux

package main

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestSignals ends a mount in the foreground by each of its signals and listens to what the service
// manager hears.
func TestSignals(t *testing.T) {
	if !canMount() {
		t.Skip("needs /dev/fuse and root")
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		dir := t.TempDir()
		source, mnt, socket := filepath.Join(dir, "source"), filepath.Join(dir, "mnt"), filepath.Join(dir, "notify")
		if err := os.Mkdir(source, 0o777); err != nil {
			t.Fatal(err)
		}
		manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		defer manager.Close()

		cmd := recfs(t, "mount", "-f", source, mnt)
		cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+socket)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		expectState(t, manager, "READY=1")
		if _, err := os.Stat(filepath.Join(mnt, controlName)); err != nil {
			t.Errorf("ready, but %v", err)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		expectState(t, manager, "STOPPING=1")
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v", signal, err)
		}
		if _, err := os.Stat(mnt); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: the mount point is still there: %v", signal, err)
		}
	}
}

// expectState waits for the next thing that a service manager is told.
func expectState(t *testing.T, manager *net.UnixConn, want string) {
	t.Helper()
	if err := manager.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64)
	n, err := manager.Read(b)
	if err != nil || string(b[:n]) != want {
		t.Fatalf("told %q, %v; want %q", b[:n], err, want)
	}
}
