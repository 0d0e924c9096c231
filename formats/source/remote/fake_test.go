package remote

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"recfs/cache"
)

// A fakeS3 is an S3 server of one bucket, "b", that does as told.
type fakeS3 struct {
	mu       sync.Mutex
	objects  map[string]string
	asked    []string // "LIST prefix", "GET key range"
	pageSize int
	// fault answers a request in place of the server, if it returns true.
	fault func(w http.ResponseWriter, r *http.Request) bool
}

var fakeTime = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// etagOf returns an ETag that looks like a sum by MD5, which takes twenty times as long.
func etagOf(content string) string {
	return fmt.Sprintf(`"%032x"`, xxhash.Sum64String(content))
}

func (f *fakeS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := strings.TrimPrefix(r.URL.Path, "/b/")
	if key == "" {
		f.asked = append(f.asked, "LIST "+r.URL.Query().Get("prefix"))
	} else {
		f.asked = append(f.asked, "GET "+key+" "+r.Header.Get("Range"))
	}
	switch {
	case f.fault != nil && f.fault(w, r):
	case !strings.HasPrefix(r.URL.Path, "/b/"):
		refuse(w, http.StatusNotFound, "NoSuchBucket")
	case key == "":
		f.list(w, r.URL.Query())
	default:
		f.get(w, r, key)
	}
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>server side encryption: %[1]s</Message><StorageClass>GLACIER</StorageClass></Error>", code)
}

func (f *fakeS3) get(w http.ResponseWriter, r *http.Request, key string) {
	content, ok := f.objects[key]
	switch {
	case !ok:
		refuse(w, http.StatusNotFound, "NoSuchKey")
	case r.Header.Get("If-Match") != etagOf(content):
		refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
	default:
		w.Header().Set("ETag", etagOf(content))
		http.ServeContent(w, r, "", fakeTime, strings.NewReader(content))
	}
}

// list answers ListObjectsV2.
func (f *fakeS3) list(w http.ResponseWriter, q url.Values) {
	limit := 1000
	if f.pageSize > 0 {
		limit = f.pageSize
	}
	if n, err := strconv.Atoi(q.Get("max-keys")); err == nil {
		limit = min(limit, n)
	}
	var keys []string
	for key := range f.objects {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	r := listResult{EncodingType: "url"}
	last := ""
	for _, key := range keys {
		rest, ok := strings.CutPrefix(key, q.Get("prefix"))
		prefix := ""
		if i := strings.Index(rest, q.Get("delimiter")); q.Get("delimiter") != "" && i >= 0 {
			prefix = key[:len(key)-len(rest)+i+1]
		}
		name := key
		if prefix != "" {
			name = prefix
		}
		if !ok || name <= q.Get("continuation-token") || name == last {
			continue
		}
		if len(r.Contents)+len(r.CommonPrefixes) == limit {
			r.IsTruncated, r.NextContinuationToken = true, last
			break
		}
		last = name
		if prefix != "" {
			r.CommonPrefixes = append(r.CommonPrefixes, struct{ Prefix string }{url.QueryEscape(prefix)})
			continue
		}
		r.Contents = append(r.Contents, struct {
			Key          string
			ETag         string
			Size         int64
			LastModified time.Time
		}{url.QueryEscape(key), etagOf(f.objects[key]), int64(len(f.objects[key])), fakeTime})
	}
	_ = xml.NewEncoder(w).Encode(r)
}

// requests returns what was asked since the last call.
func (f *fakeS3) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked
	f.asked = nil
	return asked
}

func (f *fakeS3) set(key, content string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects[key] = content
}

// options are those of tests, in which nothing depends on how fast the machine is.
func options(endpoint string) Options {
	return Options{Endpoint: endpoint, Anonymous: true, TTL: time.Hour, Timeout: time.Hour, Requests: 32, Version: "test"}
}

// openFake returns the tree of a fake server.
func openFake(t testing.TB, f *fakeS3, change func(*Options)) Tree {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	opt := options(server.URL)
	if change != nil {
		change(&opt)
	}
	c := cache.New(64<<20, nil)
	t.Cleanup(c.Close)
	s, err := OpenBucket("b", c, opt)
	if err != nil {
		t.Fatal(err)
	}
	s.silence = opt.Timeout
	return s.Tree("")
}
