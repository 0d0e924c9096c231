package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recfs/nodes"
)

func manyObjects() map[string]string {
	return map[string]string{
		"a.txt": "alpha", "2026/x.teehistorian": "xx", "2026/11/y.teehistorian": "yyy", "2026.tar": "tar",
		"odd//double": "1", "odd/../up": "2", "odd/" + strings.Repeat("l", 300): "3", "odd/fine": "4",
		"both": "object", "both/below": "folder wins", "made/": "", "t\x01b": "control",
	}
}

func listNames(t *testing.T, tree Tree, dir string) (list []string) {
	t.Helper()
	names, err := tree.List(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range names.Len() {
		name, typ := names.At(i)
		if typ.IsDir() {
			name += "/"
		}
		list = append(list, name)
	}
	return list
}

func TestList(t *testing.T) {
	for _, pages := range []int{1, 2, 1000} {
		f := &fakeS3{objects: manyObjects(), pageSize: pages}
		tree := openFake(t, f, nil)
		for dir, want := range map[string][]string{
			".":       {"2026/", "2026.tar", "a.txt", "both/", "made/", "odd/", "t\x01b"},
			"2026":    {"11/", "x.teehistorian"},
			"2026/11": {"y.teehistorian"},
			"odd":     {"fine"},
			"both":    {"below"},
			"made":    nil,
		} {
			if dir == "odd" {
				want = []string{"fine"}
			}
			if diff := cmp.Diff(want, listNames(t, tree, dir)); diff != "" {
				t.Errorf("%d a page: %s: %s", pages, dir, diff)
			}
		}
	}
}

// TestWalk lists all at once, after which nothing is asked for a while.
func TestWalk(t *testing.T) {
	f := &fakeS3{objects: manyObjects()}
	want := map[string][]string{}
	tree := openFake(t, f, nil)
	for _, dir := range []string{".", "2026", "2026/11", "odd", "both", "made"} {
		want[dir] = listNames(t, tree, dir)
	}
	tree = openFake(t, f, nil)
	f.requests()
	for range 2 {
		if err := tree.Walk(t.Context(), "."); err != nil {
			t.Fatal(err)
		}
	}
	if err := tree.Walk(t.Context(), "2026"); err != nil {
		t.Fatal(err)
	}
	for dir, names := range want {
		if diff := cmp.Diff(names, listNames(t, tree, dir)); diff != "" {
			t.Errorf("%s: %s", dir, diff)
		}
		if info, err := tree.Stat(t.Context(), dir); err != nil || !info.Type.IsDir() {
			t.Errorf("%s: %v, %v", dir, info.Type, err)
		}
	}
	if info, err := tree.Stat(t.Context(), "2026/x.teehistorian"); err != nil || info.Size != 2 {
		t.Errorf("%+v, %v", info, err)
	}
	if diff := cmp.Diff([]string{"LIST "}, f.requests()); diff != "" {
		t.Error(diff)
	}
}

// TestRequests holds look-ups and reads to the number of requests that they may take.
func TestRequests(t *testing.T) {
	f := &fakeS3{objects: manyObjects()}
	for i := range 1500 {
		f.objects[fmt.Sprintf("big/%04d.map", i)] = "m"
	}
	f.objects["2026/large"] = strings.Repeat("0123456789abcdef", 64<<10)
	for _, tt := range []struct {
		name string
		ask  func(ctx context.Context, tree Tree) error
		want []string
	}{
		{"a folder", func(ctx context.Context, tree Tree) error { _, err := tree.List(ctx, "2026"); return err }, []string{"LIST 2026/"}},
		{"a file by its extension", func(ctx context.Context, tree Tree) error {
			_, err := tree.Stat(ctx, "big/0700.map")
			return err
		}, []string{"LIST big/0700.map"}},
		{"a file again and again", func(ctx context.Context, tree Tree) (err error) {
			for range 2 * maxLooks {
				_, statErr := tree.Stat(ctx, "big/0700.map")
				err = errors.Join(err, statErr)
			}
			return err
		}, []string{"LIST big/0700.map"}},
		{"a folder by its name", func(ctx context.Context, tree Tree) error { _, err := tree.Stat(ctx, "2026"); return err }, []string{"LIST 2026/"}},
		{"what is in a folder that was listed", func(ctx context.Context, tree Tree) error {
			_, err := tree.List(ctx, "2026")
			_, err2 := tree.Stat(ctx, "2026/large")
			_, err3 := tree.Stat(ctx, "2026/none")
			if !errors.Is(err3, iofs.ErrNotExist) {
				return fmt.Errorf("none: %v", err3)
			}
			return errors.Join(err, err2)
		}, []string{"LIST 2026/"}},
		{"bytes in the middle", func(ctx context.Context, tree Tree) error {
			return readPart(ctx, tree, "2026/large", 600<<10, 1000)
		}, []string{"LIST 2026/large/", "LIST 2026/large", "GET 2026/large bytes=524288-786431"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree := openFake(t, f, nil)
			f.requests()
			for range 2 {
				if err := tt.ask(t.Context(), tree); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tt.want, f.requests()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func readPart(ctx context.Context, tree Tree, name string, off int64, n int) error {
	file, err := tree.Open(ctx, name)
	if err != nil {
		return err
	}
	defer file.Close()
	p := make([]byte, n)
	_, err = file.ReadAt(ctx, p, off)
	return err
}

// TestReads compares reads of all kinds, at once, with the bytes of the object. Read in sequence,
// each byte is asked for once.
func TestReads(t *testing.T) {
	content := make([]byte, 9<<20+12345)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range content {
		content[i] = byte(random.Uint32())
	}
	f := &fakeS3{objects: map[string]string{"x": string(content)}}
	tree := openFake(t, f, nil)
	file, err := tree.Open(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got, err := io.ReadAll(nodes.Reader(t.Context(), nodes.SectionContent(file, 0, int64(len(content)))))
	if err != nil || string(got) != string(content) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if n := tree.s.Bytes.Load(); n > int64(len(content))+4096 {
		t.Errorf("%d bytes came for %d", n, len(content))
	}
	if n := tree.s.Range.Load(); n > 10 {
		t.Errorf("%d ranges", n)
	}
	done := make(chan error)
	for seed := range uint64(4) {
		go func() {
			random := rand.New(rand.NewPCG(seed, 3))
			for range 50 {
				off := random.Int64N(int64(len(content)))
				p := make([]byte, 1+random.IntN(700<<10))
				n, err := file.ReadAt(context.Background(), p, off)
				if err != nil && err != io.EOF || string(p[:n]) != string(content[off:off+int64(n)]) || n < len(p) && err != io.EOF {
					done <- fmt.Errorf("%d of %d at %d: %v", n, len(p), off, err)
					return
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestCut goes on where a body was cut.
func TestCut(t *testing.T) {
	content := strings.Repeat("0123456789abcdef", 16<<10)
	f := &fakeS3{objects: map[string]string{"x": content}}
	cuts := 0
	f.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/b/x" || cuts == 2 {
			return false
		}
		cuts++
		from := 0
		_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from)
		w.Header().Set("ETag", etagOf(content))
		if from > 0 {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(content)-1, len(content)))
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(content)-from))
		if from > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = io.WriteString(w, content[from:from+100_000])
		return true // the server closes, as the body is too short
	}
	tree := openFake(t, f, nil)
	file, err := tree.Open(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p := make([]byte, len(content))
	if n, err := file.ReadAt(t.Context(), p, 0); n != len(p) || err != nil || string(p) != content {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if cuts != 2 || tree.s.Retries.Load() != 2 {
		t.Errorf("%d cuts, %d retries", cuts, tree.s.Retries.Load())
	}
}

// TestFaults gives each answer that is none an error of its kind and text, in bounded time.
func TestFaults(t *testing.T) {
	answer := func(status int, headers map[string]string, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/b/x" {
				return false
			}
			for k, v := range headers {
				w.Header().Set(k, v)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
			return true
		}
	}
	tag := etagOf(strings.Repeat("x", 300<<10))
	code := func(c string) string {
		return "<Error><Code>" + c + "</Code><StorageClass>GLACIER</StorageClass></Error>"
	}
	for _, tt := range []struct {
		name  string
		fault func(http.ResponseWriter, *http.Request) bool
		kind  error
		text  string
	}{
		{"replaced", answer(412, nil, code("PreconditionFailed")), nodes.ErrStale, "was replaced while it was read"},
		{"removed", answer(404, nil, code("NoSuchKey")), nodes.ErrStale, "was replaced while it was read"},
		{"range behind the end", answer(416, nil, ""), nodes.ErrStale, "was replaced while it was read"},
		{"another ETag", answer(206, map[string]string{"ETag": `"other"`, "Content-Range": "bytes 0-262143/307200"}, strings.Repeat("y", 256<<10)), nodes.ErrStale, "was replaced"},
		{"another length", answer(206, map[string]string{"ETag": tag, "Content-Range": "bytes 0-262143/307201"}, strings.Repeat("y", 256<<10)), nodes.ErrStale, "was replaced"},
		{"another range", answer(206, map[string]string{"ETag": tag, "Content-Range": "bytes 1-262144/307200"}, strings.Repeat("y", 256<<10)), nodes.ErrRemote, "the answer has bytes"},
		{"all for a part", answer(200, map[string]string{"ETag": tag}, strings.Repeat("x", 300<<10)), nodes.ErrRemote, "not the part"},
		{"gzip", answer(206, map[string]string{"ETag": tag, "Content-Encoding": "gzip"}, "z"), nodes.ErrRemote, "compressed (gzip)"},
		{"denied", answer(403, nil, code("AccessDenied")), iofs.ErrPermission, "access denied (AccessDenied)"},
		{"no XML", answer(403, nil, "<html>no</html>"), iofs.ErrPermission, "access denied (403)"},
		{"archived", answer(403, nil, code("InvalidObjectState")), iofs.ErrPermission, "archived (GLACIER); it has to be restored first"},
		{"encrypted", answer(400, nil, "<Error><Code>InvalidRequest</Code><Message>The object was stored using a form of Server Side Encryption.</Message></Error>"), errors.ErrUnsupported, "encrypted with a key of the customer"},
		{"redirect", answer(302, map[string]string{"Location": "http://127.0.0.1:1/"}, ""), nodes.ErrRemote, "redirect that is not followed"},
		{"busy", answer(503, nil, code("SlowDown")), nodes.ErrUnavailable, "no answer in 1h: 503 SlowDown"},
		{"login page without length", func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/b/x" {
				return false
			}
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, strings.Repeat("log in", 100<<10))
			return true
		}, nodes.ErrRemote, "has neither length nor version"},
		{"too short without length", func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/b/x" {
				return false
			}
			w.Header().Set("ETag", tag)
			w.Header().Set("Content-Range", "bytes 0-262143/307200")
			w.WriteHeader(http.StatusPartialContent)
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, "short")
			return true
		}, nodes.ErrRemote, "the answer ends after 5 of 262144 bytes"},
		{"escapes", answer(403, nil, code("\u009b31mAccess\x7f")), iofs.ErrPermission, "access denied (403)"},
		{"a long code", answer(403, nil, code(strings.Repeat("A", 1000))), iofs.ErrPermission, "access denied (403)"},
		{"escapes of a class", answer(403, map[string]string{"X-Amz-Storage-Class": "DEEP_ARCHIVE"},
			"<Error><Code>InvalidObjectState</Code><StorageClass>a b</StorageClass></Error>"), iofs.ErrPermission, "archived (DEEP_ARCHIVE);"},
		{"login page", answer(200, map[string]string{"Content-Type": "text/html"}, "<html>log in</html>"), nodes.ErrStale, "was replaced"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fakeS3{objects: map[string]string{"x": strings.Repeat("x", 300<<10)}, fault: tt.fault}
			tree := openFake(t, f, nil)
			err := readPart(t.Context(), tree, "x", 0, 10)
			if !errors.Is(err, tt.kind) || !strings.Contains(fmt.Sprint(err), tt.text) || !strings.HasPrefix(fmt.Sprint(err), "s3://b/x (127.0.0.1:") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestListingFaults does the same for listings.
func TestListingFaults(t *testing.T) {
	page := func(body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			_, _ = io.WriteString(w, body)
			return true
		}
	}
	const head = "<ListBucketResult><IsTruncated>false</IsTruncated>"
	entry := func(key, size string) string {
		return "<Contents><Key>" + key + "</Key><Size>" + size + "</Size><LastModified>2026-11-20T12:00:00Z</LastModified></Contents>"
	}
	for name, tt := range map[string]struct {
		fault func(http.ResponseWriter, *http.Request) bool
		kind  error
	}{
		"wrong order":     {page(head + entry("b", "1") + entry("a", "1") + "</ListBucketResult>"), nodes.ErrRemote},
		"twice":           {page(head + entry("a", "1") + entry("a", "1") + "</ListBucketResult>"), nodes.ErrRemote},
		"large":           {page(head + entry("a", "9223372036854775808") + "</ListBucketResult>"), nodes.ErrRemote},
		"larger than any": {page(head + entry("a", "9223372036854775807") + "</ListBucketResult>"), nodes.ErrRemote},
		"negative":        {page(head + entry("a", "-1") + "</ListBucketResult>"), nodes.ErrRemote},
		"no end":          {page("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"), nodes.ErrRemote},
		"token repeats":   {page("<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>" + entry("a", "1") + "</ListBucketResult>"), nodes.ErrRemote},
		"endless XML":     {page("<ListBucketResult>" + strings.Repeat("<Contents><Key>"+strings.Repeat("k", 1000)+"</Key></Contents>", 5_000)), nodes.ErrRemote},
		"a page of HTML":  {page("<html><body>log in</body></html>"), nodes.ErrRemote},
		"no bucket": {func(w http.ResponseWriter, _ *http.Request) bool {
			refuse(w, http.StatusNotFound, "NoSuchBucket")
			return true
		}, iofs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			tree := openFake(t, &fakeS3{objects: manyObjects(), fault: tt.fault}, nil)
			for _, list := range []func() error{
				func() error { _, err := tree.List(t.Context(), "."); return err },
				func() error { return tree.Walk(t.Context(), ".") },
			} {
				if err := list(); !errors.Is(err, tt.kind) {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

// TestReplaced finds the new version after the time to live, while who has the old one open hears
// of it.
func TestReplaced(t *testing.T) {
	f := &fakeS3{objects: map[string]string{"x.map": strings.Repeat("old ", 200_000)}}
	tree := openFake(t, f, func(o *Options) { o.TTL = 0 })
	ctx := t.Context()
	before, err := tree.Stat(ctx, "x.map")
	if err != nil {
		t.Fatal(err)
	}
	file, err := tree.Open(ctx, "x.map")
	if err != nil {
		t.Fatal(err)
	}
	f.set("x.map", strings.Repeat("new ", 200_000))
	if _, err := file.ReadAt(ctx, make([]byte, 10), 0); !errors.Is(err, nodes.ErrStale) {
		t.Errorf("the old one: %v", err)
	}
	after, err := tree.Stat(ctx, "x.map")
	if err != nil || after.Same(before.Stamp) || after == before {
		t.Errorf("%+v, %+v, %v", before, after, err)
	}
	f.set("x.map", strings.Repeat("old ", 200_000))
	if again, err := tree.Stat(ctx, "x.map"); err != nil || !again.Same(before.Stamp) {
		t.Errorf("the old bytes are back: %+v, %v", again, err)
	}
}

// TestOutage fails at once after a connection that could not be made, and shows the last listing
// on.
func TestOutage(t *testing.T) {
	f := &fakeS3{objects: manyObjects()}
	tree := openFake(t, f, func(o *Options) { o.TTL = 20 * time.Millisecond })
	want := listNames(t, tree, ".")
	var dead atomic.Bool
	var asked atomic.Int64
	tree.s.http.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		if dead.Load() {
			asked.Add(1)
			return nil, &os.SyscallError{Syscall: "connect", Err: syscall.ECONNREFUSED}
		}
		return http.DefaultTransport.RoundTrip(r)
	})
	dead.Store(true)
	turn := tree.s.turn()
	for tree.s.turn() == turn {
		time.Sleep(time.Millisecond) // the time to live goes by the clock
	}
	if diff := cmp.Diff(want, listNames(t, tree, ".")); diff != "" {
		t.Error(diff)
	}
	lasting := *tree.s.outage.Load()
	lasting.until = time.Now().Add(time.Hour)
	tree.s.outage.Store(&lasting)
	asked.Store(0)
	_, err := tree.List(t.Context(), "2026")
	if !errors.Is(err, nodes.ErrUnavailable) || !strings.HasSuffix(fmt.Sprint(err), "no answer in 1h: connection refused") {
		t.Errorf("%v", err)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("%d more connections were tried", n)
	}
	dead.Store(false)
	tree.s.outage.Store(nil)
	if _, err := tree.List(t.Context(), "2026"); err != nil {
		t.Errorf("the server is back: %v", err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestSilence ends a request of which nothing is heard, and one that nobody waits for.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{}, 100)
		cl := newClient(Options{Timeout: time.Minute, Requests: 1}, &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			ended <- struct{}{}
			return nil, r.Context().Err()
		})})
		cl.prepare = func(r *http.Request) (*http.Request, error) { return r, nil }
		ask := func(ctx context.Context) error {
			return cl.ask(ctx, question{url: "s3://b", count: &cl.List, build: func(ctx context.Context) (*http.Request, error) {
				return http.NewRequestWithContext(ctx, http.MethodGet, "http://invalid/", http.NoBody)
			}})
		}
		began := time.Now()
		err := ask(t.Context())
		if !errors.Is(err, nodes.ErrUnavailable) || fmt.Sprint(err) != "s3://b: no answer in 1m: silence" {
			t.Errorf("%v", err)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := ask(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if n := len(ended); n < 2 {
			t.Errorf("%d requests ended", n)
		}
	})
}

// TestListingCost holds what is kept of a key, beside its name, to 64 bytes.
func TestListingCost(t *testing.T) {
	const n = 20_000
	l, names := &listing{}, 0
	for i := range n {
		name := fmt.Sprintf("recording-%d.teehistorian", i)
		names += len(name)
		l.add(name, etagOf(name), int64(i), fakeTime.UnixMilli())
	}
	l.seal()
	if each := (l.Cost() - int64(names)) / n; each > 64 || l.Len() != n {
		t.Errorf("%d bytes for each of %d names", each, l.Len())
	}
}
