package web

import (
	"context"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"recfs/cache"
	"recfs/nodes"
)

// Options of a Server.
type Options struct {
	Root   nodes.Entry
	Hidden string // the name in the root that is not there
	Cache  *cache.Cache
	Build  string // tells apart programs that may show other bytes of one source

	WebDAV      bool
	Hosts       []string // names of this server besides those of loopback
	Origins     []string // whose pages may read
	MaxRequests int      // at work at a time
	Log         *slog.Logger
	AccessLog   io.Writer // nil: none; it has one Write a line
}

// Secrets say who gets in.
type Secrets struct {
	Token string            // "": everybody
	Keys  map[string]string // secrets by access key, of the S3 endpoint; nil: everybody
}

// The limits of docs/tree/serve.md section 5.
const (
	maxWaiting    = 256
	maxWait       = 10 * time.Second
	maxConns      = 1024
	maxHeader     = 12 << 10 // to which net/http adds 4 KiB
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxBody       = 64 << 10
)

// A Server serves a tree on any number of listeners, which share its limits.
type Server struct {
	opt     Options
	tree    *tree
	secrets atomic.Pointer[Secrets]
	turns   turns
	conns   chan struct{}
	stats   counters

	accessLog sync.Mutex
	mu        sync.Mutex
	servers   []*http.Server
}

// NewServer returns a Server that lets everybody in.
func NewServer(opt Options) *Server {
	s := &Server{
		opt: opt, tree: &tree{opt.Root, opt.Hidden, opt.Cache, opt.Build},
		turns: newTurns(opt.MaxRequests), conns: make(chan struct{}, maxConns),
	}
	s.secrets.Store(&Secrets{})
	return s
}

// SetSecrets says who gets in from now on.
func (s *Server) SetSecrets(secrets Secrets) { s.secrets.Store(&secrets) }

// Serve answers requests for files and folders until Shutdown.
func (s *Server) Serve(l Listener) error {
	return s.serve(l, &endpoint{s: s, handle: s.files, refuse: refuse, admit: s.admitToken})
}

// ServeS3 answers requests of S3 clients until Shutdown.
func (s *Server) ServeS3(l Listener) error {
	return s.serve(l, &endpoint{s: s, handle: s.s3, refuse: refuseS3, admit: s.admitKey})
}

func (s *Server) serve(l Listener, e *endpoint) error {
	e.loopback = l.Loopback
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	server := &http.Server{
		Handler: e, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		Protocols: protocols, ErrorLog: log.New(io.Discard, "", 0), DisableGeneralOptionsHandler: true,
	}
	s.mu.Lock()
	s.servers = append(s.servers, server)
	s.mu.Unlock()
	if err := server.Serve(l.limited(s.conns)); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// Shutdown lets requests end until ctx does.
func (s *Server) Shutdown(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all sync.WaitGroup
	for _, server := range s.servers {
		all.Go(func() {
			if server.Shutdown(ctx) != nil {
				server.Close()
			}
		})
	}
	all.Wait()
}

// turns let so many requests work at a time, and some more wait for that.
type turns struct {
	work    chan struct{}
	waiting *atomic.Int32
}

func newTurns(n int) turns { return turns{make(chan struct{}, n), new(atomic.Int32)} }

// begin waits for the first turn of a request.
func (t turns) begin(ctx context.Context) (*turn, error) {
	mine := &turn{all: t, ctx: ctx}
	if mine.try() {
		return mine, nil
	}
	defer t.waiting.Add(-1)
	if t.waiting.Add(1) > maxWaiting {
		return nil, errBusy
	}
	waiting, cancel := context.WithTimeoutCause(ctx, maxWait, errBusy)
	defer cancel()
	mine.ctx = waiting
	if err := mine.take(); err != nil {
		return nil, err
	}
	mine.ctx = ctx
	return mine, nil
}

// A turn is that of one request, which has none while its client takes its time with what was made,
// and lets others in between after each turnSize.
type turn struct {
	all  turns
	ctx  context.Context
	sent int         // bytes since it was taken
	slow *time.Timer // ends the turn while the client takes its time

	mu   sync.Mutex
	held bool
}

const (
	turnSize  = 1 << 20
	slowWrite = 20 * time.Millisecond
)

func (t *turn) try() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.held {
		select {
		case t.all.work <- struct{}{}:
			t.held = true
		default:
		}
	}
	return t.held
}

// take waits for a turn, unless the request has it.
func (t *turn) take() error {
	if t == nil || t.try() {
		return nil
	}
	select {
	case t.all.work <- struct{}{}:
		t.mu.Lock()
		t.held, t.sent = true, 0
		t.mu.Unlock()
		return nil
	case <-t.ctx.Done():
		return context.Cause(t.ctx)
	}
}

// leave ends a turn.
func (t *turn) leave() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held {
		t.held = false
		<-t.all.work
	}
}

// writing is called before n bytes are written, and what it returns after that.
func (t *turn) writing(n int) (done func()) {
	if t == nil {
		return func() {}
	}
	if t.sent += n; t.sent >= turnSize {
		t.sent = 0
		t.leave()
	}
	if t.slow == nil {
		t.slow = time.AfterFunc(slowWrite, t.leave)
	} else {
		t.slow.Reset(slowWrite)
	}
	return func() { t.slow.Stop() }
}

// A Listener takes connections.
type Listener struct {
	net.Listener
	Loopback bool                            // only from this machine
	Wrap     func(net.Listener) net.Listener // with TLS; nil: as they are
}

// limited returns l with no more connections at a time than conns has room for.
func (l Listener) limited(conns chan struct{}) net.Listener {
	var all net.Listener = limitedListener{l.Listener, conns}
	if l.Wrap != nil {
		all = l.Wrap(all)
	}
	return all
}
