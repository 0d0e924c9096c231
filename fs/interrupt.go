//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// The kernel reports any signal to a thread that waits for an answer: SIGCHLD to a shell, SIGURG to
// a Go program, an interval timer. A regular file system lets none but a fatal one end a look-up,
// and hardly a program retries one, so what the signal is decides (see patience).
const interruptLook = 50 * time.Millisecond // the kernel reports only the first signal

var interruptGrace = 2 * time.Second

// signals is a set of signals as in /proc: bit n-1 stands for signal n.
type signals uint64

func signalSet(list ...syscall.Signal) (set signals) {
	for _, s := range list {
		set |= 1 << (s - 1)
	}
	return set
}

var (
	// fatalSignals is what the kernel makes of every signal that ends a process without a dump.
	fatalSignals = signalSet(syscall.SIGKILL)
	// askingSignals ask a program to end. Pending means that it handles them, or dumps core.
	askingSignals = signalSet(syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP)
)

// A pendingFunc returns the signals that a thread has been sent and has not taken yet, without
// those that it blocks; not ok if that is not known.
type pendingFunc func(thread uint32) (set signals, ok bool)

// A patience decides from successive looks when an interrupted request ends: at once for a fatal
// signal, after interruptGrace of signals that ask to end, or of not knowing, and never for others.
type patience struct {
	since time.Time // of the first such look in a row; zero: the last was not one
}

// ended reports whether the request ends after a look at that time.
func (p *patience) ended(now time.Time, pending signals, known bool) bool {
	switch {
	case !known, pending&(fatalSignals|askingSignals) != 0:
		if p.since.IsZero() {
			p.since = now
		}
		return pending&fatalSignals != 0 || now.Sub(p.since) >= interruptGrace
	}
	p.since = time.Time{}
	return false
}

// A request is the context of one request. It ends when the caller is to be let go. It is watched
// in a goroutine only once somebody waits for that, or after an interruption: most requests are
// not.
type request struct {
	caller      uint32 // thread; 0: in a process namespace that we do not see
	interrupted <-chan struct{}
	pending     pendingFunc

	mu       sync.Mutex
	over     bool          // answered: interrupted is that of another request by now
	done     chan struct{} // nil: nobody has asked
	watching chan struct{} // closed when the request is over, to end watch
}

func (r *request) Deadline() (t time.Time, ok bool) { return }
func (r *request) Value(any) any                    { return nil }

func (r *request) Done() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done == nil {
		r.done = make(chan struct{})
		if !r.over {
			r.watching = make(chan struct{})
			go r.watch(r.done, r.watching)
		}
	}
	return r.done
}

func (r *request) Err() error {
	select {
	case <-r.interrupted:
	default:
		return nil
	}
	select {
	case <-r.Done():
		return context.Canceled
	default:
		return nil
	}
}

// answered ends the request, but not its context: what it was handed to may still work.
func (r *request) answered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	if r.watching != nil {
		close(r.watching)
	}
}

// watch closes done when the caller is to be let go, unless the request is over before.
func (r *request) watch(done chan<- struct{}, over <-chan struct{}) {
	select {
	case <-r.interrupted:
	case <-over:
		return
	}
	look := time.NewTicker(interruptLook)
	defer look.Stop()
	var p patience
	for {
		pending, known := r.pending(r.caller)
		if p.ended(time.Now(), pending, known) {
			close(done)
			return
		}
		select {
		case <-look.C:
		case <-over:
			return
		}
	}
}

// procPending is the pendingFunc of /proc.
func procPending(thread uint32) (signals, bool) {
	// That of another process namespace has other threads under the same numbers.
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return 0, false
	}
	status, err := os.ReadFile("/proc/" + strconv.FormatUint(uint64(thread), 10) + "/status")
	if err != nil {
		return 0, false
	}
	return parsePending(status)
}

// parsePending returns the pending signals of a thread from its status file, see
// proc_pid_status(5).
func parsePending(status []byte) (set signals, ok bool) {
	var own, shared, blocked uint64
	found := 0
	for line := range bytes.Lines(status) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		mask := map[string]*uint64{"SigPnd": &own, "ShdPnd": &shared, "SigBlk": &blocked}[string(name)]
		if mask == nil {
			continue
		}
		n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 16, 64)
		if err != nil {
			return 0, false
		}
		*mask = n
		found++
	}
	if found != 3 {
		return 0, false
	}
	return signals((own | shared) &^ blocked), true
}
