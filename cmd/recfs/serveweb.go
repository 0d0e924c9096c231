package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
)

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
	stop, failed := s.start(m)
	defer stop()
	for _, line := range s.urls() {
		if _, err := fmt.Fprintln(e.stdout, line); err != nil {
			return err
		}
	}
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

// statsDirs are where sockets lie at which servers tell how they are doing.
func statsDirs() (dirs []string) {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		dirs = append(dirs, filepath.Join(dir, "recfs"))
	}
	if dir, err := new(diskFlags).path(); err == nil {
		dirs = append(dirs, dir)
	}
	return dirs
}

// tellStats answers at a private socket with how m is doing, and returns what ends that.
func (s *webSession) tellStats(m *monitor) (stop func()) {
	var l net.Listener
	var err error = iofs.ErrNotExist
	for _, dir := range statsDirs() {
		if err = os.MkdirAll(dir, 0o700); err != nil {
			continue
		}
		if l, err = listenUnix(filepath.Join(dir, statsName(s.address()))); err == nil {
			break
		}
	}
	if err != nil {
		s.log.Warn("nothing tells how the server is doing", "err", err)
		return func() {}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, problems := m.records.problemLines()
			_, _ = c.Write(marshal(m.stats(problems))) // who does not listen has gone
			c.Close()
		}
	}()
	return func() { l.Close() }
}

// address is where files and folders are served.
func (s *webSession) address() string {
	if s.http.Addr().Network() == "unix" {
		return unixPrefix + s.http.Addr().String()
	}
	return s.http.Addr().String()
}

// readServerStats returns what the server at a URL tells of itself, and the same as text.
func readServerStats(url string) (s mountStats, text []byte, err error) {
	for _, dir := range statsDirs() {
		for _, addr := range statsAddresses(url) {
			c, failed := net.Dial("unix", filepath.Join(dir, statsName(addr)))
			if failed != nil {
				continue
			}
			defer c.Close()
			if text, err = io.ReadAll(c); err == nil {
				err = json.Unmarshal(text, &s)
			}
			return s, text, err
		}
	}
	return s, nil, errors.New("no server of this user on this machine answers there")
}

// statsName is the name of the socket at which the server of an address tells how it is doing.
func statsName(addr string) string {
	return strings.NewReplacer("/", "_", string(os.PathSeparator), "_").Replace(addr) + ".sock"
}

// statsAddresses are the addresses that a server may have that is asked for by a URL.
func statsAddresses(url string) []string {
	if strings.HasPrefix(url, unixPrefix) {
		return []string{url}
	}
	scheme, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), strconv.Itoa(map[string]int{"http": 80, "https": 443}[scheme])
	}
	if name == "localhost" {
		name = "127.0.0.1"
	}
	all := []string{net.JoinHostPort(name, port)}
	for _, any := range []string{"::", "0.0.0.0"} {
		all = append(all, net.JoinHostPort(any, port))
	}
	return all
}

// isServed reports whether a command line means a server by its address.
func isServed(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") || strings.HasPrefix(name, unixPrefix)
}
