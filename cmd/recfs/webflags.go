package main

import (
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/spf13/pflag"
)

// webFlags say how a tree is served on the network.
type webFlags struct {
	listen, s3Listen  string // "": not at all
	s3Keys, tokenFile string
	tlsCert, tlsKey   string
	insecure, webdav  bool
	noPage            bool
	hosts, origins    []string
	maxRequests       int
	accessLog         string
}

func (f *webFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.s3Listen, "s3-listen", "", "also answer S3 clients at `ADDR`, with one bucket called recfs")
	flags.StringVar(&f.s3Keys, "s3-keys", "", "let in only S3 clients with a key of `FILE`, whose lines are ACCESSKEY SECRET")
	flags.BoolVar(&f.webdav, "webdav", false, "also answer WebDAV clients, at the same URLs")
	flags.BoolVar(&f.noPage, "no-page", false, "serve files and folders alone, without the page that lists and plays recordings")
	flags.StringVar(&f.tokenFile, "token-file", "", "let in only who has the token in `FILE`, as bearer or as password")
	flags.StringVar(&f.tlsCert, "tls-cert", "", "serve https with the certificate chain in `FILE`")
	flags.StringVar(&f.tlsKey, "tls-key", "", "the private key of --tls-cert in `FILE`")
	flags.BoolVar(&f.insecure, "insecure-http", false, "serve other machines without TLS, as behind a proxy that has it")
	flags.StringArrayVar(&f.hosts, "allow-host", nil, "answer on loopback as `NAME`, too, such as a proxy hands on (may be repeated)")
	flags.StringArrayVar(&f.origins, "allow-origin", nil, "let pages of `ORIGIN` read, such as https://example.org (may be repeated)")
	flags.IntVar(&f.maxRequests, "max-requests", 64, "work on `N` requests at a time")
	flags.StringVar(&f.accessLog, "access-log", "", "append a line of JSON for each request to `FILE`; - is stderr")
}

// check returns why the flags do not go together.
func (f *webFlags) check() error {
	switch {
	case (f.tlsCert == "") != (f.tlsKey == ""):
		return usagef("serve: --tls-cert and --tls-key need each other")
	case f.maxRequests < 1:
		return usagef("serve: --max-requests is at least 1")
	}
	for _, of := range []struct{ addr, secret, flag string }{{f.listen, f.tokenFile, "--token-file"}, {f.s3Listen, f.s3Keys, "--s3-keys"}} {
		switch {
		case of.addr == "" || isLoopback(of.addr):
		case of.secret == "":
			return usagef("serve: %s is not loopback: %s is needed", of.addr, of.flag)
		case f.tlsCert == "" && !f.insecure:
			return usagef("serve: %s is not loopback: --tls-cert or --insecure-http is needed", of.addr)
		}
	}
	return nil
}

// unixPrefix begins an address that is a socket of this machine.
const unixPrefix = "unix:"

// isLoopback reports whether only this machine reaches an address.
func isLoopback(addr string) bool {
	if strings.HasPrefix(addr, unixPrefix) {
		return true
	}
	host, _, err := net.SplitHostPort(addr)
	return err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}

// checkPrivate refuses a file of secrets that others may read, or anybody but its owner write.
func checkPrivate(name string) error {
	info, err := os.Stat(name)
	if err == nil && info.Mode().Perm()&0o026 != 0 {
		err = fmt.Errorf("%s: others may read it", name)
	}
	return err
}

// How many bytes a token and an access key of S3 have at least.
const (
	shortestToken = 16
	shortestKey   = 3
)

// readPrivate reads a file of secrets.
func readPrivate(name string) (string, error) {
	if err := checkPrivate(name); err != nil {
		return "", err
	}
	b, err := os.ReadFile(name)
	return string(b), err
}

func readToken(name string) (string, error) {
	text, err := readPrivate(name)
	if err != nil {
		return "", err
	}
	line, rest, _ := strings.Cut(text, "\n")
	switch line = strings.TrimSpace(line); {
	case len(line) < shortestToken:
		return "", fmt.Errorf("%s: a token has %d bytes or more", name, shortestToken)
	case strings.TrimSpace(rest) != "":
		return "", fmt.Errorf("%s: a token is one line", name)
	}
	return line, nil
}

func readKeys(name string) (map[string]string, error) {
	text, err := readPrivate(name)
	if err != nil {
		return nil, err
	}
	keys, n := map[string]string{}, 0
	for line := range strings.Lines(text) {
		n++
		switch words := strings.Fields(line); len(words) {
		case 0:
		case 2:
			if len(words[0]) < shortestKey || strings.ContainsAny(words[0], "=,/") {
				return nil, fmt.Errorf("%s: line %d: an access key has %d bytes or more, and no = , or /", name, n, shortestKey)
			}
			keys[words[0]] = words[1]
		default:
			return nil, fmt.Errorf("%s: line %d is not ACCESSKEY SECRET", name, n)
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s: there is no key", name)
	}
	return keys, nil
}
