package remote

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseURL(t *testing.T) {
	for name, want := range map[string]Ref{
		"s3://b":                  {"s3://b", ""},
		"s3://b/":                 {"s3://b", ""},
		"s3://b/a b%20?#/x":       {"s3://b", "a b%20?#/x"},
		"s3://b/p/":               {"s3://b", "p"},
		"https://h/":              {"https://h", ""},
		"http://[::1]:80/a%20b/c": {"http://[::1]:80", "a b/c"},
		"https://h":               {"https://h", ""},
	} {
		got, err := ParseURL(name)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for _, name := range []string{"s3://", "s3://k:s@b/x", "https://u:secret@h/", "https://h/?secret", "https://h/#secret", "https://", "http://h:secret\x7f/"} {
		_, err := ParseURL(name)
		if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "k:s") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestJoin(t *testing.T) {
	for _, tt := range [][]string{
		{"s3://b", "a b", "s3://b/a b"},
		{"s3://b/p/", "x", "s3://b/p/x"},
		{"s3://b/p", ".", "s3://b/p"},
		{"https://h/", "a b/ä?", "https://h/a%20b/%C3%A4%3F"},
	} {
		if got := Join(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%q: %s", tt, got)
		}
	}
}

func TestLocate(t *testing.T) {
	f := &fakeS3{objects: map[string]string{"d/a.tar": "x", "d/plain": "y", "d/e/f": "z"}}
	named := func(name string) bool { return strings.HasSuffix(name, ".tar") }
	for key, want := range map[string]Place{
		"":                {"", ".", "."},
		"d":               {"d/", ".", "."},
		"d/e":             {"d/e/", ".", "."},
		"d/plain":         {"d/", "plain", "."},
		"d/plain/x":       {"d/", "plain", "x"},
		"d/a.tar":         {"d/", "a.tar", "."},
		"d/a.tar/x/y":     {"d/", "a.tar", "x/y"},
		"d/none/x":        {"d/", ".", "none/x"},
		"nothing":         {"", ".", "nothing"},
		"nothing.tar/a/b": {"", ".", "nothing.tar/a/b"},
	} {
		tree := openFake(t, f, nil)
		got, err := tree.s.Locate(t.Context(), key, named)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %s%v", key, diff, err)
		}
	}
}

// TestLocateSite finds folders of a web server that does not lead to the name with a slash, and
// those that are shown without one.
func TestLocateSite(t *testing.T) {
	page := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<a href="x">x</a>`)
	}
	tree := openSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/d/", "/p", "/p/", "/x.html":
			page(w, r)
		default:
			http.NotFound(w, r)
		}
	}))
	for key, want := range map[string]Place{
		"d":      {"d/", ".", "."},
		"p":      {"p/", ".", "."},
		"x.html": {"", "x.html", "."},
		"none":   {"", ".", "none"},
	} {
		got, err := tree.s.Locate(t.Context(), key, func(string) bool { return false })
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %s%v", key, diff, err)
		}
	}
}

func FuzzParseURL(f *testing.F) {
	f.Add("s3://b/k")
	f.Add("https://h/a%20b/?q#f")
	f.Add("s3://b//k")
	f.Fuzz(func(t *testing.T, name string) {
		r, err := ParseURL(name)
		if err != nil {
			return
		}
		again, err := ParseURL(Join(r.Base, r.Key))
		if r.Key != "" && (err != nil || again.Key != strings.Trim(again.Key, "/") || again.Base != r.Base) {
			t.Errorf("%q: %+v, then %+v, %v", name, r, again, err)
		}
	})
}
