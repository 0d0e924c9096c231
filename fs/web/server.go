package web

import (
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"recfs/fs/web/page"
)

// The limits of docs/tree/serve.md section 5.
const (
	maxConns    = 1024
	maxHeader   = 12 << 10 // to which net/http adds 4 KiB
	idleTimeout = 2 * time.Minute
)

// A Server serves a tree on any number of listeners, which share its limits.
type Server struct {
	opt       Options
	tree      *tree
	turns     *turns
	accessLog slog.Handler
	secrets   atomic.Pointer[Secrets]
	conns     chan struct{}

	mu      sync.Mutex
	stats   Stats
	servers []*http.Server
}

// NewServer returns a Server that lets everybody in.
func NewServer(opt Options) *Server {
	s := &Server{
		opt: opt, tree: newTree(&opt), turns: newTurns(opt.MaxRequests), accessLog: newAccessLog(opt.AccessLog),
		conns: make(chan struct{}, maxConns), stats: newStats(),
	}
	s.secrets.Store(&Secrets{})
	return s
}

// SetSecrets says who gets in from now on.
func (s *Server) SetSecrets(secrets Secrets) { s.secrets.Store(&secrets) }

// Serve answers requests for files and folders until Shutdown.
func (s *Server) Serve(l Listener) error { return s.serve(l, s.files()) }

// ServeS3 answers requests of S3 clients until Shutdown.
func (s *Server) ServeS3(l Listener) error { return s.serve(l, s.bucket()) }

func (s *Server) files() *endpoint {
	return &endpoint{Server: s, admit: (*Secrets).admitToken, handle: s.tree.files, refuse: refuse}
}

func (s *Server) bucket() *endpoint {
	return &endpoint{Server: s, admit: (*Secrets).admitKey, handle: s.tree.s3, refuse: refuseS3}
}

func (s *Server) serve(l Listener, e *endpoint) error {
	e.loopback = l.Loopback
	server := &http.Server{
		Handler: e, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ConnContext: withConn, ErrorLog: log.New(io.Discard, "", 0), DisableGeneralOptionsHandler: true,
	}
	s.mu.Lock()
	s.servers = append(s.servers, server)
	s.mu.Unlock()
	var limited net.Listener = limitedListener{l.Listener, s.conns}
	if l.Wrap != nil {
		limited = l.Wrap(limited)
	}
	if err := server.Serve(limited); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// Shutdown lets requests end until ctx does.
func (s *Server) Shutdown(ctx context.Context) {
	s.mu.Lock()
	servers := s.servers
	s.mu.Unlock()
	var all sync.WaitGroup
	for _, server := range servers {
		all.Go(func() {
			if server.Shutdown(ctx) != nil {
				server.Close()
			}
		})
	}
	all.Wait()
	s.tree.contents.Close()
}

// A Listener takes connections.
type Listener struct {
	net.Listener
	Loopback bool                            // only from this machine
	Wrap     func(net.Listener) net.Listener // with TLS; nil: as they are
}

// The limits of docs/tree/serve.md section 5.
const (
	headerTimeout = 10 * time.Second
	maxBody       = 64 << 10
)

// An endpoint is what one address answers.
type endpoint struct {
	*Server
	loopback bool
	admit    func(s *Secrets, r *http.Request) error
	handle   func(w *reply, r *http.Request) error
	refuse   func(w *reply, r *http.Request, err *page.Refusal)
}

// ServeHTTP implements http.Handler.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	out := &reply{ResponseWriter: w, request: r}
	err := e.run(out, r)
	if err == nil {
		err = out.err
	}
	if p, ok := errors.AsType[*panicError](err); ok {
		e.opt.Log.Error("panic in a request", "method", r.Method, "path", r.URL.Path, "panic", p.cause, "stack", string(p.stack))
	}
	if r.Context().Err() != nil && err != nil && err != errBadBody { // where a body breaks off it ends, too
		err = errGone
	}
	cut := err != nil && (out.sent || err == errGone)
	switch {
	case err == errGone:
		out.status = statusGone
	case cut:
	case err != nil:
		e.refuse(out, r, refusalOf(err))
	case out.status >= http.StatusBadRequest && !out.sent: // net/http refused
		e.refuse(out, r, page.NewRefusal(out.status, strings.ToLower(http.StatusText(out.status))))
	default:
		out.send()
	}
	e.count(r.Method, out)
	e.logAccess(r, out, began, cut)
	if out.flush() != nil || cut {
		if c := connOf(r); c != nil && !r.ProtoAtLeast(1, 1) {
			c.reset()
		}
		panic(http.ErrAbortHandler) // cuts the connection before the announced length
	}
}

// always are the headers of all replies, unless one sets others.
var always = http.Header{
	"X-Content-Type-Options": {"nosniff"}, "Referrer-Policy": {"no-referrer"}, "Cross-Origin-Resource-Policy": {"same-origin"},
	"Content-Security-Policy": {"sandbox; default-src 'none'"}, "Cache-Control": {"no-cache"},
}

// run lets a request in and has it answered. A panic ends only this request.
func (e *endpoint) run(w *reply, r *http.Request) (err error) {
	defer rescue(&err)
	h := w.Header()
	maps.Copy(h, always)
	if e.loopback && !e.isName(r.Host) {
		return errHost
	}
	if e.allowOrigin(h, r) {
		return nil
	}
	if err := e.admit(e.secrets.Load(), r); err != nil {
		return err
	}
	if err := readBody(w, r); err != nil {
		return err
	}
	if page.IsAsset(r) { // it is at hand, and without it a page cannot say that the server is busy
		return e.handle(w, r)
	}
	if w.turn, err = e.turns.begin(r.Context()); err != nil {
		return err
	}
	defer w.turn.leave()
	return e.handle(w, r)
}

// readBody reads all of a body, which says nothing but in PROPFIND, before the request has a turn.
func readBody(w *reply, r *http.Request) error {
	if r.ContentLength == 0 {
		return nil
	}
	control := http.NewResponseController(w.ResponseWriter)
	_ = control.SetReadDeadline(time.Now().Add(headerTimeout)) // a connection has them
	if !slices.Contains([]string{http.MethodGet, http.MethodHead, "PROPFIND"}, r.Method) {
		return nil // it is refused
	}
	body, err := io.ReadAll(http.MaxBytesReader(w.ResponseWriter, r.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return page.NewRefusal(http.StatusRequestEntityTooLarge, "the body is too large")
	}
	if err != nil {
		return errBadBody
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	_ = control.SetReadDeadline(time.Time{})
	return nil
}

// Stats says what a Server has done so far.
type Stats struct {
	Requests map[string]uint64 // by method
	Bytes    uint64            // of bodies
	Errors   uint64            // replies with 500 and above, and those that were cut
}

// newStats has the methods that are counted by name; other stands for all others.
func newStats() Stats {
	return Stats{Requests: map[string]uint64{"GET": 0, "HEAD": 0, "OPTIONS": 0, "PROPFIND": 0, otherMethod: 0}}
}

const otherMethod = "other"

func (s *Server) count(method string, w *reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.stats.Requests[method]; !known {
		method = otherMethod
	}
	s.stats.Requests[method]++
	s.stats.Bytes += uint64(w.bytes)
	if w.err != nil || w.status >= http.StatusInternalServerError {
		s.stats.Errors++
	}
}

// Stats says what the server has done so far.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.stats
	all.Requests = maps.Clone(all.Requests)
	return all
}

// newAccessLog returns the log of requests, which leaves out what is empty.
func newAccessLog(out io.Writer) slog.Handler {
	return slog.NewJSONHandler(out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.LevelKey || a.Value.Equal(slog.StringValue("")) || a.Value.Equal(slog.BoolValue(false)) {
			return slog.Attr{}
		}
		return a
	}})
}

// logAccess writes a line about a request, without a query that has a signature.
func (s *Server) logAccess(r *http.Request, w *reply, began time.Time, cut bool) {
	if s.opt.AccessLog == nil {
		return
	}
	asked := r.URL.EscapedPath()
	if q, err := url.QueryUnescape(r.URL.RawQuery); q != "" && err == nil && !strings.Contains(strings.ToLower(q), "amz") {
		asked += "?" + r.URL.RawQuery
	}
	line := slog.NewRecord(began.UTC(), 0, "", 0)
	line.Add("remote", r.RemoteAddr, "method", r.Method, "path", asked, "range", r.Header.Get("Range"), "status", w.status,
		"bytes", w.bytes, "cut", cut, "ms", time.Since(began).Milliseconds(), "agent", r.UserAgent())
	_ = s.accessLog.Handle(r.Context(), line) // a reply does not fail for its log
}
