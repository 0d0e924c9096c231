package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"recfs/fs/web"
	"recfs/fs/web/page"
	"recfs/nodes"
)

// stopTime is how long requests have to end when the server is told to.
const stopTime = 5 * time.Second

// A webSession is a tree that this process serves on the network.
type webSession struct {
	flags   *webFlags
	server  *web.Server
	log     *slog.Logger
	cert    atomic.Pointer[tls.Certificate]
	http    net.Listener
	s3      net.Listener // nil: there is none
	closers []func()
}

// open opens the addresses and reads the files of secrets. Nothing is answered before start.
func (f *webFlags) open(e *env, a *archive, root nodes.Entry) (s *webSession, err error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	s = &webSession{flags: f, log: a.log}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	log, err := s.openAccessLog(e)
	if err != nil {
		return s, err
	}
	v := version()
	var list page.List
	if !f.noPage {
		list = &pageList{a, root.Dir}
		s.closers = append(s.closers, a.catalogue.Close)
	}
	s.server = web.NewServer(web.Options{
		Page: list, DiffMaps: a.diffMaps, Root: root, Hidden: controlName, Cache: a.cache, Build: v.Version + " " + v.Revision,
		WebDAV: f.webdav, Hosts: f.hosts, Origins: f.origins, MaxRequests: f.maxRequests,
		Log: a.log, AccessLog: log,
	})
	if err := s.reload(); err != nil {
		return s, err
	}
	if f.s3Keys != "" && f.s3Listen == "" { // not in check: first comes what is wrong with the file
		return s, usagef("serve: --s3-keys needs --s3-listen")
	}
	if s.http, err = s.listen(f.listen); err == nil && f.s3Listen != "" {
		s.s3, err = s.listen(f.s3Listen)
	}
	return s, err
}

func (s *webSession) openAccessLog(e *env) (io.Writer, error) {
	switch s.flags.accessLog {
	case "":
		return nil, nil
	case "-":
		return e.stderr, nil
	}
	f, err := openLogFile(s.flags.accessLog)
	if err != nil {
		return nil, fmt.Errorf("access log: %w", err)
	}
	s.closers = append(s.closers, func() { f.Close() })
	return f, nil
}

// listen opens an address.
func (s *webSession) listen(addr string) (l net.Listener, err error) {
	if name, ok := strings.CutPrefix(addr, unixPrefix); ok {
		l, err = listenUnix(name)
	} else {
		l, err = net.Listen("tcp", addr)
	}
	if err == nil {
		s.closers = append(s.closers, func() { l.Close() })
	}
	return l, err
}

// listenUnix listens at a socket that only this user may connect to. One that a process left behind
// is replaced.
func listenUnix(name string) (net.Listener, error) {
	if info, err := os.Lstat(name); err == nil && info.Mode().Type() == os.ModeSocket {
		if c, err := net.Dial("unix", name); err == nil {
			c.Close()
			return nil, fmt.Errorf("%s: another process listens there", name)
		}
		os.Remove(name)
	}
	l, err := net.Listen("unix", name)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(name, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// reload reads the files of secrets and certificates again.
func (s *webSession) reload() error {
	var secrets web.Secrets
	var err error
	if s.flags.tokenFile != "" {
		if secrets.Token, err = readToken(s.flags.tokenFile); err != nil {
			return err
		}
	}
	if s.flags.s3Keys != "" {
		if secrets.Keys, err = readKeys(s.flags.s3Keys); err != nil {
			return err
		}
	}
	if s.flags.tlsCert != "" {
		if err := checkPrivate(s.flags.tlsKey); err != nil {
			return err
		}
		cert, err := tls.LoadX509KeyPair(s.flags.tlsCert, s.flags.tlsKey)
		if err != nil {
			return err
		}
		s.cert.Store(&cert)
	}
	s.server.SetSecrets(secrets)
	return nil
}

// wrap has connections of l speak TLS.
func (s *webSession) wrap(l net.Listener) net.Listener {
	if s.flags.tlsCert == "" {
		return l
	}
	return tls.NewListener(l, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.cert.Load(), nil },
	})
}

// urls are what is served, as a person writes it, one a line.
func (s *webSession) urls() string {
	scheme := "http://"
	if s.flags.tlsCert != "" {
		scheme = "https://"
	}
	name := func(l net.Listener, rest string) string {
		if l.Addr().Network() == "unix" {
			return address(l)
		}
		return scheme + address(l) + rest
	}
	all := name(s.http, "/") + "\n"
	if s.s3 != nil {
		all += "s3: " + name(s.s3, "") + " bucket recfs\n"
	}
	return all
}

// start says on standard output where requests are answered, and answers them until stop is called,
// which lets those at work end. failed hears if an address is not answered any more before that.
func (s *webSession) start(e *env, m *monitor) (stop func(), failed <-chan error) {
	m.web.Store(s.server)
	silence := s.tellStats(m)
	errs := make(chan error, 3)
	var all sync.WaitGroup
	serve := func(l net.Listener, addr string, serve func(web.Listener) error) {
		all.Go(func() {
			if err := serve(web.Listener{Listener: l, Loopback: isLoopback(addr), Wrap: s.wrap}); err != nil && !errors.Is(err, net.ErrClosed) {
				errs <- err
			}
		})
	}
	serve(s.http, s.flags.listen, s.server.Serve)
	if s.s3 != nil {
		serve(s.s3, s.flags.s3Listen, s.server.ServeS3)
	}
	if _, err := io.WriteString(e.stdout, s.urls()); err != nil {
		errs <- err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		s.server.Shutdown(ctx)
		silence()
		s.close()
		all.Wait()
	}, errs
}

func (s *webSession) close() {
	for _, c := range s.closers {
		c()
	}
	s.closers = nil
}

var serveCommand = command{
	name:    "serve",
	args:    "SOURCE",
	summary: "Show an archive to browsers, programs and S3 clients on the network",
	about: `
It serves the tree of a mount of SOURCE over HTTP, and says where on standard output once it answers. It
stays in the foreground until SIGINT or SIGTERM; requests at work then have five seconds to end. SIGHUP has
it read the files of tokens, keys and certificates again. 'recfs stats http://127.0.0.1:8030/' tells how it
is doing.

Only this machine is let in without a secret. Another address needs --token-file, that of --s3-listen
--s3-keys, and both TLS or --insecure-http. Addresses are HOST:PORT, :PORT for all of the machine, or
unix:PATH.`,
	run: runServe,
}

func runServe(flags *pflag.FlagSet) runFunc {
	var f webFlags
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8030", "answer at `ADDR`")
	f.register(flags)
	opt := readFlags(flags)
	return func(ctx context.Context, e *env, args []string) error {
		if err := f.check(); err != nil {
			return err
		}
		source, err := absName(args[0])
		if err != nil {
			return err
		}
		a, err := opt.open(e)
		if err != nil {
			return err
		}
		defer a.close()
		a.options.Follow = true
		m := newMonitor(source, a)
		root, err := a.source(ctx, source)
		if err != nil {
			return err
		}
		if root.Dir == nil {
			return fmt.Errorf("%s: not a recording", args[0])
		}
		s, err := f.open(e, a, root)
		if err != nil {
			return err
		}
		return s.run(ctx, e, m)
	}
}

// run answers requests until ctx ends.
func (s *webSession) run(ctx context.Context, e *env, m *monitor) error {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	stop, failed := s.start(e, m)
	defer stop()
	notifySystemd("READY=1")
	for {
		select {
		case <-ctx.Done():
			notifySystemd("STOPPING=1")
			return nil
		case err := <-failed:
			return err
		case <-hup:
			if err := s.reload(); err != nil {
				s.log.Error("secrets are not read again", "err", err)
			}
		}
	}
}
