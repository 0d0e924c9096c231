package main

import (
	"bytes"
	"compress/gzip"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recfs/nodes/nodestest"
)

// longRecording returns a compressed recording that unpacks to more than is held in memory.
func longRecording(t *testing.T) []byte {
	t.Helper()
	const size = 12 << 20
	b, err := os.ReadFile(filepath.Join(samples, "teehistorian/reload-20.1.teehistorian"))
	must(t, err)
	head, end := bytes.IndexByte(b[16:], 0)+17, len(b)-1
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	must(t, err)
	_, err = w.Write(b[:head])
	for n := 0; n < size && err == nil; n += end - head {
		_, err = w.Write(b[head:end])
	}
	must(t, err)
	_, err = w.Write(b[end:])
	must(t, err)
	must(t, w.Close())
	return packed.Bytes()
}

// TestRemoteCopiesShared reads a tick of a compressed recording by three ranges, with the copy and
// the index that another machine put into a bucket.
func TestRemoteCopiesShared(t *testing.T) {
	nodestest.Long(t)
	const source, flag = "s3://games/x.teehistorian.gz", "--cache-mem=16MiB --index-at s3://games/.recfs-index "
	bucket := &fakeBucket{content: map[string][]byte{}}
	bucket.put("x.teehistorian.gz", longRecording(t))
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		what := "LIST"
		if key, ok := strings.CutPrefix(r.URL.Path, "/games/.recfs-index/v1/"); ok {
			what, _, _ = strings.Cut(key, "/")
		} else if r.URL.Path != "/games/" {
			what = "object"
		}
		bucket.mu.Lock()
		asked[r.Method+" "+what]++
		bucket.mu.Unlock()
		bucket.ServeHTTP(w, r)
	}))
	defer server.Close()
	setBucketOf(t, server.URL)
	setCacheHome(t)
	if out := executeOn(t, "index --copies "+flag+source, source); !strings.Contains(out, " 0 failed") || asked["PUT copy"] != 1 {
		t.Fatalf("%v: %s", asked, out)
	}
	ticks := strings.Fields(executeOn(t, "ls "+source+"/ticks", source))
	tick := "cat " + flag + source + "/ticks/" + ticks[len(ticks)*2/3]
	want := executeOn(t, strings.Replace(tick, flag, "", 1), source)
	setCacheHome(t)
	clear(asked)
	if got := executeOn(t, tick, source); got != want {
		t.Errorf("%s\nand without the shared index:\n%s", got, want)
	}
	if want := map[string]int{"GET LIST": 2, "GET at": 1, "GET idx": 1, "GET object": 1, "GET copy": 2}; !maps.Equal(asked, want) {
		t.Errorf("the server was asked %v, want %v", asked, want)
	}
}
