package main

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/xml"
	"fmt"
	iofs "io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats/source/remote"
	"recfs/nodes/nodestest"
)

// A countingServer counts what is asked of a server of S3.
type countingServer struct {
	http.Handler
	mu          sync.Mutex
	lists, gets int
	others      []string
}

func (c *countingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	switch {
	case r.URL.Query().Has("list-type"):
		c.lists++
	case r.Method == http.MethodGet:
		c.gets++
	default:
		c.others = append(c.others, r.Method+" "+r.URL.Path)
	}
	c.mu.Unlock()
	c.Handler.ServeHTTP(w, r)
}

// asked returns how often the server was asked since the last call.
func (c *countingServer) asked() (lists, gets int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lists, gets = c.lists, c.gets
	c.lists, c.gets = 0, 0
	return lists, gets
}

// A fakeBucket is an S3 server of the bucket games.
type fakeBucket struct {
	mu      sync.Mutex
	keys    []string // sorted
	content map[string][]byte
}

// put adds an object.
func (b *fakeBucket) put(key string, content []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i, ok := slices.BinarySearch(b.keys, key); !ok {
		b.keys = slices.Insert(b.keys, i, key)
	}
	b.content[key] = content
}

func (b *fakeBucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := strings.TrimPrefix(r.URL.Path, "/games/")
	if r.Method == http.MethodPut {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		b.put(key, body.Bytes())
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	content, ok := b.content[key]
	switch {
	case key == "":
		b.list(w, r.URL.Query())
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	default:
		w.Header().Set("ETag", tagOf(content))
		http.ServeContent(w, r, "", fakeModified, bytes.NewReader(content))
	}
}

var fakeModified = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func tagOf(content []byte) string { return fmt.Sprintf(`"%x"`, md5.Sum(content)) }

// list answers with a page of at most 1,000 names.
func (b *fakeBucket) list(w http.ResponseWriter, q url.Values) {
	const most = 1000
	prefix := q.Get("prefix")
	after, _ := url.QueryUnescape(q.Get("continuation-token")) // a token of ours
	var page bytes.Buffer
	n, next := 0, ""
	i, _ := slices.BinarySearch(b.keys, max(prefix, after))
	for last := ""; i < len(b.keys) && strings.HasPrefix(b.keys[i], prefix); i++ {
		name := b.keys[i]
		if at := strings.Index(name[len(prefix):], "/"); q.Has("delimiter") && at >= 0 {
			name = name[:len(prefix)+at+1]
		}
		if name == last || name <= after {
			continue
		}
		if n == most {
			next = last
			break
		}
		n, last = n+1, name
		var text bytes.Buffer
		_ = xml.EscapeText(&text, []byte(url.QueryEscape(name)))
		if name != b.keys[i] {
			fmt.Fprintf(&page, "<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>", &text)
			continue
		}
		content := b.content[name]
		fmt.Fprintf(&page, "<Contents><Key>%s</Key><ETag>%s</ETag><Size>%d</Size><LastModified>%s</LastModified></Contents>",
			&text, strings.ReplaceAll(tagOf(content), `"`, "&quot;"), len(content), fakeModified.Format(time.RFC3339))
	}
	fmt.Fprintf(w, "<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>%t</IsTruncated><NextContinuationToken>%s</NextContinuationToken>%s</ListBucketResult>",
		next != "", url.QueryEscape(next), &page)
}

// startGateway starts versitygw over empty buckets. It returns what asks it, and the directory that
// these are in.
func startGateway(t *testing.T) (http.Handler, string) {
	t.Helper()
	binary, err := exec.LookPath("versitygw")
	if err != nil {
		t.Skip("versitygw is not installed")
	}
	dir := t.TempDir()
	for _, bucket := range []string{"games", "elsewhere", "shared"} {
		must(t, os.Mkdir(filepath.Join(dir, bucket), 0o755))
	}
	address := freeAddress(t)
	cmd := exec.Command(binary, "--port", address, "--quiet", "posix", dir)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY=key", "ROOT_SECRET_KEY=secret-secret")
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	nodestest.Eventually(t, "versitygw", func() bool { return isListening(address) })
	u := &url.URL{Scheme: "http", Host: address}
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(u)
		r.Out.Host = r.In.Host // it is signed
	}}, dir
}

// isListening reports whether somebody listens at an address.
func isListening(address string) bool {
	c, err := net.Dial("tcp", address)
	if err == nil {
		c.Close()
	}
	return err == nil
}

// setBucketOf names the server of buckets, and who asks it, in the environment.
func setBucketOf(t *testing.T, url string) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret-secret", "AWS_PROFILE": "",
		"AWS_SESSION_TOKEN": "", "AWS_REGION": "us-east-1", "AWS_CONFIG_FILE": "/nonexistent", "AWS_ENDPOINT_URL_S3": "",
	} {
		t.Setenv(name, value)
	}
}

// fill puts the files below dir into a bucket of the server at a URL.
func fill(ctx context.Context, endpoint, bucket, dir string) error {
	c := cache.New(1<<20, nil)
	defer c.Close()
	s, err := remote.OpenBucket(bucket, c, remote.Options{Endpoint: endpoint, Timeout: time.Minute, Requests: 8})
	if err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(name string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		return s.Store(ctx, filepath.ToSlash(rel), bytes.NewReader(b), int64(len(b)), true)
	})
}

// TestRemoteRequests holds questions about a bucket to the number of requests that each may take,
// with a fake, and with versitygw where that is installed.
func TestRemoteRequests(t *testing.T) {
	const tick = "teehistorian/reload-20.1.teehistorian/ticks/00000000.json"
	for name, start := range map[string]func(t *testing.T) http.Handler{
		"fake":      func(*testing.T) http.Handler { return &fakeBucket{content: map[string][]byte{}} },
		"versitygw": func(t *testing.T) http.Handler { h, _ := startGateway(t); return h },
	} {
		t.Run(name, func(t *testing.T) {
			counts := &countingServer{Handler: start(t)}
			server := httptest.NewServer(counts)
			defer server.Close()
			setBucketOf(t, server.URL)
			setCacheHome(t)
			must(t, fill(t.Context(), server.URL, "games", samples))
			for line, want := range map[string]string{
				"ls s3://none":         "s3://none (" + server.Listener.Addr().String() + "): no such bucket",
				"ls $1/none":           "SOURCE/none (" + server.Listener.Addr().String() + "): no such object or folder",
				"cat $1/" + tick + "x": "SOURCE/" + tick + "x: no such file or directory",
			} {
				if out := executeOn(t, line, "s3://games"); !strings.Contains(out, want) {
					t.Errorf("%s: %s, and not %s", line, out, want)
				}
			}
			for _, q := range []struct {
				line        string
				lists, gets int
			}{
				{"ls $1", 1, 0},
				{"cat $1/teehistorian/reload-20.1.teehistorian/header.json", 1, 1},
				{"ls $1/datafile/maps", 1, 2},
				{"ls $1/datafile/maps", 1, 0},
				{"index $1", 1, 40},
				{"find --player nameless $1", 1, 0},
				{"ls $1", 1, 0},
				{"cat $1/" + tick, 1, 1},
			} {
				counts.asked()
				out := executeOn(t, q.line, "s3://games")
				if lists, gets := counts.asked(); lists > q.lists || gets > q.gets || strings.Contains(out, "denied") {
					t.Errorf("%s: %d LISTs and %d GETs, where %d and %d are enough: %.300s", q.line, lists, gets, q.lists, q.gets, out)
				}
			}
		})
	}
}

// TestRemoteMany finds players of a bucket of very many keys that a shared index knows, with as
// many LISTs as these take.
func TestRemoteMany(t *testing.T) {
	folders := nodestest.Times(2000, 500)
	bucket := &fakeBucket{content: map[string][]byte{}}
	sample, err := os.ReadFile(filepath.Join(samples, "teehistorian/reload-20.1.teehistorian"))
	must(t, err)
	for i := range folders {
		for j := range 10 {
			bucket.keys = append(bucket.keys, fmt.Sprintf("games/%06d/%d.txt", i, j))
			bucket.content[bucket.keys[len(bucket.keys)-1]] = nil
		}
	}
	for i := range 20 {
		bucket.put(fmt.Sprintf("games/%06d/x%02d.teehistorian", i*folders/20, i), sample)
	}
	counts := &countingServer{Handler: bucket}
	server := httptest.NewServer(counts)
	defer server.Close()
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	index := t.TempDir()
	for i, line := range []string{"index --no-sign-request --index-at " + index + " $1", "find --no-sign-request --index-at " + index + " --player alice $1"} {
		setCacheHome(t)
		counts.asked()
		out := executeOn(t, line, "s3://games/games")
		lists, gets := counts.asked()
		if most := len(bucket.keys)/1000 + 1; i == 1 && (lists > most || gets > 40) {
			t.Errorf("%d LISTs of at most %d, %d GETs", lists, most, gets)
		}
		if n := strings.Count(out, "\n"); n != []int{1, 20}[i] || strings.Contains(out, "recfs: ") {
			t.Errorf("%s: %.300s", line, out)
		}
	}
}

// TestRemoteIndexAgain puts nothing into a shared index that is there, whether this machine put it
// there or another one.
func TestRemoteIndexAgain(t *testing.T) {
	bucket := &fakeBucket{content: map[string][]byte{}}
	for _, name := range []string{"teehistorian/reload-20.1.teehistorian", "nethack/small.nhgame", "hcrp/run-short.hcrp"} {
		sample, err := os.ReadFile(filepath.Join(samples, name))
		must(t, err)
		bucket.put(name, sample)
		bucket.put("copy/"+name, sample)
	}
	counts := &countingServer{Handler: bucket}
	server := httptest.NewServer(counts)
	defer server.Close()
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	caches := []string{t.TempDir(), t.TempDir()}
	for i, cache := range []string{caches[0], caches[0], caches[1]} {
		t.Setenv("XDG_CACHE_HOME", cache)
		counts.others = nil
		out := executeOn(t, "index --no-sign-request --index-at s3://games/.recfs-index $1", "s3://games")
		if (len(counts.others) > 0) != (i == 0) || strings.Contains(out, "recfs: ") {
			t.Errorf("run %d: %q: %s", i, counts.others, out)
		}
	}
}

// TestRemoteNames prints the first names of a large folder after a request or two, and all after as
// many as they take.
func TestRemoteNames(t *testing.T) {
	setCacheHome(t)
	bucket := &fakeBucket{content: map[string][]byte{}}
	for i := range nodestest.Times(20_000, 5_000) {
		bucket.put(fmt.Sprintf("large/run-%06d.teehistorian", i), nil)
	}
	counts := &countingServer{Handler: bucket}
	server := httptest.NewServer(counts)
	defer server.Close()
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	out := &firstWrite{at: func() {
		if lists, _ := counts.asked(); lists > 3 {
			t.Errorf("%d LISTs before the first name", lists)
		}
	}}
	if err := commands().named("ls").execute(t.Context(), &env{stdout: out, stderr: out}, []string{"--no-sign-request", "s3://games/large"}); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != len(bucket.keys) {
		t.Errorf("%d names of %d", n, len(bucket.keys))
	}
	if lists, _ := counts.asked(); lists > len(bucket.keys)/1000 {
		t.Errorf("%d LISTs for the rest", lists)
	}
}

// A firstWrite is a Buffer that calls at when something comes.
type firstWrite struct {
	bytes.Buffer
	at func()
}

func (w *firstWrite) Write(p []byte) (int, error) {
	if w.Len() == 0 {
		w.at()
	}
	return w.Buffer.Write(p)
}
