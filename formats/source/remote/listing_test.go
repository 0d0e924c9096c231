package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// TestSplitPages shows the folder in place of an object of its name, wherever the page between the
// two ends.
func TestSplitPages(t *testing.T) {
	f := &fakeS3{objects: map[string]string{"a": "1", "x.map": "object", "x.map/y": "below", "z": "1"}}
	for i := range 60 {
		f.objects[fmt.Sprintf("x.map-%02d", i)] = "1"
	}
	for _, size := range []int{1, 2, 3, 30, 1000} {
		f.pageSize = size
		for _, before := range []string{"x.map", "a"} {
			tree := openFake(t, f, nil)
			if _, err := tree.Stat(t.Context(), "."); before == "a" && err != nil {
				t.Fatal(err)
			}
			info, err := tree.Stat(t.Context(), "x.map")
			if err != nil || !info.Type.IsDir() {
				t.Errorf("%d a page, after %s: %v, %v", size, before, info.Type, err)
			}
		}
	}
}

// TestNamesByPages shows the names of a folder as they come, in their order and each for good,
// whatever folders come later.
func TestNamesByPages(t *testing.T) {
	parts := []string{"a", "b", "a-b", "a.b", "a-b-c", "a!", "-", ".", "x.map", "x", "x-1", "x/y", "x.map/y", "~"}
	for seed := range uint64(nodestest.Times(300, 60)) {
		random := rand.New(rand.NewPCG(seed, 1))
		f := &fakeS3{objects: map[string]string{}, pageSize: 1 + random.IntN(4)}
		for range 1 + random.IntN(40) {
			key := parts[random.IntN(len(parts))] + parts[random.IntN(len(parts))]
			f.objects["d/"+key] = key
		}
		tree := openFake(t, f, nil)
		whole := listNames(t, tree, "d")
		tree = openFake(t, f, nil)
		pages, err := tree.Pages(t.Context(), "d")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := 0; ; i++ {
			if err := pages.Reach(t.Context(), i+1); err != nil {
				t.Fatal(err)
			}
			if i == pages.Len() {
				break
			}
			name, typ := pages.At(i)
			if at, ok := pages.Find(name); !ok || at != i {
				t.Errorf("seed %d: %s is at %d, and not at %d", seed, name, at, i)
			}
			if info, ok := pages.Info(i); ok != (typ == 0) || ok && info.Size != int64(len(f.objects["d/"+name])) {
				t.Errorf("seed %d: %s: %+v, %v", seed, name, info, ok)
			}
			if typ != 0 {
				name += "/"
			}
			got = append(got, name)
		}
		if diff := cmp.Diff(whole, got); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
	}
}

// TestFirstPage has the first names of a large folder after one request, or a few if folders could
// come before them, and the names of a look-up meanwhile.
func TestFirstPage(t *testing.T) {
	for _, tt := range []struct {
		format string
		want   []string
	}{
		{"%04d.map", []string{"LIST d/"}},
		{"map%04d", []string{"LIST d/"}},
		{"run-%04d.map", []string{"LIST d/", "LIST d/run/"}},
		{"2026-11-20_12-%04d.map", []string{"LIST d/", "LIST d/2026/", "LIST d/2026-11/", "LIST d/2026-11-20_12/"}},
	} {
		f := &fakeS3{objects: map[string]string{}}
		for i := range 3000 {
			f.objects["d/"+fmt.Sprintf(tt.format, i)] = "m"
		}
		tree := openFake(t, f, nil)
		pages, err := tree.Pages(t.Context(), "d")
		if err == nil {
			err = pages.Reach(t.Context(), 1)
		}
		if err != nil || pages.Len() < 900 {
			t.Fatalf("%d names, %v", pages.Len(), err)
		}
		first := fmt.Sprintf(tt.format, 0)
		if name, _ := pages.At(0); name != first {
			t.Errorf("%s, and not %s", name, first)
		}
		if _, err := tree.Stat(t.Context(), "d/"+first); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(tt.want, f.requests()); diff != "" {
			t.Errorf("%s: %s", tt.format, diff)
		}
		if err := pages.Reach(t.Context(), math.MaxInt); err != nil || pages.Len() != 3000 {
			t.Errorf("%d names, %v", pages.Len(), err)
		}
		if n := len(f.requests()); n != 2 {
			t.Errorf("%s: %d requests for the rest", tt.format, n)
		}
	}
}

// TestPagesAtOnce shows the same names to all that read and look up meanwhile, asks for each page
// once, and goes on where a reader went away.
func TestPagesAtOnce(t *testing.T) {
	f := &fakeS3{objects: map[string]string{}, pageSize: 10}
	for i := range 200 {
		f.objects[fmt.Sprintf("d/run-%03d.map", i)] = "m"
	}
	tree := openFake(t, f, nil)
	pages, err := tree.Pages(t.Context(), "d")
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	var all sync.WaitGroup
	for reader := range 8 {
		all.Go(func() {
			for i := 0; ; i++ {
				if reader == 0 {
					_ = pages.Reach(ended, i+1)
				}
				if err := pages.Reach(t.Context(), i+1); err != nil {
					t.Error(err)
				}
				if i == pages.Len() {
					break
				}
				name, _ := pages.At(i)
				if _, err := tree.Stat(t.Context(), "d/"+name); err != nil || name != fmt.Sprintf("run-%03d.map", i) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	all.Wait()
	lists := slices.DeleteFunc(f.requests(), func(asked string) bool { return asked != "LIST d/" })
	if len(lists) != 20 {
		t.Errorf("%d LISTs of 20 pages", len(lists))
	}
}

// TestPagesOutOfOrder refuses listings of which a page goes back, so that they could have no end
// or lose names.
func TestPagesOutOfOrder(t *testing.T) {
	pages := map[string][2]string{"": {"m/a", "A"}, "A": {"n/b", "B"}, "B": {"m/c", "A"}}
	f := &fakeS3{fault: func(w http.ResponseWriter, r *http.Request) bool {
		page := pages[r.URL.Query().Get("continuation-token")]
		entry := "<Contents><Key>" + page[0] + "</Key><Size>1</Size><LastModified>2026-11-20T12:00:00Z</LastModified></Contents>"
		if r.URL.Query().Get("delimiter") != "" {
			entry = "<CommonPrefixes><Prefix>" + page[0][:2] + "</Prefix></CommonPrefixes>"
		}
		fmt.Fprintf(w, "<ListBucketResult>%s<IsTruncated>%v</IsTruncated><NextContinuationToken>%s</NextContinuationToken></ListBucketResult>", entry, page[1] != "", page[1])
		return true
	}}
	tree := openFake(t, f, nil)
	if _, err := tree.List(t.Context(), "."); !errors.Is(err, nodes.ErrRemote) {
		t.Errorf("listed: %v", err)
	}
	pages["B"] = [2]string{"m/c", ""}
	if err := tree.Walk(t.Context(), "."); !errors.Is(err, nodes.ErrRemote) {
		t.Errorf("walked: %v", err)
	}
}

// TestEndlessWalk ends with an error where keys of one folder have no end, in bounded memory.
func TestEndlessWalk(t *testing.T) {
	n := 0
	var page strings.Builder
	f := &fakeS3{fault: func(w http.ResponseWriter, _ *http.Request) bool {
		page.Reset()
		fmt.Fprintf(&page, "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken>", n)
		for range 5000 {
			n++
			fmt.Fprintf(&page, "<Contents><Key>%0250d</Key><ETag>%0250d</ETag></Contents>", n, n)
		}
		page.WriteString("</ListBucketResult>")
		_, _ = io.WriteString(w, page.String())
		return true
	}}
	tree := openFake(t, f, nil)
	tree.s.maxListing = 4 << 20
	if err := tree.Walk(t.Context(), "."); !errors.Is(err, nodes.ErrRemote) {
		t.Error(err)
	}
}

// TestObjectVersion takes objects with the same tag for the same bytes only where the tag is a sum
// of them.
func TestObjectVersion(t *testing.T) {
	for tag, same := range map[string]bool{
		`"0123456789abcdef0123456789abcdef"`:   true,  // of S3
		`"0123456789abcdef0123456789abcdef-2"`: true,  // of S3, in two parts
		`"5f5e1000-40"`:                        false, // of nginx: time and size
		`"0123456789abcdef0123456789abcdeg"`:   false,
	} {
		a, b := object{key: "a", tag: tag, size: 64}, object{key: "b", tag: tag, size: 64}
		if got := a.version().Same(b.version().Stamp); got != same {
			t.Errorf("%s: %v", tag, got)
		}
		if !a.version().Same(a.version().Stamp) {
			t.Errorf("%s is not the same again", tag)
		}
	}
}

// TestHidden shows no shared index, whether folders or all below are listed, and leaves it to who
// knows its place.
func TestHidden(t *testing.T) {
	f := &fakeS3{objects: map[string]string{".recfs-index/v1/x": "x", "a/index/v1/x": "x", "a/.recfs-index": "file", "b": "b"}}
	for _, walk := range []bool{false, true} {
		tree := openFake(t, f, nil)
		tree.s.Hide("a/index")
		if walk {
			if err := tree.Walk(t.Context(), "."); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{".recfs-index", "a/index"} {
			if _, err := tree.Stat(t.Context(), name); !errors.Is(err, iofs.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := tree.s.Open(t.Context(), "a/index/v1/x"); err != nil {
				t.Error(err)
			}
		}
		got := append(listNames(t, tree, "."), listNames(t, tree, "a")...)
		if diff := cmp.Diff([]string{"a/", "b", ".recfs-index"}, got); diff != "" {
			t.Error(diff)
		}
		if names, err := tree.s.Names(t.Context(), ".recfs-index/v1/"); err != nil || len(names) != 1 {
			t.Errorf("%q, %v", names, err)
		}
	}
}
