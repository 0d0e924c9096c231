package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"recfs/nodes"
)

func TestFolderLines(t *testing.T) {
	s := serve(t, sampleTree(), false, nil)
	var names []string
	url, pages := "?format=json&limit=100", 0
	for ; url != ""; pages++ {
		reply, body, err := s.do("GET", "/a/rec.toy/ticks/"+url)
		if err != nil || reply.Header.Get("Content-Type") != "application/x-ndjson" {
			t.Fatal(reply, err)
		}
		for line := range strings.Lines(body) {
			var l nameLine
			if err := json.Unmarshal([]byte(line), &l); err != nil || l.Type != "file" || *l.Size < 11 || !l.Modified.Equal(sampleTime) {
				t.Fatalf("%s%v", line, err)
			}
			names = append(names, l.Name)
		}
		url = ""
		if m := regexp.MustCompile(`^<(\?.*)>; rel="next"$`).FindStringSubmatch(reply.Header.Get("Link")); m != nil {
			url = m[1]
		}
	}
	if len(names) != 5000 || pages != 50 || names[4999] != "00004999.json" {
		t.Errorf("%d names on %d pages", len(names), pages)
	}
	_, body, _ := s.do("GET", "/?limit=10000", "Accept: application/x-ndjson")
	if strings.Contains(body, ".recfs") {
		t.Errorf("what is not there is listed:\n%s", body)
	}
	for _, want := range []string{`{"name":"bad\ufffd.txt","name_hex":"626164ff2e747874","type":"file","size":5,`, `{"name":"link","type":"dir",`, `{"name":"out","type":"file","modified"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
}

// A listing that fails on its way does not look whole, whatever the client speaks.
func TestFolderIsCut(t *testing.T) {
	names := &nodes.Series{Width: 4, N: 5000, Number: func(i int) int64 { return int64(i) }, File: func(n int64) nodes.File {
		if n < 4000 {
			return nodes.Bytes(nil)
		}
		return nodes.Failing(nodes.ErrUnavailable)
	}}
	s := serve(t, nodes.Entry{Name: ".", Dir: names}, false, nil)
	for _, version := range []string{"1.0", "1.1"} {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /?format=json&limit=5000 HTTP/%s\r\nHost: localhost\r\n\r\n", version)
		reply, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		if body, err := io.ReadAll(reply.Body); reply.StatusCode != 200 || err == nil {
			t.Errorf("HTTP/%s: %d, %d bytes look whole", version, reply.StatusCode, len(body))
		}
	}
}

func TestFolderPage(t *testing.T) {
	s := serve(t, sampleTree(), false, nil)
	reply, body, err := s.do("GET", "/?limit=6")
	if err != nil || !strings.Contains(reply.Header.Get("Content-Security-Policy"), "default-src 'none'; style-src 'self'") {
		t.Error(reply.Header, err)
	}
	for _, want := range []string{
		`<a href="./a/"><bdi>a</bdi>/</a><td>folder`, `<a href="./a%20b%23%25%C3%A9%5C%3A"><bdi>a b#%é\:</bdi></a>`,
		`<a href="./bad%FF.txt"><bdi>bad` + "\uFFFD" + `.txt</bdi></a><td>txt<td>5<td>2024-02-29 12:30:00`, `accesskey="n" href="?after=bad%FF.txt&amp;limit=6`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	if _, body, _ := s.do("GET", "/a/"); !strings.Contains(body, `<a href="./rec.toy/"><bdi>rec.toy</bdi>/</a><td>toy`) || !strings.Contains(body, `href="./../?style=1"`) {
		t.Errorf("%s", body)
	}
	if reply, body, _ := s.do("GET", "/?style=1"); reply.Header.Get("Content-Type") != "text/css; charset=utf-8" || len(body) == 0 {
		t.Error(reply.Header)
	}
	if reply, body, _ := s.do("HEAD", "/"); reply.StatusCode != 200 || body != "" || reply.Header.Get("ETag") != "" {
		t.Error(reply.Header)
	}
}

// A pagedDir has 50 entries that come as far as somebody waits for them.
type pagedDir struct {
	nodes.Dir
	came int
}

func (d *pagedDir) Len(ctx context.Context) (int, error) { return d.LenTo(ctx, math.MaxInt) }

func (d *pagedDir) LenTo(_ context.Context, n int) (int, error) {
	d.came = max(d.came, min(n, 50))
	return d.came, nil
}

// The first page of a folder waits for no more names than it has, and tells that there are more.
func TestFolderPaged(t *testing.T) {
	dir := &pagedDir{Dir: ticks(50)}
	s := serve(t, nodes.Entry{Name: ".", Dir: dir}, false, nil)
	for _, page := range []struct {
		url         string
		lines, came int
		more        bool
	}{{"/?format=json&limit=10", 10, 11, true}, {"/?format=json&limit=50", 50, 50, false}} {
		reply, body, err := s.do("GET", page.url)
		if err != nil || strings.Count(body, "\n") != page.lines || dir.came != page.came || (reply.Header.Get("Link") != "") != page.more {
			t.Errorf("%s: %d came, %v, %v: %s", page.url, dir.came, reply.Header, err, body)
		}
	}
}

// The first page of a million names costs no more than that of a thousand.
func TestFolderCost(t *testing.T) {
	s := serve(t, nodes.Entry{Name: ".", Dir: nodes.List(
		nodes.Entry{Name: "few", Dir: ticks(1001)}, nodes.Entry{Name: "many", Dir: ticks(1000000)},
	)}, false, nil)
	cost := func(url string) uint64 {
		s.do("GET", url)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.do("GET", url)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := cost("/few/"), cost("/many/"); many > 2*few {
		t.Errorf("%d bytes for a page of many names, %d of few", many, few)
	}
}
