package catalogue

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// What is found below a directory of an archive is no more in memory than that of the whole, and
// leaves nothing on disk.
func TestPartOfMany(t *testing.T) {
	nodestest.Long(t)
	const many = 8000 // whose names alone are more than the list keeps in memory
	tree, random := fstest.MapFS{}, rand.New(rand.NewPCG(1, 1))
	for range many {
		name := make([]byte, 120)
		for i := range name {
			name[i] = byte(random.Uint32())
		}
		tree[fmt.Sprintf("sub/%x.rec", name)] = &fstest.MapFile{Data: []byte("REC")}
	}
	store := t.TempDir()
	disk := cache.NewDisk(store, 64<<20, nil)
	c := formatstest.NewCache(t)
	root := newRoot(formatstest.FromFS(tree), []formats.Format{rec}, c, archive.Options{Disk: disk})
	e, err := nodes.Lookup(t.Context(), root, "sub")
	if err != nil {
		t.Fatal(err)
	}
	found, done, err := root.c.surveyOf(t.Context(), e.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if cost := found.Cost(); cost > 3<<19 {
		t.Errorf("%d bytes of %d records are in memory", cost, found.Len())
	}
	if now, _ := c.Work(); now < found.Cost() {
		t.Errorf("%d bytes are counted of %d", now, found.Cost())
	}
	done()
	if now, _ := c.Work(); now != 0 {
		t.Errorf("%d bytes are counted of nothing", now)
	}
	n := 0
	for _, err := range root.c.Summaries(t.Context(), e.Dir) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != many {
		t.Errorf("%d recordings, want %d", n, many)
	}
	err = filepath.WalkDir(store, func(name string, _ fs.DirEntry, err error) error {
		if base := filepath.Base(name); strings.HasPrefix(base, "tmp-") || strings.HasSuffix(base, ".zst") {
			t.Errorf("%s is left", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
