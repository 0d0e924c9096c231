package web

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"recfs/cache"
)

// newCache returns the cache of a test that ends with it.
func newCache(t interface{ Cleanup(func()) }) *cache.Cache {
	c := cache.New(1<<20, nil)
	t.Cleanup(c.Close)
	return c
}

// answers returns what a server makes of a request, which is never its fault.
func answers(t *testing.T, s *Server, s3 bool, r *http.Request) {
	t.Helper()
	e := s.files()
	if s3 {
		e = s.bucket()
	}
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			panic(p)
		}
	}()
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	if w.Code == http.StatusInternalServerError && !strings.Contains(r.URL.Path, "damaged") && !strings.Contains(r.URL.Path, "loop") {
		t.Errorf("%s %s: %s", r.Method, r.URL, w.Body)
	}
}

func fuzzed(t interface{ Cleanup(func()) }) *Server {
	return NewServer(Options{
		Root: sampleTree(), Hidden: ".recfs", Cache: newCache(t), WebDAV: true, MaxRequests: 8,
		Log: slog.New(slog.DiscardHandler), AccessLog: io.Discard,
	})
}

func FuzzRequest(f *testing.F) {
	f.Add("/a/rec.toy/ticks/?limit=3&after=0", "bytes=0-1")
	f.Add("/a%2f..%00", "bytes=-1,2-")
	s := fuzzed(f)
	f.Fuzz(func(t *testing.T, asked, ranges string) {
		u, err := url.ParseRequestURI(asked)
		if err != nil {
			return
		}
		answers(t, s, false, &http.Request{Method: "GET", URL: u, Header: http.Header{"Range": {ranges}}})
	})
}

func FuzzS3Query(f *testing.F) {
	f.Add("list-type=2&prefix=a/&delimiter=/&max-keys=2&start-after=a.b&encoding-type=url")
	f.Add("marker=a/rec.toy/&max-keys=1000000000")
	s := fuzzed(f)
	f.Fuzz(func(t *testing.T, query string) {
		answers(t, s, true, &http.Request{Method: "GET", URL: &url.URL{Path: "/recfs", RawQuery: query}})
	})
}

func FuzzPropfind(f *testing.F) {
	f.Add(`<propfind xmlns="DAV:"><prop><getetag/><x xmlns=""/></prop></propfind>`, "1")
	f.Add(`<D:propfind xmlns:D="DAV:"><D:propname/></D:propfind>`, "0")
	s := fuzzed(f)
	f.Fuzz(func(t *testing.T, body, depth string) {
		answers(t, s, false, httptest.NewRequest("PROPFIND", "/a/", strings.NewReader(body)).WithContext(t.Context()))
		r := httptest.NewRequest("PROPFIND", "/a/", strings.NewReader(body))
		r.Header.Set("Depth", depth)
		answers(t, s, false, r)
	})
}
