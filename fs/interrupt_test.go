//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"recfs/nodes"
)

func TestPatience(t *testing.T) {
	type look struct {
		at      time.Duration
		pending signals
		unknown bool
	}
	const never = -1
	for name, test := range map[string]struct {
		looks []look
		end   int // which look ends it
	}{
		"fatal":               {[]look{{0, signalSet(syscall.SIGKILL), false}}, 0},
		"fatal later":         {[]look{{0, signalSet(syscall.SIGCHLD), false}, {50, signalSet(syscall.SIGKILL), false}}, 1},
		"fatal among others":  {[]look{{0, signalSet(syscall.SIGCHLD, syscall.SIGKILL, syscall.SIGTERM), false}}, 0},
		"nothing":             {[]look{{0, 0, false}, {50, 0, false}, {3_600_000, 0, false}}, never},
		"harmless":            {[]look{{0, signalSet(syscall.SIGCHLD), false}, {9000, signalSet(syscall.SIGURG, syscall.SIGALRM), false}}, never},
		"users' own":          {[]look{{0, signalSet(syscall.SIGUSR1), false}, {9000, signalSet(syscall.SIGUSR1, 34, 64), false}}, never},
		"handled":             {[]look{{0, signalSet(syscall.SIGTERM), false}, {1999, signalSet(syscall.SIGTERM), false}, {2000, signalSet(syscall.SIGTERM), false}}, 2},
		"one after the other": {[]look{{0, signalSet(syscall.SIGINT), false}, {2000, signalSet(syscall.SIGHUP), false}}, 1},
		"with a dump":         {[]look{{0, signalSet(syscall.SIGQUIT), false}, {2000, signalSet(syscall.SIGQUIT), false}}, 1},
		"handled later":       {[]look{{0, 0, false}, {5000, signalSet(syscall.SIGINT), false}, {6999, signalSet(syscall.SIGINT), false}, {7000, signalSet(syscall.SIGINT), false}}, 3},
		"taken by a sibling":  {[]look{{0, signalSet(syscall.SIGINT), false}, {50, 0, false}, {2000, signalSet(syscall.SIGINT), false}, {4000, signalSet(syscall.SIGINT), false}}, 3},
		"unknown":             {[]look{{0, 0, true}, {1999, 0, true}, {2000, 0, true}}, 2},
		"unknown later":       {[]look{{0, 0, false}, {4000, 0, true}, {6000, 0, true}}, 2},
	} {
		start := time.Now()
		var p patience
		end := never
		for i, l := range test.looks {
			if p.ended(start.Add(l.at*time.Millisecond), l.pending, !l.unknown) {
				end = i
				break
			}
		}
		if end != test.end {
			t.Errorf("%s: ended by look %d, want %d", name, end, test.end)
		}
	}
}

func TestParsePending(t *testing.T) {
	const status = "Name:\tcat\nSigQ:\t1/2\nSigPnd:\t%s\nShdPnd:\t%s\nSigBlk:\t%s\nSigIgn:\t0000000000000000\n"
	for _, test := range []struct {
		status string
		want   signals
		ok     bool
	}{
		{fmt.Sprintf(status, "0000000000000100", "0000000000000000", "0000000000000000"), signalSet(syscall.SIGKILL), true},
		{fmt.Sprintf(status, "0000000000000000", "0000000000004002", "0000000000000000"), signalSet(syscall.SIGTERM, syscall.SIGINT), true},
		{fmt.Sprintf(status, "0000000000010000", "0000000000004000", "0000000000004000"), signalSet(syscall.SIGCHLD), true},
		{fmt.Sprintf(status, "8000000000000000", "0000000000000000", "0000000000000000"), signalSet(64), true},
		{fmt.Sprintf(status, "0", "0", "0"), 0, true},
		{fmt.Sprintf(status, "x", "0", "0"), 0, false},
		{"Name:\tcat\nSigPnd:\t0000000000000100\n", 0, false},
		{"", 0, false},
	} {
		if got, ok := parsePending([]byte(test.status)); got != test.want || ok != test.ok {
			t.Errorf("%q: %x, %v, want %x, %v", test.status, got, ok, test.want, test.ok)
		}
	}
}

func TestProcPending(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if pending, ok := procPending(uint32(unix.Gettid())); !ok || pending&(fatalSignals|askingSignals) != 0 {
		t.Errorf("of this thread: %x, %v", pending, ok)
	}
	for _, thread := range []uint32{0, 1<<32 - 1} {
		if pending, ok := procPending(thread); ok || pending != 0 {
			t.Errorf("of thread %d, which is not there: %x, %v", thread, pending, ok)
		}
	}
}

// A slowKernel serves a file that opens only once proceed is closed, to a thread whose pending
// signals the test sets.
type slowKernel struct {
	*kernel
	id      uint64
	started chan struct{}
	proceed chan struct{}
	pending atomic.Uint64
	unknown atomic.Bool
	looks   atomic.Int32
}

func newSlowKernel(t *testing.T) *slowKernel {
	s := &slowKernel{started: make(chan struct{}, 10), proceed: make(chan struct{})}
	file := nodes.Sized(2, func(ctx context.Context) ([]byte, error) {
		s.started <- struct{}{}
		select {
		case <-s.proceed:
			return []byte("ok"), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	s.kernel = newKernel(t, nodes.List(nodes.Entry{Name: "slow", File: file}), Options{})
	s.server.pending = func(thread uint32) (signals, bool) {
		if s.looks.Add(1); thread != 77 {
			t.Errorf("looked at thread %d", thread)
		}
		return signals(s.pending.Load()), !s.unknown.Load()
	}
	s.id = s.walk("slow").NodeId
	return s
}

// read begins a READ and returns where its status will come.
func (s *slowKernel) read(interrupted <-chan struct{}) <-chan fuse.Status {
	in := &fuse.ReadIn{InHeader: fuse.InHeader{NodeId: s.id, Caller: fuse.Caller{Pid: 77}}}
	result := make(chan fuse.Status, 1)
	go func() {
		_, status := s.server.Read(interrupted, in, make([]byte, 10))
		result <- status
	}()
	return result
}

func closedChannel() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// An interrupted request ends after the time that the signal gives it; others do not even get
// looked at.
func TestInterrupt(t *testing.T) {
	for name, test := range map[string]struct {
		pending signals
		unknown bool
		want    time.Duration
	}{
		"killed":   {pending: fatalSignals, want: 0},
		"asked":    {pending: signalSet(syscall.SIGTERM), want: interruptGrace},
		"unknown":  {unknown: true, want: interruptGrace},
		"harmless": {pending: signalSet(syscall.SIGCHLD), want: -1},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSlowKernel(t)
			s.pending.Store(uint64(test.pending))
			s.unknown.Store(test.unknown)
			interrupted := make(chan struct{})
			status := s.read(interrupted)
			time.Sleep(time.Hour)
			if n := s.looks.Load(); n != 0 {
				t.Errorf("%s: %d looks before the interruption", name, n)
			}
			start := time.Now()
			close(interrupted)
			if test.want < 0 {
				time.Sleep(time.Hour)
				close(s.proceed)
			}
			want := fuse.EINTR
			if test.want < 0 {
				want = fuse.OK
			}
			if got := <-status; got != want {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
			if got := time.Since(start); test.want >= 0 && got != test.want {
				t.Errorf("%s: ended after %v, want %v", name, got, test.want)
			}
			synctest.Wait()
			last := s.looks.Load()
			time.Sleep(time.Minute)
			if n := s.looks.Load(); n != last {
				t.Errorf("%s: %d looks after the answer", name, n-last)
			}
		})
	}
}

// The kernel reports the first signal only: those that follow are seen all the same.
func TestInterruptIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlowKernel(t)
		s.pending.Store(uint64(signalSet(syscall.SIGCHLD)))
		status := s.read(closedChannel())
		time.Sleep(time.Minute)
		s.pending.Store(uint64(signalSet(syscall.SIGCHLD) | fatalSignals))
		start := time.Now()
		if got := <-status; got != fuse.EINTR {
			t.Errorf("after SIGKILL: %v", got)
		}
		if d := time.Since(start); d > interruptLook {
			t.Errorf("SIGKILL was seen after %v", d)
		}
	})
}

// Who waits for the same file goes on when the one that opens it is killed.
func TestInterruptOfOneReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlowKernel(t)
		s.pending.Store(uint64(fatalSignals))
		interrupted := make(chan struct{})
		first := s.read(interrupted)
		<-s.started
		second := s.read(nil)
		synctest.Wait() // the second waits for the first
		close(interrupted)
		if got := <-first; got != fuse.EINTR {
			t.Errorf("the killed reader: %v", got)
		}
		<-s.started // the second tries again
		if got := <-s.read(closedChannel()); got != fuse.EINTR {
			t.Errorf("a killed reader that waits for another: %v", got)
		}
		close(s.proceed)
		if got := <-second; got != fuse.OK {
			t.Errorf("the other reader: %v", got)
		}
	})
}

// A decoder asks Err only. It costs nothing until there was an interruption, and the channel of the
// kernel means nothing once the request is over: another one has it then.
func TestRequestErr(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		interrupted := make(chan struct{})
		r := &request{interrupted: interrupted, pending: func(uint32) (signals, bool) { return fatalSignals, true }}
		if err := r.Err(); err != nil || r.done != nil {
			t.Errorf("not interrupted: %v, watched: %v", err, r.done != nil)
		}
		over := &request{interrupted: interrupted, pending: r.pending}
		over.answered()
		close(interrupted)
		r.Err()
		synctest.Wait()
		if err := r.Err(); !errors.Is(err, context.Canceled) {
			t.Errorf("killed: %v", err)
		}
		over.Err()
		synctest.Wait()
		if err := over.Err(); err != nil {
			t.Errorf("answered before: %v", err)
		}
	})
}
