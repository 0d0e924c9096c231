package web

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"recfs/fs/web/page"
)

// An emptyList has no recordings, and no parameter called bad.
type emptyList struct{}

func (emptyList) Page(_ context.Context, q *page.Query) (any, error) {
	if q.Has("bad") {
		q.Refuse("bad")
	}
	return struct {
		Total int      `json:"total"`
		Rows  []string `json:"rows"`
	}{Rows: []string{"<é>"}}, nil
}

// withPage is a server with a page of a tree that has what the page hides.
func withPage(t *testing.T) *site {
	return serve(t, sampleTree(), false, func(o *Options) { o.Page = emptyList{} })
}

const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func TestPageURLs(t *testing.T) {
	s := withPage(t)
	for _, c := range []struct {
		method, url, headers string
		status               int
		body                 string
	}{
		{"GET", "/", "", 200, "/list.js"},
		{"GET", "/?q=x&format=toy", "", 200, "/list.js"},
		{"GET", "/.view/", "", 200, "/list.js"},
		{"GET", "/.view", "", 308, ""},
		{"GET", "/?files", "", 200, `<a href="./a/">`},
		{"GET", "/?files&limit=1", "", 200, `&amp;files=&amp;limit=1">next page`},
		{"GET", "/?format=html", "", 200, `<a href="./a/">`},
		{"GET", "/?format=json", "", 200, `{"name":"a","type":"dir"`},
		{"GET", "/", "Accept: application/x-ndjson", 200, `{"name":"a","type":"dir"`},
		{"GET", "/?style=1", "", 200, "color-scheme"},
		{"GET", "/a/", "", 200, `<a href="./../.view/play/a/rec.toy" aria-label="play rec.toy">play</a>`},
		{"GET", "/?files", "", 200, `<a href="./.view/play/link" aria-label="play link">play</a>`},
		{"GET", "/.view/play/a/rec.toy", "", 200, "do not play here"},
		{"GET", "/.view/play/link", "", 200, "do not play here"},
		{"GET", "/.view/play/a", "", 404, "There is no recording of this name."},
		{"GET", "/.view/play/plain", "", 404, "There is no recording of this name."},
		{"GET", "/.view/play/a/no%3Cne", "", 404, "<title>no&lt;ne</title>"},
		{"GET", "/.view/play/a//b", "", 400, "bad path\n"},
		{"GET", "/.view/play/.view", "", 404, "There is no recording"},
		{"GET", "/.view/play/.recfs/x", "", 404, "There is no recording"},
		{"GET", "/.view/assets/0/list.js", "", 404, "no such file\n"},
		{"GET", "/.view/x", "", 404, "no such file\n"},
		{"GET", "/.view/1/none/a", "", 404, "no such file\n"},
		{"GET", "/.view/1/list", "", 200, `{"v":1,"total":0,"rows":["<é>"]}`},
		{"GET", "/.view/1/list?bad=1", "", 400, "bad parameter: bad\n"},
		{"GET", "/.view/1/list?%zz", "", 400, "bad query\n"},
		{"GET", "/.view/1/list", "Sec-Fetch-Site: same-origin", 200, `{"v":1`},
		{"GET", "/.view/1/list", "Sec-Fetch-Site: none", 200, `{"v":1`},
		{"GET", "/.view/1/list", "Sec-Fetch-Site: cross-site", 403, "another site\n"},
		{"GET", "/.view/1/list", "Sec-Fetch-Site: same-site", 403, "another site\n"},
		{"POST", "/.view/1/list", "", 405, "method not allowed\n"},
		{"OPTIONS", "/.view/", "", 405, "method not allowed\n"},
		{"PROPFIND", "/.view/", "", 405, "method not allowed\n"},
		{"HEAD", "/.view/", "", 200, ""},
	} {
		reply, body, err := s.do(c.method, c.url, c.headers)
		if reply.StatusCode != c.status || !strings.Contains(body, c.body) || err != nil || c.method == "HEAD" && body != "" {
			t.Errorf("%s %s %s: %d %q, %v, want %d %q", c.method, c.url, c.headers, reply.StatusCode, body, err, c.status, c.body)
		}
		if isPage := reply.Header.Get("Content-Security-Policy") == pagePolicy; isPage != (strings.Contains(body, "/page.css") || c.method == "HEAD") {
			t.Errorf("%s: policy %s", c.url, reply.Header.Get("Content-Security-Policy"))
		}
	}
	if reply, body, _ := s.do("PROPFIND", "/", "Depth: 1"); reply.StatusCode != 207 || strings.Contains(body, ".view") {
		t.Errorf("PROPFIND: %d", reply.StatusCode)
	}
}

// Without the page each of its URLs is 404, and the root is a folder.
func TestNoPage(t *testing.T) {
	s := serve(t, sampleTree(), false, nil)
	for _, url := range []string{"/.view", "/.view/", "/.view/x", "/.view/1/list", "/.view/play/a/rec.toy"} {
		if reply, body, _ := s.do("GET", url); reply.StatusCode != 404 || body != "no such file\n" {
			t.Errorf("%s: %d %s", url, reply.StatusCode, body)
		}
	}
	for _, url := range []string{"/", "/a/"} {
		if _, body, _ := s.do("GET", url); !strings.Contains(body, "<table>") || strings.Contains(body, ".view") {
			t.Errorf("%s: %s", url, body)
		}
	}
}

// All that pages name is there, relative to them, and stays as long as the program is the same.
func TestPageAssets(t *testing.T) {
	s := withPage(t)
	for _, at := range []string{"/", "/.view/", "/.view/play/a/rec.toy"} {
		_, body, _ := s.do("GET", at)
		links := regexp.MustCompile(`(?:href|src)="(\./[^"?]*assets/[^"]*)"`).FindAllStringSubmatch(body, -1)
		if len(links) < 4 {
			t.Fatalf("%s links to %v", at, links)
		}
		for _, link := range links {
			r, err := http.NewRequest("GET", "http://x"+at, nil)
			if err != nil {
				t.Fatal(err)
			}
			to, err := r.URL.Parse(link[1])
			if err != nil {
				t.Fatal(err)
			}
			reply, plain, err := s.do("GET", to.Path)
			if reply.StatusCode != 200 || err != nil || reply.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" || plain == "" {
				t.Errorf("%s: %s: %d %v, %v", at, to.Path, reply.StatusCode, reply.Header, err)
			}
			if reply, packed, _ := s.do("GET", to.Path, "Accept-Encoding: br, gzip;q=0.5"); reply.Header.Get("Content-Encoding") != "gzip" || packed[:2] != "\x1f\x8b" || reply.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s compressed: %v", to.Path, reply.Header)
			}
			if reply, refused, _ := s.do("GET", to.Path, "Accept-Encoding: gzip;q=0"); refused != plain || reply.Header.Get("Content-Encoding") != "" {
				t.Errorf("%s to who takes no gzip: %v", to.Path, reply.Header)
			}
		}
	}
}

// A server of which all work answers with its assets: without them a page could not say that it is
// busy.
func TestPageAssetsOfBusyServer(t *testing.T) {
	s := withPage(t)
	_, body, _ := s.do("GET", "/")
	link := regexp.MustCompile(`src="\./([^"]*list\.js)"`).FindStringSubmatch(body)
	for range cap(s.turns.work) {
		turn, err := s.turns.begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer turn.leave()
	}
	if reply, script, err := s.do("GET", "/"+link[1]); reply.StatusCode != 200 || err != nil || script == "" {
		t.Errorf("%s: %d, %v", link[1], reply.StatusCode, err)
	}
}

// An answer that is known is not sent again. The compressed one has another tag.
func TestPageTags(t *testing.T) {
	s := withPage(t)
	tags := map[string]bool{}
	for _, coding := range []string{"gzip", "identity"} {
		reply, _, _ := s.do("GET", "/.view/1/list", "Accept-Encoding: "+coding)
		tag := reply.Header.Get("ETag")
		tags[tag] = true
		if reply.Header.Get("Content-Type") != "application/json" || reply.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%v", reply.Header)
		}
		for header, status := range map[string]int{"If-None-Match: " + tag: 304, `If-None-Match: "x", ` + tag: 304, `If-None-Match: "x"`: 200} {
			if reply, body, _ := s.do("GET", "/.view/1/list", "Accept-Encoding: "+coding, header); reply.StatusCode != status || reply.Header.Get("ETag") != tag || (status == 304) != (body == "") {
				t.Errorf("%s, %s: %d %v", coding, header, reply.StatusCode, reply.Header)
			}
		}
	}
	if len(tags) != 2 {
		t.Errorf("tags %v", tags)
	}
}
