package web

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"recfs/fs/web/page"
	"recfs/nodes"
)

// The limits of docs/tree/serve.md section 5.
const (
	maxConns    = 1024
	maxHeader   = 12 << 10 // to which net/http adds 4 KiB
	idleTimeout = 2 * time.Minute
)

// A Server serves a tree on any number of listeners, which share its limits.
type Server struct {
	*front
	tree    *tree
	secrets atomic.Pointer[Secrets]
	conns   chan struct{}

	mu      sync.Mutex
	servers []*http.Server
}

// NewServer returns a Server that lets everybody in.
func NewServer(opt Options) *Server {
	s := &Server{
		front: &front{opt: opt, turns: newTurns(opt.MaxRequests)},
		tree: &tree{
			root: opt.Root, hidden: opt.Hidden, cache: opt.Cache, build: opt.Build, webdav: opt.WebDAV,
			contents: newContents(opt.MaxRequests),
		},
		conns: make(chan struct{}, maxConns),
	}
	if t := s.tree; opt.Page != nil {
		t.site = page.New(page.Tree{
			Path: pathOf, Find: t.find, Within: t.within, Tag: func(ctx context.Context, way nodes.Way) (string, error) { return t.tag(ctx, way, "") },
			Status: func(err error) int { return refusalOf(err).status },
			List:   opt.Page, DiffMaps: opt.DiffMaps,
		})
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
	return &endpoint{front: s.front, handle: s.tree.files, refuse: refuse, admit: func(r *http.Request) error {
		return s.secrets.Load().admitToken(r)
	}}
}

func (s *Server) bucket() *endpoint {
	return &endpoint{front: s.front, handle: s.tree.s3, refuse: refuseS3, admit: func(r *http.Request) error {
		return s.secrets.Load().admitKey(r)
	}}
}

func (s *Server) serve(l Listener, e *endpoint) error {
	e.loopback = l.Loopback
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	server := &http.Server{
		Handler: e, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		Protocols: protocols, ConnContext: withConn, ErrorLog: log.New(io.Discard, "", 0), DisableGeneralOptionsHandler: true,
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
	s.tree.contents.Close()
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
