//go:build linux && (amd64 || arm64 || riscv64)

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"recfs/nodes/nodestest"
)

// TestSignals ends a mount in the foreground by each of its signals and listens to what the service
// manager hears.
func TestSignals(t *testing.T) {
	if !canMount() {
		t.Skip("needs /dev/fuse and root")
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		if sig == syscall.SIGHUP && signal.Ignored(sig) { // the tests run under nohup
			continue
		}
		dir := t.TempDir()
		source, mnt, socket := filepath.Join(dir, "source"), filepath.Join(dir, "mnt"), filepath.Join(dir, "notify")
		if err := os.Mkdir(source, 0o777); err != nil {
			t.Fatal(err)
		}
		if sig == syscall.SIGINT {
			socket = fmt.Sprintf("@recfs-test-%d", os.Getpid()) // an abstract one
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
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		expectState(t, manager, "STOPPING=1")
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v", sig, err)
		}
		if _, err := os.Stat(mnt); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: the mount point is still there: %v", sig, err)
		}
	}
}

// Under nohup a mount in the foreground outlives its terminal.
func TestNohup(t *testing.T) {
	if !canMount() {
		t.Skip("needs /dev/fuse and root")
	}
	nohup, err := exec.LookPath("nohup")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	program, mnt := filepath.Join(dir, "recfs"), filepath.Join(dir, "mnt")
	cmd := recfs(t)
	if err := os.Symlink(cmd.Path, program); err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Args = nohup, []string{"nohup", program, "mount", "-f", t.TempDir(), mnt}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	nodestest.Eventually(t, "a mount", func() bool { return exists(filepath.Join(mnt, controlName)) })
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond) // in which nothing is to happen
	if !exists(filepath.Join(mnt, controlName)) {
		t.Error("SIGHUP ends it")
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// The daemon holds no lock of who starts it: cron jobs run under flock(1).
func TestDaemonHoldsNoLock(t *testing.T) {
	if !canMount() {
		t.Skip("needs /dev/fuse and root")
	}
	dir := t.TempDir()
	source, mnt := filepath.Join(dir, "source"), filepath.Join(dir, "mnt")
	if err := os.Mkdir(source, 0o777); err != nil {
		t.Fatal(err)
	}
	lock := func() (*os.File, error) {
		f, err := os.Create(filepath.Join(dir, "lock"))
		if err == nil {
			err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		}
		return f, err
	}
	held, err := lock()
	if err != nil {
		t.Fatal(err)
	}
	cmd := recfs(t, "mount", source, mnt)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	cmd.ExtraFiles = []*os.File{null, null, held} // the daemon itself is given descriptor 3
	out, err := cmd.CombinedOutput()
	held.Close()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	defer func() {
		if err := unmount(mnt, false); err != nil {
			t.Error(err)
		}
	}()
	if f, err := lock(); err != nil {
		t.Errorf("the lock is still held: %v", err)
	} else {
		f.Close()
	}
}

// A mount namespace that has a copy of the mount, as a container has, does not keep the server.
func TestUnmountWithCopies(t *testing.T) {
	nodestest.Long(t)
	if !canMount() {
		t.Skip("needs /dev/fuse and root")
	}
	dir := t.TempDir()
	source, mnt := filepath.Join(dir, "source"), filepath.Join(dir, "mnt")
	if err := os.Mkdir(source, 0o777); err != nil {
		t.Fatal(err)
	}
	server := recfs(t, "mount", "-f", source, mnt)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill() })
	nodestest.Eventually(t, "a mount", func() bool { return exists(filepath.Join(mnt, controlName)) })
	container := exec.Command("sleep", "100")
	container.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if err := container.Start(); err != nil {
		t.Skipf("no mount namespace: %v", err)
	}
	defer func() {
		_ = container.Process.Kill()
		_ = container.Wait()
	}()
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	if err := nodestest.Receive(t, "its end", ended); err != nil {
		t.Error(err)
	}
}

// expectState waits for the next thing that a service manager is told.
func expectState(t *testing.T, manager *net.UnixConn, want string) {
	t.Helper()
	if err := manager.SetReadDeadline(time.Now().Add(nodestest.Hang)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64)
	n, err := manager.Read(b)
	if err != nil || string(b[:n]) != want {
		t.Fatalf("told %q, %v; want %q", b[:n], err, want)
	}
}

// TestUmountAfterPassing ends a mount that somebody who cannot be named uses for a moment: a
// mapping is no open file.
func TestUmountAfterPassing(t *testing.T) {
	if !canMount() {
		t.Skip("needs /dev/fuse and root")
	}
	mnt := filepath.Join(t.TempDir(), "mnt")
	t.Cleanup(func() { unmountBelow(filepath.Dir(mnt)) })
	if out, err := recfs(t, "mount", samples, mnt).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(filepath.Join(mnt, "README.md"))
	must(t, err)
	b, err := unix.Mmap(int(f.Fd()), 0, 1, unix.PROT_READ, unix.MAP_SHARED)
	f.Close()
	must(t, err)
	if err := unix.Unmount(mnt, 0); !errors.Is(err, unix.EBUSY) {
		t.Fatalf("%v, want EBUSY: nothing uses it", err)
	}
	time.AfterFunc(200*time.Millisecond, func() { must(t, unix.Munmap(b)) })
	if out, err := recfs(t, "umount", mnt).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestListMounts lists the mounts, of which others end theirs at any moment. It looks into all of
// them, which keeps them busy: so it is no script, of which several run at once.
func TestListMounts(t *testing.T) {
	if !canMount() {
		t.Skip("needs /dev/fuse and root")
	}
	source, mnt := filepath.Join(t.TempDir(), "dir \xff"), filepath.Join(t.TempDir(), "mnt")
	must(t, os.Mkdir(source, 0o777))
	serveLive(t, source, mnt)
	for flag, want := range map[string]string{
		"--json=false": "(?m)^" + mnt + `  /\S+/dir \S+  since 20\S+ \S+, 0 problems$`,
		"--json":       `(?m)^{"mountpoint":"` + mnt + `","source":".*/dir .*","source_hex":"[0-9a-f]*64697220ff","since":"20.*","problems":0}$`,
	} {
		cmd := recfs(t, "stats", flag)
		cmd.Stderr = t.Output()
		if out, _ := cmd.Output(); !regexp.MustCompile(want).Match(out) {
			t.Errorf("stats %s prints\n%s", flag, out)
		}
	}
}

// TestMadeMountPoint mounts on a directory that is not there, and expects that it is not there
// after the mount has ended, in whatever way.
func TestMadeMountPoint(t *testing.T) {
	if !canMount() {
		t.Skip("needs /dev/fuse and root")
	}
	if err := unix.Setxattr(t.TempDir(), madeByUs, nil, 0); err != nil {
		t.Skipf("no extended attributes here: %v", err)
	}
	source, mnt := t.TempDir(), filepath.Join(t.TempDir(), "mnt")
	t.Cleanup(func() { unmountBelow(filepath.Dir(mnt)) })
	run := func(args ...string) {
		t.Helper()
		if out, err := recfs(t, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	crash := func() {
		t.Helper()
		cmd := recfs(t, "mount", "-f", source, mnt)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		nodestest.Eventually(t, "a mount", func() bool { return exists(filepath.Join(mnt, controlName)) })
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	for range 5 { // one may still be ending when the next begins
		run("mount", source, mnt)
		run("umount", mnt)
		if exists(mnt) {
			t.Error("it is there when umount returns")
		}
	}

	run("mount", source, mnt)
	if err := unix.Unmount(mnt, 0); err != nil {
		t.Fatal(err)
	}
	nodestest.Eventually(t, "its removal by the server", func() bool { return !exists(mnt) })

	crash()
	run("umount", mnt)
	if exists(mnt) {
		t.Error("it is there after umount of a mount whose server was killed")
	}

	crash()
	run("mount", source, mnt)
	run("umount", mnt)
	if exists(mnt) {
		t.Error("it is there after the mount that followed one whose server was killed")
	}

	if err := os.Mkdir(mnt, 0o777); err != nil {
		t.Fatal(err)
	}
	run("mount", source, mnt)
	run("umount", mnt)
	if !exists(mnt) {
		t.Error("a directory that was there before is gone")
	}
}

// TestMountPointMadeAnew ends a mount whose mount point was removed and made again by others: it is
// theirs.
func TestMountPointMadeAnew(t *testing.T) {
	if !canMount() {
		t.Skip("needs /dev/fuse and root")
	}
	source, mnt := t.TempDir(), filepath.Join(t.TempDir(), "mnt")
	if err := unix.Setxattr(source, madeByUs, nil, 0); err != nil {
		t.Skipf("no extended attributes here: %v", err)
	}
	t.Cleanup(func() { unmountBelow(filepath.Dir(mnt)) })
	cmd := recfs(t, "mount", "-f", source, mnt)
	must(t, cmd.Start())
	nodestest.Eventually(t, "a mount", func() bool { return exists(filepath.Join(mnt, controlName)) })
	used, err := os.Open(mnt) // the server goes on until it is closed
	must(t, err)
	must(t, unix.Unmount(mnt, unix.MNT_DETACH))
	must(t, os.Remove(mnt))
	must(t, os.Mkdir(mnt, 0o777))
	must(t, used.Close())
	must(t, cmd.Wait())
	if !exists(mnt) {
		t.Error("the end of a mount removes a directory that recfs did not make")
	}
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
