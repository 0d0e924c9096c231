package ledger

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"recfs/cache"
)

// Of each path a merged list has what knows more, and all that is in a container with it.
func TestMerge(t *testing.T) {
	pages := NewPages(cache.New(1<<20, nil))
	random := rand.New(rand.NewPCG(34, 5))
	for range 20 {
		var lists []*List
		want := map[string]string{} // the lines by path
		for n := range 3 {
			w := NewWriter(NewSink(nil, ""))
			for i := range 2000 {
				if random.IntN(3) == 0 {
					continue
				}
				path := fmt.Sprintf("a%04d.tar", i)
				known := i%3 == n
				line := fmt.Sprintf("{\"by\":%d}\n", n)
				w.Append(Record{Path: path, Indexed: known, Line: line})
				w.Append(Record{Path: path + "/x", Inner: true, Indexed: known, Line: line})
				if _, ok := want[path]; !ok || known {
					want[path], want[path+"/x"] = line, line
				}
			}
			lists = append(lists, w.List())
		}
		all, err := Merge(t.Context(), NewSink(nil, ""), pages, lists, func(a, b *Record) bool { return a.Indexed && !b.Indexed })
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for c := all.Cursor(pages); ; c.Next() {
			r, err := c.Record(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if r == nil {
				break
			}
			paths = append(paths, r.Path)
			if r.Line != want[r.Path] || r.Inner != (r.Path[len(r.Path)-1] == 'x') {
				t.Fatalf("%s: %q, not %q", r.Path, r.Line, want[r.Path])
			}
		}
		if len(paths) != len(want) || !slices.IsSortedFunc(paths, Order) {
			t.Fatalf("%d paths of %d", len(paths), len(want))
		}
	}
}
