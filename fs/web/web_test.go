package web

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recfs/cache"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

func TestMain(m *testing.M) { nodestest.Main(m) }

var sampleTime = time.Date(2024, 2, 29, 12, 30, 0, 123456789, time.UTC)

// A versioned directory is one of a recording.
type versioned struct {
	nodes.Dir
	version string
}

func (v *versioned) Version(context.Context, string) (string, error) { return v.version, nil }

// Tree implements nodes.Recording.
func (v *versioned) Tree(context.Context) (nodes.Dir, error) { return v.Dir, nil }

// IsRecording implements nodes.Recording.
func (v *versioned) IsRecording() bool { return true }

// What explodes panics when it is read.
type explodes struct{ late }

func (explodes) ReadAt(context.Context, []byte, int64) (int, error) { panic("as asked") }

// A file that is late fails behind its first megabyte.
type late struct{}

func (late) Size() int64 { return 2 << 20 }
func (late) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	if off+int64(len(p)) > 1<<20 {
		return 0, errors.New("bad block")
	}
	return len(p), nil
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8)
	}
	return b
}

func sampleTree() nodes.Entry {
	file := func(name, text string) nodes.Entry { return nodes.Entry{Name: name, File: nodes.Bytes([]byte(text))} }
	failing := func(context.Context) ([]byte, error) { return nil, errors.New("toy: at 0x10: bad\nthing") }
	big := nodes.Section(nodes.BytesContent(pattern(1<<20)), 0, 1<<20)
	far := nodes.Failing(&errWrapped{"https://secret.example", nodes.ErrUnavailable})
	recording := &versioned{nodes.List(
		nodes.Entry{Name: "big.parquet", File: big}, file("empty", ""), file("header.json", "{}\n"),
		nodes.Entry{Name: "ticks", Dir: ticks(5000)},
	), "1"}
	return nodes.Entry{Name: ".", Attr: nodes.Attr{Time: sampleTime}, Dir: nodes.List(
		nodes.Entry{Name: "a", Dir: nodes.List(file("x", "ax"),
			nodes.Entry{Name: "far.toy", Dir: &versioned{nodes.List(nodes.Entry{Name: "far", File: far}), "1"}}, nodes.Entry{Name: "rec.toy", Dir: recording},
		)},
		file("a.b", "a.b"), file("a b#%é\\:", "odd"), file("bad\xff.txt", "bytes"), file("plain", "0123456789"),
		file("page.svg", "<svg/>"), file(".recfs", "private"),
		nodes.Entry{Name: ".view", Dir: nodes.List(file("x", "hidden"))},
		nodes.Entry{Name: "damaged", Dir: nodes.List(
			nodes.Entry{Name: "all", File: nodes.Func(failing)},
			nodes.Entry{Name: "gone", File: nodes.Failing(&errWrapped{"read", nodes.ErrStale})},
			nodes.Entry{Name: "explodes", File: nodes.Stream(2<<20, func(context.Context) (nodes.Content, error) { return explodes{}, nil })},
			nodes.Entry{Name: "late", File: nodes.Stream(2<<20, func(context.Context) (nodes.Content, error) { return late{}, nil })},
			nodes.Entry{Name: "nothing", File: nodes.Sized(0, failing)},
			nodes.Entry{Name: "panic", File: nodes.Sized(1, func(context.Context) ([]byte, error) { panic("as asked") })},
			nodes.Entry{Name: "sized", File: nodes.Sized(10, failing)},
		)},
		nodes.Entry{Name: "link", Link: "a/rec.toy"}, nodes.Entry{Name: "loop", Link: "loop"}, nodes.Entry{Name: "out", Link: "../x"},
		nodes.Entry{Name: "text", Link: "plain"},
	)}
}

type errWrapped struct {
	op  string
	err error
}

func (e *errWrapped) Error() string { return e.op + ": " + e.err.Error() }
func (e *errWrapped) Unwrap() error { return e.err }

func ticks(n int) nodes.Dir {
	return &nodes.Series{
		Suffix: ".json", Width: 8, N: n, Number: func(i int) int64 { return int64(i) },
		File: func(n int64) nodes.File { return nodes.Bytes(fmt.Appendf(nil, "{\"tick\":%d}\n", n)) },
	}
}

// A site is a server of a test.
type site struct {
	*Server
	t    testing.TB
	addr string
}

func serve(t testing.TB, root nodes.Entry, s3 bool, change func(*Options)) *site {
	t.Helper()
	c := cache.New(32<<20, nil)
	opt := Options{Root: root, Hidden: ".recfs", Cache: c, WebDAV: true, MaxRequests: 8, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	if change != nil {
		change(&opt)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(opt)
	run := s.Serve
	if s3 {
		run = s.ServeS3
	}
	ended := make(chan error)
	go func() { ended <- run(Listener{Listener: l, Loopback: true}) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		s.Shutdown(ctx)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
		c.Close()
	})
	return &site{s, t, l.Addr().String()}
}

// do asks with headers "Name: value" and returns the reply and its body; err is that of the body.
func (s *site) do(method, url string, headers ...string) (*http.Response, string, error) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.addr+url, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, ok := strings.Cut(h, ": ")
		if !ok {
			continue
		}
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	reply, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return &http.Response{}, "", err
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	return reply, string(body), err
}

// raw sends bytes as they are and returns the status line of what comes back.
func (s *site) raw(request string) string {
	s.t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(nodestest.Hang))
	if _, err := io.WriteString(c, request); err != nil {
		return err.Error()
	}
	line, _ := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSpace(line)
}

func TestFiles(t *testing.T) {
	s := serve(t, sampleTree(), false, nil)
	const rec = "/a/rec.toy/"
	for _, c := range []struct {
		method, url, headers string
		status               int
		body                 string
	}{
		{"GET", "/plain", "", 200, "0123456789"},
		{"HEAD", "/plain", "", 200, ""},
		{"GET", "/plain", "Range: bytes=2-4", 206, "234"},
		{"HEAD", "/plain", "Range: bytes=2-4", 206, ""},
		{"GET", "/plain", "Range: bytes=-3", 206, "789"},
		{"GET", "/plain", "Range: bytes=7-", 206, "789"},
		{"GET", "/plain", "Range: bytes=-0", 416, "requested range not satisfiable\n"},
		{"GET", "/plain", "Range: bytes=1-2, -00", 206, "12"},
		{"GET", "/plain", "Range: bytes=-", 416, "requested range not satisfiable\n"},
		{"GET", "/plain", "Range: bytes=10-", 416, "requested range not satisfiable\n"},
		{"GET", "/plain", "Range: bytes=4-2", 416, "requested range not satisfiable\n"},
		{"GET", "/plain", "Range: lines=1-2", 200, "0123456789"},
		{"GET", "/plain", "Range: bytes=0-5,3-9", 200, "0123456789"},
		{"GET", "/plain", "Range: bytes=" + strings.Repeat("0-0,", 8) + "1-1", 200, "0123456789"},
		{"GET", "/plain", "If-Modified-Since: " + sampleTime.Format(http.TimeFormat), 304, ""},
		{"GET", "/plain", "If-Unmodified-Since: " + sampleTime.Add(-time.Hour).Format(http.TimeFormat), 412, "precondition failed\n"},
		{"GET", "/plain/", "", 404, "no such file\n"},
		{"GET", "/a", "", 308, ""},
		{"GET", "/nothing", "", 404, "no such file\n"},
		{"GET", "/plain/x", "", 404, "no such file\n"},
		{"GET", "/.recfs", "", 404, "no such file\n"},
		{"GET", "/%2erecfs", "", 404, "no such file\n"},
		{"GET", "/a%20b%23%25%C3%A9%5C%3a", "", 200, "odd"},
		{"GET", "/bad%ff.txt", "", 200, "bytes"},
		{"GET", rec + "empty", "", 200, ""},
		{"GET", rec + "empty", "Range: bytes=-5", 200, ""},
		{"GET", rec + "empty", "Range: bytes=-0", 200, ""},
		{"GET", rec + "ticks/7.json", "", 200, "{\"tick\":7}\n"},
		{"GET", "/link/header.json", "", 302, ""},
		{"GET", "/loop", "", 404, "no such file\n"},
		{"GET", "/out", "", 404, "no such file\n"},
		{"GET", "/damaged/all", "", 500, "damaged: toy: at 0x10: bad thing\n"},
		{"GET", "/damaged/sized", "", 500, "damaged: toy: at 0x10: bad thing\n"},
		{"GET", "/damaged/nothing", "", 500, "damaged: toy: at 0x10: bad thing\n"},
		{"GET", "/damaged/panic", "", 500, "damaged: it could not be made\n"},
		{"GET", "/damaged/gone", "", 503, "changed, ask again\n"},
		{"GET", "/a/far.toy/far", "", 504, "the source does not answer\n"},
		{"GET", "/a/far.toy/", "", 504, "the source does not answer\n"},
		{"GET", "/a/far.toy/?format=json", "", 504, "the source does not answer\n"},
		{"POST", "/plain", "", 405, "method not allowed\n"},
		{"OPTIONS", "/plain", "", 204, ""},
		{"GET", "/plain", "Host: evil.example", 421, "not a name of this server\n"},
		{"GET", "/plain", "Host: LocalHost", 200, "0123456789"},
		{"GET", "/plain", "Host: localhost:1", 200, "0123456789"},
		{"GET", "/" + strings.Repeat("x", 8<<10), "", 400, "bad path\n"},
		{"GET", "/a/?format=xml", "", 400, "bad value of format\n"},
		{"GET", "/a/?limit=10001", "", 400, "bad value of limit\n"},
		{"GET", "/a/?sizes=2", "", 400, "bad value of sizes\n"},
		{"GET", "/a/?after=%zz", "", 400, "bad query\n"},
	} {
		reply, body, err := s.do(c.method, c.url, strings.Split(c.headers, "\n")...)
		if reply.StatusCode != c.status || body != c.body || err != nil {
			t.Errorf("%s %.80s %s: %d %q, %v, want %d %q", c.method, c.url, c.headers, reply.StatusCode, body, err, c.status, c.body)
		}
	}
	reply, body, err := s.do("GET", rec+"big.parquet")
	if body != string(pattern(1<<20)) || err != nil || reply.ContentLength != 1<<20 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	tag := reply.Header.Get("ETag")
	if len(tag) != 34 || reply.Header.Get("Content-Type") != "application/vnd.apache.parquet" || reply.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers %v", reply.Header)
	}
	for header, status := range map[string]int{"If-None-Match: " + tag: 304, "If-Match: " + tag: 200, `If-Match: "other"`: 412} {
		if reply, _, _ := s.do("GET", rec+"big.parquet", header); reply.StatusCode != status {
			t.Errorf("%s: %d", header, reply.StatusCode)
		}
	}
	if reply, body, _ := s.do("GET", rec+"big.parquet", "Range: bytes=0-9", `If-Range: "other"`); reply.StatusCode != 200 || len(body) != 1<<20 {
		t.Errorf("If-Range of another version: %d, %d bytes", reply.StatusCode, len(body))
	}
	if reply, body, _ := s.do("GET", rec+"big.parquet", "Range: bytes=0-9,300000-300009"); reply.StatusCode != 206 || strings.Count(body, string(pattern(10))) != 1 {
		t.Errorf("two ranges: %d, %q", reply.StatusCode, body)
	}
	if reply, body, err := s.do("GET", "/damaged/late"); reply.StatusCode != 200 || err == nil || len(body) >= 2<<20 {
		t.Errorf("a file that fails in the middle: %d, %d bytes, %v", reply.StatusCode, len(body), err)
	}
	if _, body, err := s.do("GET", "/damaged/explodes", "Range: bytes=0-0,5-5"); err == nil {
		t.Errorf("ranges of what panics: %q", body)
	}
	for url, want := range map[string]string{
		"/link/header.json": "./../a/rec.toy/header.json", "/link?limit=1": "./a/rec.toy/?limit=1", "/a/rec.toy": "./rec.toy/",
	} {
		if reply, _, _ := s.do("GET", url); reply.Header.Get("Location") != want {
			t.Errorf("%s leads to %s", url, reply.Header.Get("Location"))
		}
	}
	if stats := s.Stats(); stats.Requests["GET"] == 0 || stats.Requests["other"] != 1 || stats.Errors == 0 {
		t.Errorf("%+v", stats)
	}
}

// What other processes may not do to a server, by bytes that no client would send.
func TestHostile(t *testing.T) {
	s := serve(t, sampleTree(), false, nil)
	for request, want := range map[string]string{
		"GET /../plain HTTP/1.1\r\nHost: localhost\r\n\r\n":                                                    "400",
		"GET /%2e%2e/plain HTTP/1.1\r\nHost: localhost\r\n\r\n":                                                "400",
		"GET //plain HTTP/1.1\r\nHost: localhost\r\n\r\n":                                                      "400",
		"GET /a%2Fx HTTP/1.1\r\nHost: localhost\r\n\r\n":                                                       "400",
		"GET /a%00 HTTP/1.1\r\nHost: localhost\r\n\r\n":                                                        "400",
		"GET /a%5cx HTTP/1.1\r\nHost: localhost\r\n\r\n":                                                       "404",
		"GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n":                                                         "400",
		"GET plain HTTP/1.1\r\nHost: localhost\r\n\r\n":                                                        "400",
		"GET /plain HTTP/1.1\r\n\r\n":                                                                          "400",
		"GET /plain HTTP/1.0\r\n\r\n":                                                                          "421",
		"GET http://evil/plain HTTP/1.1\r\nHost: localhost\r\n\r\n":                                            "421",
		"FROB /plain HTTP/1.1\r\nHost: localhost\r\n\r\n":                                                      "405",
		"CONNECT evil:1 HTTP/1.1\r\nHost: localhost\r\n\r\n":                                                   "421",
		"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n":                                                        "204",
		"GET /plain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello":                             "200",
		"GET /plain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 70000\r\n\r\n" + strings.Repeat("x", 70000): "413",
		"GET /plain HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n":                   "400",
		"GET /plain HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 17<<10) + "\r\n\r\n":             "431",
		"GET /plain HTTP/1.1\r\nHost: localhost\r\nRange: bytes=" + strings.Repeat("0-1,", 200) + "\r\n\r\n":   "200",
		"GET /plain HTTP/1.1\r\nHost: localhost\r\nRange: bytes=9223372036854775807-\r\n\r\n":                  "416",
		"GET /plain HTTP/1.1\r\nHost: localhost\r\nRange: bytes=99999999999999999999-\r\n\r\n":                 "416",
		"GET /a/?after=%ff%00&limit=1 HTTP/1.1\r\nHost: localhost\r\n\r\n":                                     "200",
		"GET /a/?limit=-1 HTTP/1.1\r\nHost: localhost\r\n\r\n":                                                 "400",
		"PROPFIND /a/ HTTP/1.1\r\nHost: localhost\r\nDepth: infinity\r\n\r\n":                                  "403",
		"PROPFIND /a/ HTTP/1.1\r\nHost: localhost\r\nDepth: 0\r\nContent-Length: 9\r\n\r\n<a></a>xx":           "400",
		"PROPFIND /a/ HTTP/1.1\r\nHost: localhost\r\nDepth: 7\r\n\r\n":                                         "400",
	} {
		if got := s.raw(request); !strings.HasPrefix(got, "HTTP/1.1 "+want) && !strings.HasPrefix(got, "HTTP/1.0 "+want) {
			t.Errorf("%.80q: %s, want %s", request, got, want)
		}
	}
}

func TestAccess(t *testing.T) {
	const token = "0123456789abcdef"
	var log bytes.Buffer
	s := serve(t, sampleTree(), false, func(o *Options) {
		o.Origins, o.Hosts, o.AccessLog = []string{"https://good.example"}, []string{"proxy.example"}, &log
	})
	s.SetSecrets(Secrets{Token: token})
	basic := func(password string) string {
		r := &http.Request{Header: http.Header{}}
		r.SetBasicAuth("anyone", password)
		return "Authorization: " + r.Header.Get("Authorization")
	}
	for header, status := range map[string]int{
		"Authorization: Bearer " + token: 200, "Authorization: bearer " + token: 200, basic(token): 200,
		"Authorization: Bearer " + token + "x": 401, basic(""): 401, "X: ": 401, "Authorization: Digest " + token: 401,
	} {
		reply, _, _ := s.do("GET", "/plain", header)
		if reply.StatusCode != status || (status == 401) != (len(reply.Header.Values("WWW-Authenticate")) == 2) {
			t.Errorf("%s: %d %v", header, reply.StatusCode, reply.Header)
		}
	}
	if reply, _, _ := s.do("GET", "/plain?token="+token); reply.StatusCode != 401 {
		t.Errorf("a token in a URL: %d", reply.StatusCode)
	}
	if strings.Contains(log.String(), "Bearer") || strings.Count(log.String(), "\n") != 8 {
		t.Errorf("access log:\n%s", log.String())
	}
	for origin, allowed := range map[string]string{"https://good.example": "https://good.example", "https://evil.example": ""} {
		reply, _, _ := s.do("GET", "/plain", "Origin: "+origin, "Host: proxy.example", "Authorization: Bearer "+token)
		if got := reply.Header.Get("Access-Control-Allow-Origin"); got != allowed || reply.StatusCode != 200 {
			t.Errorf("%s: %d, %q may read", origin, reply.StatusCode, got)
		}
		reply, _, _ = s.do("OPTIONS", "/plain", "Origin: "+origin, "Host: proxy.example", "Access-Control-Request-Method: GET")
		if got := reply.Header.Get("Access-Control-Allow-Methods"); (got == "GET, HEAD") != (allowed != "") {
			t.Errorf("%s: %d, may send %q", origin, reply.StatusCode, got)
		}
	}
}

// Who takes nothing of what was made for him, or asks for nothing in the end, keeps nobody from
// being served.
func TestSlowClients(t *testing.T) {
	s := serve(t, sampleTree(), false, nil)
	for i := range 300 {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.(*net.TCPConn).SetReadBuffer(4096)
		if i%3 == 0 {
			fmt.Fprint(c, "GET /plain HTTP/1.1\r\nHost: loc") // half a request
			continue
		}
		fmt.Fprint(c, "GET /a/rec.toy/big.parquet HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		if reply, body, err := s.do("GET", "/plain"); reply.StatusCode != 200 || body != "0123456789" {
			t.Fatalf("%d, %v", reply.StatusCode, err)
		}
	}
}

// A request that waits for its turn too long, or is one of too many, is told so.
func TestTurns(t *testing.T) {
	all := newTurns(1)
	first, err := all.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := all.begin(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("who went: %v", err)
	}
	all.waiting.Store(maxWaiting)
	if _, err := all.begin(t.Context()); err != errBusy {
		t.Errorf("one too many: %v", err)
	}
	all.waiting.Store(0)
	first.leave()
	if second, err := all.begin(t.Context()); err != nil || !second.held {
		t.Errorf("the next one: %v", err)
	}
}

// What a request waits for ends when its client hangs up.
func TestHangUp(t *testing.T) {
	began, ended := make(chan bool), make(chan error)
	s := serve(t, nodes.Entry{Name: ".", Dir: nodes.List(nodes.Entry{Name: "slow", File: nodes.Func(func(ctx context.Context) ([]byte, error) {
		began <- true
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	})})}, false, nil)
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(c, "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
	<-began
	c.Close()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Requests for one version of a file share what is open; where nothing tells the version, each
// opens the file for itself.
func TestSharedContents(t *testing.T) {
	var opens atomic.Int32
	file := nodes.Stream(1<<20, func(context.Context) (nodes.Content, error) {
		opens.Add(1)
		return nodes.SectionContent(nodes.BytesContent(pattern(1<<20)), 0, 1<<20), nil
	})
	recording := &versioned{nodes.List(nodes.Entry{Name: "x", File: file}), "1"}
	s := serve(t, nodes.Entry{Name: ".", Dir: nodes.List(nodes.Entry{Name: "rec.toy", Dir: recording}, nodes.Entry{Name: "y", File: file})}, false, nil)
	ask := func(url string, want int32) {
		t.Helper()
		for _, at := range []int{0, 5000, 5} {
			_, body, err := s.do("GET", url, fmt.Sprintf("Range: bytes=%d-%d", at, at+4095))
			if err != nil || body != string(pattern(1 << 20)[at:at+4096]) {
				t.Errorf("%s from %d on: %d bytes, %v", url, at, len(body), err)
			}
		}
		if n := opens.Swap(0); n != want {
			t.Errorf("%s was opened %d times, want %d", url, n, want)
		}
	}
	ask("/rec.toy/x", 1)
	recording.version = "2"
	ask("/rec.toy/x", 1)
	ask("/y", 3)
	if n := s.tree.contents.Len(); n != 2 {
		t.Errorf("%d are open", n)
	}
}
