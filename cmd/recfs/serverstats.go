package main

import (
	"encoding/json"
	"errors"
	"io"
	iofs "io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// readStats returns what the mount at dir, or the server of that address, tells of itself, and the
// same as text.
func readStats(dir string) (mountStats, []byte, error) {
	if isServed(dir) {
		return readServerStats(dir)
	}
	var s mountStats
	text, err := os.ReadFile(filepath.Join(dir, controlName, "stats.json"))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, text, err
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
		if l, err = listenUnix(filepath.Join(dir, statsName(address(s.http)))); err == nil {
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
			_, _ = c.Write(marshal(m.stats(problems))) // an error says that the caller has gone
			c.Close()
		}
	}()
	return func() { l.Close() }
}

// address is where l listens, as a flag names it.
func address(l net.Listener) string {
	if l.Addr().Network() == "unix" {
		return unixPrefix + l.Addr().String()
	}
	return l.Addr().String()
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
