package archive

import (
	"sync"
	"testing"

	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes/nodestest"

	"github.com/klauspost/compress/zip"
)

// Files in containers in containers, with larger windows than there is room
// for, are read by many at once, and all of them come to an end.
func TestWorkroomNested(t *testing.T) {
	nodestest.Long(t)
	content := formatstest.Compressible(1_500_000)
	pack := func(b []byte) string { return string(formatstest.ZstdWindow(t, b, 32<<20)) }
	inner := formatstest.Tar(t, entry{"a.rec.zst", pack(content)}, entry{"b.rec.zst", pack(content)})
	middle := formatstest.Tar(t, entry{"c.tar.zst", pack(inner)}, entry{"d.tar.zst", pack(inner)})
	dir := t.TempDir()
	write(t, dir, "e.tar.zst", pack(middle))
	write(t, dir, "f.zip", string(packZip(t, zip.Deflate, entry{"c.tar.zst", pack(inner)}, entry{"d.tar.zst", pack(inner)})))
	root := newArchiveIn(t, dir, t.TempDir(), 1<<30)
	var wg sync.WaitGroup
	for range 4 {
		for _, outer := range []string{"e.tar.zst", "f.zip"} {
			for _, in := range []string{"c.tar.zst/a", "c.tar.zst/b", "d.tar.zst/a", "d.tar.zst/b"} {
				wg.Go(func() {
					name := outer + "/" + in + ".rec.zst/body"
					if got, err := read(t, root, name); err != nil || got != string(content[3:]) {
						t.Errorf("%s: %d bytes, %v", name, len(got), err)
					}
				})
			}
		}
	}
	wg.Wait()
}
