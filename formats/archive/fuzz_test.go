package archive_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/datafile"
	"recfs/formats/echo"
	"recfs/formats/hcrp"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/nethack"
	"recfs/formats/teehistorian"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// fuzzNames are what a fuzzed file may be called.
var fuzzNames = []string{
	"x.hcrp", "x.map", "x.nhgame", "x.teehistorian", "x.butter", "x",
	"x.hcrp.gz", "x.map.zst", "x.nhgame.xz", "x.teehistorian.bz2", "x.tar", "x.tar.gz", "x.zip",
	"d/preamble.dat",
}

var fuzzFormats = []formats.Format{
	hcrp.New(hcrp.Options{}), datafile.New(datafile.Options{}), nethack.Format,
	teehistorian.New(teehistorian.Options{}), echo.NewButter(echo.Options{}),
}

// FuzzArchive shows any bytes under any name and reads all there is, some of
// everything that is long.
func FuzzArchive(f *testing.F) {
	for _, dir := range []string{"../testdata/archive", "../testdata/hcrp", "../testdata/datafile"} {
		filepath.WalkDir(dir, func(name string, d iofs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil
			}
			b, err := os.ReadFile(name)
			if err != nil || len(b) > 100_000 {
				return nil
			}
			for i, as := range fuzzNames {
				if strings.TrimSuffix(filepath.Ext(name), ".gz") == filepath.Ext(as) {
					f.Add(byte(i), b)
				}
			}
			var buf bytes.Buffer
			w := gzip.NewWriter(&buf)
			w.Write(b)
			w.Close()
			f.Add(byte(6), buf.Bytes())
			return nil
		})
	}
	f.Fuzz(func(t *testing.T, as byte, b []byte) {
		name := fuzzNames[int(as)%len(fuzzNames)]
		fsys := fstest.MapFS{name: {Data: b, Mode: 0o444}}
		c := cache.New(16<<20, nil)
		defer c.Close()
		root := archive.New(formatstest.FromFS(fsys), fuzzFormats, c, archive.Options{Sniff: true})
		defer time.AfterFunc(nodestest.Hang, func() { panic("it hangs") }).Stop()
		ctx := t.Context()
		files := 0
		err := nodes.Walk(ctx, root, func(name string, e nodes.Entry, err error) error {
			if files++; files > 500 {
				return iofs.SkipAll
			}
			if err == nil && e.File != nil {
				readFuzzed(t, ctx, name, e.File)
			}
			return nil
		})
		if err != nil && !errors.Is(err, iofs.SkipAll) {
			t.Fatal(err)
		}
	})
}

// readFuzzed reads the start and the end of a file, whose size must be right.
func readFuzzed(t *testing.T, ctx context.Context, name string, f nodes.File) {
	size, err := f.Size(ctx)
	if err != nil {
		return
	}
	content, err := f.Open(ctx)
	if err != nil {
		return
	}
	if closer, ok := content.(io.Closer); ok {
		defer closer.Close()
	}
	if content.Size() != size {
		t.Errorf("%s: Size is %d, of the content %d", name, size, content.Size())
	}
	b := make([]byte, min(size, 64<<10))
	for _, off := range []int64{0, size - int64(len(b))} {
		if n, err := content.ReadAt(t.Context(), b, off); n < len(b) && err == nil || err == io.EOF && n < len(b) {
			t.Errorf("%s: %d of %d bytes at %d of %d, %v", name, n, len(b), off, size, err)
		}
	}
}
