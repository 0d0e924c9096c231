package remote

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"math"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recfs/cache"
	"recfs/formats/source"
	"recfs/nodes"
)

// openSite returns the tree of a web server.
func openSite(t testing.TB, h http.Handler) Tree {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := cache.New(64<<20, nil)
	t.Cleanup(c.Close)
	s, err := OpenSite(u, c, options(""))
	if err != nil {
		t.Fatal(err)
	}
	s.silence = time.Hour
	return s.Tree("")
}

// served is what the web servers of the tests have.
func served(t testing.TB) string {
	dir := t.TempDir()
	for name, content := range map[string]string{"a b.txt": "alpha", "sub/ä#?.map": "map", "large": strings.Repeat("0123456789", 100_000)} {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestSite reads what the file server of Go shows, which has no ETags.
func TestSite(t *testing.T) {
	tree := openSite(t, http.FileServer(http.Dir(served(t))))
	if diff := cmp.Diff([]string{"a b.txt", "large", "sub/"}, listNames(t, tree, ".")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"ä#?.map"}, listNames(t, tree, "sub")); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{"a b.txt": "alpha", "sub/ä#?.map": "map"} {
		if got := readAll(t, tree, name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if _, err := tree.Stat(t.Context(), "none"); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if info, err := tree.Stat(t.Context(), "sub"); err != nil || !info.Type.IsDir() {
		t.Errorf("%+v, %v", info, err)
	}
	if err := readPart(t.Context(), tree, "large", 500_000, 10); err != nil {
		t.Error(err)
	}
}

// TestEmpty reads an empty file of a server that tells its length only if it is asked for the file,
// as Apache does, and refuses one of which it tells none.
func TestEmpty(t *testing.T) {
	tree := openSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodHead, r.URL.Path != "/empty":
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
		default:
			w.Header().Set("Content-Length", "0")
		}
	}))
	if got := readAll(t, tree, "empty"); got != "" {
		t.Errorf("%q", got)
	}
	if _, err := tree.Stat(t.Context(), "endless"); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}

// TestNoHead looks at files of a server that refuses to be asked for their headers alone: at one
// byte of each, and not at what it refuses to give.
func TestNoHead(t *testing.T) {
	files, heads := http.FileServer(http.Dir(served(t))), 0
	tree := openSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodHead:
			heads++
			w.WriteHeader(http.StatusMethodNotAllowed)
		case r.URL.Path != "/empty":
			files.ServeHTTP(w, r)
		case r.Header.Get("Range") != "":
			w.Header().Set("Content-Range", "bytes */0")
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		default:
			w.Header().Set("Content-Length", "0")
		}
	}))
	for name, want := range map[string]string{"a b.txt": "alpha", "sub/ä#?.map": "map", "empty": ""} {
		if got := readAll(t, tree, name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if info, err := tree.Stat(t.Context(), "large"); err != nil || info.Size != 1_000_000 {
		t.Errorf("%+v, %v", info, err)
	}
	if info, err := tree.Stat(t.Context(), "sub"); err != nil || !info.Type.IsDir() {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := tree.Stat(t.Context(), "none"); !errors.Is(err, iofs.ErrNotExist) {
		t.Error(err)
	}
	if n := tree.s.Bytes.Load(); heads != 1 || n > 100<<10 {
		t.Errorf("asked %d times for headers, %d bytes", heads, n)
	}
}

func readAll(t *testing.T, tree source.Tree, name string) string {
	t.Helper()
	f, err := tree.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(nodes.Reader(t.Context(), nodes.SectionContent(f, 0, info.Size)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestPages reads the pages that other servers make of a folder.
func TestPages(t *testing.T) {
	at := &url.URL{Scheme: "http", Host: "h:1", Path: "/dir/"}
	for name, tt := range map[string]struct {
		kind, body string
		want       []string
	}{
		"nginx": {"text/html", `<h1>Index of /dir/</h1><hr><pre><a href="../">../</a>
<a href="sub/">sub/</a>   21-Nov-2026 10:00    -
<a href="a%20b.map">a b.map</a>  21-Nov-2026 10:00   5
</pre>`, []string{"sub/", "a b.map"}},
		"Apache": {"text/html;charset=UTF-8", `<table><tr><th><a href="?C=N;O=D">Name</a></th></tr>
<tr><td><a href="/">Parent Directory</a></td></tr><tr><td><a href="x.map">x.map</a></td><td>1.2K</td></tr></table>`, []string{"x.map"}},
		"Caddy":        {"text/html", `<a href="./x.map"><span class="name">x.map</span></a><a href="./sub/">sub</a>`, []string{"x.map", "sub/"}},
		"elsewhere":    {"text/html", `<a href="http://other/dir/x">x</a><a href="https://h:1/dir/x">x</a><a href="/dir/../y">y</a><a href="/dir/a/b">b</a><a href="z?q">z</a><a href="%2e%2e/up">u</a><a href=":">?</a>`, nil},
		"whole URL":    {"text/html", `<a href="http://h:1/dir/x">x</a>`, []string{"x"}},
		"nginx's JSON": {"application/json", `[{"name":"sub","type":"directory","mtime":"Fri"},{"name":"x","type":"file","size":3}]`, []string{"sub/", "x"}},
		"recfs":        {"application/x-ndjson", `{"name":"d","type":"dir","modified":"2026-11-20T12:00:00Z"}` + "\n" + `{"name":"?","name_hex":"ff","type":"file","size":3,"modified":"2026-11-20T12:00:00Z"}` + "\n", []string{"d/", "\xff"}},
	} {
		resp := &http.Response{Header: http.Header{"Content-Type": {tt.kind}}, Body: io.NopCloser(strings.NewReader(tt.body))}
		names, err := readFolder(resp, at)
		var got []string
		for _, n := range names {
			if n.size == sizeFolder {
				n.name += "/"
			}
			got = append(got, n.name)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %s %v", name, diff, err)
		}
	}
}

// TestBadPages asks once for a page that is none, or has a tag or a name that nobody writes.
func TestBadPages(t *testing.T) {
	for name, tt := range map[string]struct{ kind, body, want string }{
		"no array":    {"application/json", `{"name":"x"}`, "no JSON"},
		"no end":      {"application/json", `[{"name":"x"}`, "no JSON"},
		"no string":   {"application/json", `[{"name":5}]`, "no JSON"},
		"deep":        {"application/json", `[{"type":` + strings.Repeat("[", 100_000), "no JSON"},
		"line is cut": {"application/x-ndjson", `{"name":"x"}` + "\n" + `{"na`, "no JSON"},
		"no name":     {"application/x-ndjson", `{"name":[]}`, "no JSON"},
		"long tag":    {"text/html", `<a href="` + strings.Repeat("x", 5<<20) + `">`, "too long"},
	} {
		tree := openSite(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", tt.kind)
			_, _ = io.WriteString(w, tt.body)
		}))
		if _, err := tree.List(t.Context(), "."); !errors.Is(err, nodes.ErrRemote) || !strings.Contains(fmt.Sprint(err), tt.want) || tree.s.List.Load() != 1 {
			t.Errorf("%s: %v, asked %d times", name, err, tree.s.List.Load())
		}
	}
	long := fmt.Sprintf(`{"name":"%s"}`+"\n"+`{"name":"x"}`+"\n", strings.Repeat("x", 100_000))
	tree := openSite(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, long)
	}))
	if diff := cmp.Diff([]string{"x"}, listNames(t, tree, ".")); diff != "" {
		t.Error(diff)
	}
}

// TestServersPages reads pages that servers made of one folder: Apache 2.4, Caddy 2.6, nginx 1.22
// and Python 3.11.
func TestServersPages(t *testing.T) {
	want := []string{
		"%41.map", "+plus.map", "100%.map", "<b>.map", "a b.map", "a-name-that-is-so-long-that-pages-cut-it-when-they-show-it.teehistorian.xz",
		"apo's.map", `back\slash.map`, "c:olon.map", "index.of.map", `q"uote.map`, "sub/", "x&y.map", "~tilde;semi.map", "ä#?.map",
	}
	for _, name := range []string{"apache.html", "caddy.html", "nginx.html", "nginx.json", "python.html"} {
		page, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		tree := openSite(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
			_, _ = w.Write(page)
		}))
		if diff := cmp.Diff(want, listNames(t, tree, "dir")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestNextPages follows the pages of a folder, and notices one that leads back or away.
func TestNextPages(t *testing.T) {
	next := map[string]string{"": `<?after=a>; rel="next"`, "a": `</?after=b>; rel="next"`}
	tree := openSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		after := r.URL.Query().Get("after")
		w.Header().Set("Content-Type", "application/x-ndjson")
		if link := next[after]; link != "" {
			w.Header().Set("Link", link)
		}
		fmt.Fprintf(w, `{"name":"n%s","type":"file"}`+"\n", after)
	}))
	if diff := cmp.Diff([]string{"n", "na", "nb"}, listNames(t, tree, ".")); diff != "" {
		t.Error(diff)
	}
	for _, link := range []string{`<http://elsewhere/?after=c>; rel="next"`, `<?after=b>; rel="next"`, `<?after=a>; rel="next"`} {
		next["b"] = link
		if err := tree.s.newListing("", 99).Reach(t.Context(), math.MaxInt); !errors.Is(err, nodes.ErrRemote) {
			t.Errorf("%s: %v", link, err)
		}
	}
}

// TestCutNames asks again for the names of a folder if the answer was cut in the middle of a line.
func TestCutNames(t *testing.T) {
	const names = `{"name":"a","type":"file"}` + "\n" + `{"name":"b","type":"file"}` + "\n"
	cut := false
	tree := openSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		w.Header().Set("Content-Length", fmt.Sprint(len(names)))
		if cut {
			_, _ = io.WriteString(w, names)
			return
		}
		cut = true
		_, _ = io.WriteString(w, names[:len(names)-8])
	}))
	if diff := cmp.Diff([]string{"a", "b"}, listNames(t, tree, ".")); diff != "" {
		t.Error(diff)
	}
}

// TestEndless gives up a folder of which each page names another one.
func TestEndless(t *testing.T) {
	tree := openSite(t, http.NotFoundHandler())
	n := 0
	tree.s.http.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		n++
		return &http.Response{
			StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(strings.NewReader(fmt.Sprintf(`{"name":"n%d","type":"file"}`, n))),
			Header: http.Header{"Content-Type": {"application/x-ndjson"}, "Link": {fmt.Sprintf(`<?after=n%d>; rel="next"`, n)}},
		}, nil
	})
	if _, err := tree.List(t.Context(), "."); !errors.Is(err, nodes.ErrRemote) || !strings.Contains(fmt.Sprint(err), "the listing has no end") {
		t.Errorf("%v", err)
	}
}

// TestLookAhead asks for sizes that a page does not tell sixteen at a time, of who goes through the
// names, and one at a time of a server that ends connections.
func TestLookAhead(t *testing.T) {
	for _, want := range [][][]int{{{5}, {6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}}, {{5}, {6}}} {
		testLookAhead(t, want, len(want[1]) == 1)
	}
}

func testLookAhead(t *testing.T, heads [][]int, closes bool) {
	asked := make(chan string, 100)
	tree := openSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if closes {
			w.Header().Set("Connection", "close")
		}
		if r.Method == http.MethodHead {
			w.Header().Set("Content-Length", "1")
			asked <- r.URL.Path
			return
		}
		w.Header().Set("Content-Type", "text/html")
		for i := range 40 {
			fmt.Fprintf(w, `<a href="n%02d.map">n</a><a href="n%02d.png">n</a>`, i, i)
		}
	}))
	if _, err := tree.List(t.Context(), "."); err != nil {
		t.Fatal(err)
	}
	for i, want := range heads {
		if _, err := tree.Stat(t.Context(), fmt.Sprintf("n%02d.map", 5+i)); err != nil {
			t.Fatal(err)
		}
		var got, all []string
		for _, n := range want {
			all, got = append(all, fmt.Sprintf("/n%02d.map", n)), append(got, <-asked)
		}
		slices.Sort(got)
		if diff := cmp.Diff(all, got); diff != "" || len(asked) > 0 {
			t.Error(diff, len(asked))
		}
	}
}

// TestTakenOnce reads a file that memory does not hold from a server that has no parts of files.
func TestTakenOnce(t *testing.T) {
	content, asked := strings.Repeat("0123456789abcdef", 256<<10), 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			asked++
		}
		w.Header().Set("Last-Modified", "Fri, 20 Nov 2026 12:00:00 GMT")
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = io.WriteString(w, content)
	}))
	defer server.Close()
	u, _ := url.Parse(server.URL)
	c := cache.New(1<<20, nil)
	defer c.Close()
	s, err := OpenSite(u, c, options(""))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := readAll(t, s.Tree(""), "x"); got != content || asked != 1 {
			t.Errorf("%d bytes, taken %d times", len(got), asked)
		}
	}
}

// TestNoRanges takes a file whole, once, from a server that has no parts of files.
func TestNoRanges(t *testing.T) {
	content := strings.Repeat("0123456789abcdef", 40<<10)
	asked := 0
	tree := openSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/x" && r.URL.Path != "/huge" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Last-Modified", "Fri, 20 Nov 2026 12:00:00 GMT")
		if r.URL.Path == "/huge" {
			w.Header().Set("Content-Length", fmt.Sprint(maxWhole+1))
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		if r.Method == http.MethodGet {
			asked++
			_, _ = io.WriteString(w, content)
		}
	}))
	for off := int64(0); off < int64(len(content)); off += 100_000 {
		if err := readPart(t.Context(), tree, "x", off, 10); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 1 {
		t.Errorf("it was taken %d times", asked)
	}
	err := readPart(t.Context(), tree, "huge", 1000, 10)
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(fmt.Sprint(err), "does not serve parts of files") {
		t.Errorf("%v", err)
	}
}

// TestRedirects follows a redirect here, and none to another server without TLS.
func TestRedirects(t *testing.T) {
	tree := openSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/old":
			http.Redirect(w, r, "/new", http.StatusFound)
		case "/new":
			http.ServeContent(w, r, "", fakeTime, strings.NewReader("new"))
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			http.Redirect(w, r, "http://elsewhere.invalid/", http.StatusFound)
		}
	}))
	if got := readAll(t, tree, "old"); got != "new" {
		t.Errorf("%q", got)
	}
	for _, name := range []string{"loop", "away"} {
		if _, err := tree.Stat(t.Context(), name); !errors.Is(err, nodes.ErrRemote) || !strings.Contains(fmt.Sprint(err), "redirect") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNetrc(t *testing.T) {
	text := "machine a login u password p\nmachine b\nlogin v password q\ndefault login d password e"
	for host, want := range map[string]string{"a": "u:p", "b": "v:q", "c": "d:e"} {
		if got := parseNetrc(text, host).String(); got != want {
			t.Errorf("%s: %s", host, got)
		}
	}
	if got := parseNetrc("default login d machine a login u password p machine a login v password q", "a").String(); got != "u:p" {
		t.Errorf("of two entries of a machine the first one counts, not %s", got)
	}
	if got := parseNetrc("# machine a login u password p\nmachine a # of May: login w\nlogin v password #q # login x\n", "a").String(); got != "v:%23q" {
		t.Errorf("comments count: %s", got)
	}
	if got := parseNetrc("machine a login", "x"); got != nil {
		t.Errorf("%v", got)
	}
	name := filepath.Join(t.TempDir(), "netrc")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NETRC", name)
	if got := netrcLogin(&url.URL{Host: "a"}, nil); got != nil {
		t.Errorf("others may read it: %v", got)
	}
	if err := os.Chmod(name, 0o600); err != nil {
		t.Fatal(err)
	}
	var user, secret string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, secret, _ = r.BasicAuth()
		http.ServeContent(w, r, "", fakeTime, strings.NewReader("x"))
	}))
	defer server.Close()
	u, _ := url.Parse(server.URL)
	c := cache.New(1<<20, nil)
	defer c.Close()
	s, err := OpenSite(u, c, options(""))
	if err == nil {
		_, err = s.Tree("").Stat(t.Context(), "x")
	}
	if err != nil || user != "d" || secret != "e" {
		t.Errorf("%q, %q, %v", user, secret, err)
	}
}

// TestLoginPage takes nothing for a file that has neither its length nor its version.
func TestLoginPage(t *testing.T) {
	for name, header := range map[string]string{"ETag": `"x"`, "Last-Modified": "Fri, 20 Nov 2026 12:00:00 GMT"} {
		tree := openSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				w.Header().Set(name, header)
				w.Header().Set("Content-Length", "300000")
				return
			}
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, strings.Repeat("log in", 100<<10))
		}))
		if err := readPart(t.Context(), tree, "x.map", 0, 10); !errors.Is(err, nodes.ErrRemote) || tree.s.Retries.Load() > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHugeFile refuses a size that no file has.
func TestHugeFile(t *testing.T) {
	tree := openSite(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "9223372036854775807")
	}))
	if _, err := tree.Stat(t.Context(), "x.map"); !errors.Is(err, nodes.ErrRemote) {
		t.Error(err)
	}
}
