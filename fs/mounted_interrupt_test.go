//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// A lazyDir takes its time for everything, as long as somebody waits.
type lazyDir struct{ *liveDir }

func (d lazyDir) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	if err := d.wait(ctx); err != nil {
		return nodes.Entry{}, err
	}
	return d.liveDir.Lookup(ctx, name)
}

func (d lazyDir) Snapshot(ctx context.Context) (nodes.Dir, error) {
	if err := d.wait(ctx); err != nil {
		return nil, err
	}
	return d.liveDir.Snapshot(ctx)
}

func (d lazyDir) wait(ctx context.Context) error {
	select {
	case <-time.After(2 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const lazyDirs = 20

func lazyTree() nodes.Dir {
	d := lazyDir{newLiveDir()}
	for i := range lazyDirs {
		d.set(nodes.Entry{Name: fmt.Sprintf("d%02d", i), Dir: nodes.List()})
	}
	return d
}

// A slowTree has a file whose size, and some whose content, is known only when nobody waits for it
// any more.
func slowTree() nodes.Dir {
	wait := func(ctx context.Context) ([]byte, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nodes.List(
		nodes.Entry{Name: "content", File: nodes.Sized(10, wait)},
		nodes.Entry{Name: "content2", File: nodes.Sized(10, wait)},
		nodes.Entry{Name: "size", File: nodes.Func(wait)},
		nodes.Entry{Name: "x", File: nodes.Bytes([]byte("x"))},
	)
}

// signalThread sends the thread a signal every half a millisecond until the test is over.
func signalThread(t *testing.T, thread int, s syscall.Signal) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(stop); <-stopped })
	go func() {
		defer close(stopped)
		tick := time.NewTicker(time.Millisecond / 2)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				if err := unix.Tgkill(syscall.Getpid(), thread, s); err != nil {
					t.Error(err)
					return
				}
			}
		}
	}()
}

// No system call fails because of a signal that is none to end. Unlike package os, this calls them
// as C does.
func TestMountHarmlessSignals(t *testing.T) {
	c := mountChild(t, "lazy")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	signalThread(t, unix.Gettid(), syscall.SIGCHLD)
	buf := make([]byte, 4096)
	for i := range 200 {
		var st syscall.Stat_t
		name := c.path(fmt.Sprintf("d%02d", i%lazyDirs))
		if err := syscall.Lstat(name, &st); err != nil {
			t.Fatalf("lstat %d: %v", i, err)
		}
		fd, err := syscall.Open(c.dir, syscall.O_RDONLY|syscall.O_DIRECTORY, 0)
		if err != nil {
			t.Fatalf("open %d: %v", i, err)
		}
		n, err := syscall.ReadDirent(fd, buf)
		syscall.Close(fd)
		if err != nil || n == 0 {
			t.Fatalf("getdents %d: %d, %v", i, n, err)
		}
	}
}

// A shell that gets a signal for each child that ends finds all names all the same.
func TestMountGlobs(t *testing.T) {
	c := mountChild(t, "lazy")
	const script = `cd "$1" && for i in {1..20}; do { sleep 0.005; sleep 0.02; } & sleep 0.015 & echo */; wait; done`
	for i, line := range run(t, ".", "bash", "-c", script, "bash", c.dir) {
		if n := len(strings.Fields(line)); n != lazyDirs {
			t.Errorf("run %d: %d names, want %d: %s", i, n, lazyDirs, line)
		}
	}
}

// waitForRequest returns when the server has got one more request of that kind.
func (c *child) waitForRequest(op string, before uint64) {
	c.t.Helper()
	nodestest.Eventually(c.t, op, func() bool { return c.stats().Requests[op] > before })
}

// A program that waits for an answer can be killed by any signal that it does not handle, at once:
// one that it handles would take an hour.
func TestMountKilled(t *testing.T) {
	c := mountChild(t, "slow", graceEnv+"=1h")
	for _, test := range []struct {
		name, op string
		signal   syscall.Signal // not SIGINT, which a script in the background ignores
	}{
		{"size", "LOOKUP", syscall.SIGKILL},
		{"size", "LOOKUP", syscall.SIGTERM},
		// The kernel reads ahead for whoever comes: that goes on when the reader is gone.
		{"content", "READ", syscall.SIGKILL},
		{"content2", "READ", syscall.SIGTERM},
	} {
		before := c.stats().Requests[test.op]
		cmd := exec.Command("cat", c.path(test.name))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		c.waitForRequest(test.op, before)
		cmd.Process.Signal(test.signal)
		killer := time.AfterFunc(nodestest.Hang, func() { cmd.Process.Kill() })
		cmd.Wait()
		if !killer.Stop() {
			t.Errorf("%s: cat did not end by %v", test.name, test.signal)
		}
	}
}

// What nobody waits for ends when the mount is aborted, as by umount -f.
func TestMountAborted(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may abort a mount")
	}
	c := mountChild(t, "slow")
	t.Cleanup(func() { Unmount(c.dir, true) }) // if it is still there, as a dead one
	before := c.stats().Requests["LOOKUP"]
	result := make(chan error, 1)
	go func() {
		_, err := os.Lstat(c.path("size"))
		result <- err
	}()
	c.waitForRequest("LOOKUP", before)
	if err := unix.Unmount(c.dir, unix.MNT_FORCE); err != nil && !errors.Is(err, syscall.EBUSY) {
		t.Fatal(err)
	}
	if err := <-result; err == nil {
		t.Error("lstat has an answer")
	}
	nodestest.Eventually(t, "the end of a request whose program has its answer", func() bool { return c.stats().Errors > 0 })
}

// A program that handles a signal gets to do so after the grace, another answer comes meanwhile.
func TestMountHandledSignal(t *testing.T) {
	c := mountChild(t, "slow")
	taken := make(chan os.Signal, 1)
	signal.Notify(taken, syscall.SIGTERM)
	defer signal.Stop(taken)
	before := c.stats().Requests["LOOKUP"]
	thread, result := make(chan int, 1), make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and the thread ends with the goroutine
		thread <- unix.Gettid()
		var st syscall.Stat_t
		result <- syscall.Lstat(c.path("size"), &st)
	}()
	c.waitForRequest("LOOKUP", before)
	start := time.Now()
	if err := unix.Tgkill(syscall.Getpid(), <-thread, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(c.path("x")); string(b) != "x" || err != nil {
		t.Errorf("another file meanwhile: %q, %v", b, err)
	}
	err := nodestest.Receive(t, "the end of lstat", result)
	if d := time.Since(start); !errors.Is(err, syscall.EINTR) || d < interruptGrace {
		t.Errorf("lstat: %v after %v", err, d)
	}
	nodestest.Receive(t, "the signal", taken)
}
