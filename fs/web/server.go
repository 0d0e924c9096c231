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
