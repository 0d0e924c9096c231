package archive

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	seekable "github.com/SaveTheRbtz/zstd-seekable-format-go/pkg"
	"github.com/klauspost/compress/zstd"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// streaming is rec for sources of unknown size.
var streaming = formatstest.Plain(formats.Format{Name: "streaming", Extensions: []string{".stream"}, Streams: true}, openRec, recTree)

func packZstd(t testing.TB, b []byte) []byte {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(b, nil)
}

func packSeekable(t testing.TB, b []byte, frame int) []byte {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	w, err := seekable.NewWriter(&buf, z)
	for len(b) > 0 && err == nil {
		n := min(frame, len(b))
		_, err = w.Write(b[:n])
		b = b[n:]
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// "RECtiny\n" by xz -6 and bzip2.
const (
	tinyXZ    = "/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAHUkVDdGlueQoAQKxhZDgn034AASAIuxnZux+2830BAAAAAARZWg=="
	tinyBzip2 = "QlpoOTFBWSZTWdSNJsYAAAHHgAAQCgAQAAAhBCAgADEMCCBpmoLkSHi7kinChIakaTYw"
)

func TestCompressedSmall(t *testing.T) {
	unbase64 := func(s string) string {
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	content := formatstest.Compressible(100_000)
	_, root := mount(t, map[string]string{
		"a.rec.gz":     string(formatstest.Gzip(t, content)),
		"b.rec.zst":    string(packZstd(t, content)),
		"c.rec.zst":    string(packSeekable(t, content, 30_000)),
		"two.rec.gz":   string(formatstest.Gzip(t, content[:500])) + string(formatstest.Gzip(t, content[500:])),
		"wrong.rec.xz": string(formatstest.Gzip(t, content)),
		"x.rec.xz":     unbase64(tinyXZ),
		"z.rec.bz2":    unbase64(tinyBzip2),
		"lump.lump.gz": string(formatstest.Gzip(t, []byte("LUMPx"))),
		"no.lump.gz":   string(formatstest.Gzip(t, []byte("other"))),
	}, Options{})
	for _, name := range []string{"a.rec.gz", "b.rec.zst", "c.rec.zst", "two.rec.gz", "wrong.rec.xz"} {
		if got, err := read(t, root, name+"/body"); err != nil || got != string(content[3:]) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	for _, name := range []string{"x.rec.xz", "z.rec.bz2"} {
		if got, err := read(t, root, name+"/body"); err != nil || got != "tiny\n" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got, err := read(t, root, "lump.lump.gz/raw"); err != nil || got == "LUMPx" {
		t.Errorf("raw is not the compressed file: %q, %v", got, err)
	}
	if _, err := read(t, root, "no.lump.gz"); err != nil {
		t.Errorf("a compressed file of another kind: %v", err)
	}
}

func TestCompressedBroken(t *testing.T) {
	gz := formatstest.Gzip(t, formatstest.Compressible(1000))
	_, root := mount(t, map[string]string{
		"none.rec.xz":  "plain text",
		"empty.rec.gz": "",
		"cut.rec.gz":   string(gz[:len(gz)-20]),
		"head.rec.gz":  string(gz[:11]),
	}, Options{})
	for name, want := range map[string]string{
		"none.rec.xz/error.txt":  "format: rec\noffset: 0\nreason: it is neither xz, zstd, gzip nor bzip2, which its name says\n",
		"empty.rec.gz/error.txt": "format: rec\noffset: 0\nreason: the file is empty\n",
		"head.rec.gz/error.txt": "format: rec\noffset: 0\nreason: nothing can be decompressed: " +
			"the gzip stream is damaged near offset 11 of the file: the compressed data ends too early\n",
	} {
		if got, err := read(t, root, name); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got, err := read(t, root, "cut.rec.gz/body"); err != nil || len(got) < 900 || !strings.HasPrefix(string(formatstest.Compressible(1000)[3:]), got) {
		t.Errorf("cut.rec.gz: %d bytes, %v", len(got), err)
	}
}

// newArchiveIn returns an archive of dir with a disk cache in disk. In its
// memory recordings from 1 MiB on are large.
func newArchiveIn(t testing.TB, dir, disk string, limit int64) nodes.Dir {
	root, _ := newArchiveWith(t, dir, disk, limit, 4<<20)
	return root
}

// newArchiveWith returns an archive of dir with limit bytes in disk, if there
// is one, and budget bytes in memory.
func newArchiveWith(t testing.TB, dir, disk string, limit, budget int64) (nodes.Dir, *cache.Cache) {
	t.Helper()
	opt := Options{}
	store := cache.Store(nil)
	if disk != "" {
		opt.Disk = cache.NewDisk(disk, limit, nil)
		store = opt.Disk
	}
	c := cache.New(budget, store)
	t.Cleanup(c.Close)
	return New(formatstest.OpenLocal(t, dir), append([]formats.Format{streaming}, testFormats...), c, opt), c
}

func copies(t *testing.T, disk string) int {
	t.Helper()
	for _, name := range below(disk, "tmp-*") {
		t.Errorf("left behind: %s", name)
	}
	return len(below(disk, "*.zst"))
}

// below returns the files below a directory whose names match a pattern.
func below(dir, pattern string) (names []string) {
	filepath.WalkDir(dir, func(name string, e os.DirEntry, _ error) error {
		if ok, _ := filepath.Match(pattern, filepath.Base(name)); ok && e != nil {
			names = append(names, name)
		}
		return nil
	})
	return names
}

func TestCompressedLarge(t *testing.T) {
	content := formatstest.Compressible(2_500_000)
	dir, disk := t.TempDir(), t.TempDir()
	write(t, dir, "a.rec.gz", string(formatstest.Gzip(t, content)))
	write(t, dir, "b.stream.gz", string(formatstest.Gzip(t, content)))
	write(t, dir, "c.rec.zst", string(packSeekable(t, content, 300_000)))
	gz := formatstest.Gzip(t, content)
	write(t, dir, "cut.rec.gz", string(gz[:len(gz)-1000]))

	for _, where := range []string{disk, disk, ""} { // made, reused, none
		root := newArchiveIn(t, dir, where, 1<<30)
		for _, name := range []string{"a.rec.gz", "b.stream.gz", "c.rec.zst"} {
			if got, err := read(t, root, name+"/body"); err != nil || got != string(content[3:]) {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
			checkRandomReads(t, root, name+"/raw", dir)
		}
		got, err := read(t, root, "cut.rec.gz/body")
		if err != nil || len(got) < 2_400_000 || string(content[3:][:len(got)]) != got {
			t.Errorf("cut.rec.gz: %d bytes, %v", len(got), err)
		}
	}
	// Two files of the same bytes share one.
	if n := copies(t, disk); n != 2 {
		t.Errorf("%d copies in the disk cache, want 2", n)
	}
}

// checkRandomReads holds a file of the mount against one of the source.
func checkRandomReads(t *testing.T, root nodes.Dir, name, dir string) {
	t.Helper()
	e, err := nodes.Lookup(t.Context(), root, name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.File.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(dir, filepath.Dir(name)))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		off := rand.IntN(len(want))
		b := make([]byte, min(rand.IntN(1<<20)+1, len(want)-off))
		if _, err := c.ReadAt(t.Context(), b, int64(off)); err != nil && err != io.EOF || !bytes.Equal(b, want[off:off+len(b)]) {
			t.Errorf("%s at %d+%d: %v", name, off, len(b), err)
		}
	}
}

// A bomb is a recording up to where it is too much, before that was met and after, for all who look
// and in every mount.
func TestCompressedBomb(t *testing.T) {
	nodestest.Long(t)
	now := time.Now()
	synctest.Test(t, func(t *testing.T) { // streams are closed when nobody has read them for a while
		time.Sleep(time.Until(now)) // which the kernel's clock says of files
		testCompressedBomb(t)
	})
}

func testCompressedBomb(t *testing.T) {
	dir, disk := t.TempDir(), t.TempDir()
	bomb := packZstd(t, append([]byte("REC"), make([]byte, 80<<20)...))
	write(t, dir, "bomb.rec.zst", string(bomb))
	write(t, dir, "bomb.stream.zst", string(bomb))
	write(t, dir, "bomb.zip", string(packZip(t, zip.Deflate, entry{"in.stream", "REC" + string(make([]byte, 80<<20))})))
	var want map[string]string
	for _, disk := range []string{disk, disk, ""} {
		root, c := newArchiveWith(t, dir, disk, 1<<30, 64<<20)
		for range 2 {
			got := showSums(t, root)
			if want == nil {
				want = got
			}
			wantTree(t, got, want)
		}
		// A request can have all memory after that.
		if err := c.Do(t.Context(), 1<<30, func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
		// With streams that nobody reads go copies that are not whole.
		nodestest.Eventually(t, "the end of copies", func() bool { return len(below(disk, "tmp-*")) == 0 })
		if disk != "" && copies(t, disk) != 0 {
			t.Error("the bomb is in the disk cache")
		}
	}
	for _, name := range []string{"bomb.rec.zst", "bomb.stream.zst", "bomb.zip/in.stream"} {
		n := 0
		fmt.Sscan(want[name+"/body"], &n)
		if _, isDamaged := want[name+"/error.txt"]; n <= 64<<20 || n >= 80<<20 || isDamaged {
			t.Errorf("%s: %d bytes, error.txt: %v", name, n, isDamaged)
		}
	}
}

// A disk cache that is too small, or cannot be written, changes nothing that
// can be read.
func TestCompressedWithoutRoom(t *testing.T) {
	content := formatstest.Compressible(2_500_000)
	dir := t.TempDir()
	write(t, dir, "a.rec.gz", string(formatstest.Gzip(t, content)))
	for _, limit := range []int64{1 << 20, 0} {
		root := newArchiveIn(t, dir, t.TempDir(), limit)
		if got, err := read(t, root, "a.rec.gz/body"); err != nil || got != string(content[3:]) {
			t.Errorf("limit %d: %d bytes, %v", limit, len(got), err)
		}
	}
}

// A damaged copy in the disk cache is made again.
func TestCompressedDamagedCopy(t *testing.T) {
	content := formatstest.Compressible(2_500_000)
	dir, disk := t.TempDir(), t.TempDir()
	write(t, dir, "a.rec.gz", string(formatstest.Gzip(t, content)))
	for _, hurt := range []func(b []byte) []byte{
		func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		func(b []byte) []byte { return b[:len(b)/2] },
		func([]byte) []byte { return nil },
	} {
		root := newArchiveIn(t, dir, disk, 1<<30)
		if got, err := read(t, root, "a.rec.gz/body"); err != nil || got != string(content[3:]) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		filepath.WalkDir(disk, func(name string, _ os.DirEntry, _ error) error {
			if strings.HasSuffix(name, ".zst") {
				b, err := os.ReadFile(name)
				if err == nil {
					err = os.WriteFile(name, hurt(b), 0o600)
				}
				if err != nil {
					t.Error(err)
				}
			}
			return nil
		})
		root = newArchiveIn(t, dir, disk, 1<<30)
		if got, err := read(t, root, "a.rec.gz/body"); err != nil || got != string(content[3:]) {
			t.Errorf("with a damaged copy: %d bytes, %v", len(got), err)
		}
	}
}

// A seekable file whose frame is damaged is taken as a plain stream: what is before the damage can
// be read.
func TestSeekableDamaged(t *testing.T) {
	content := formatstest.Compressible(1_000_000)
	b := packSeekable(t, content, 100_000)
	b[len(b)*7/10] ^= 1
	dir := t.TempDir()
	write(t, dir, "a.rec.zst", string(b))
	root := newArchiveIn(t, dir, "", 0)
	got, err := read(t, root, "a.rec.zst/body")
	if err != nil || len(got) < 600_000 || string(content[3:][:len(got)]) != got {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// counted is a format whose directory has an entry for each 1000 bytes, to count which all of them
// are read.
var counted = formatstest.Plain(formats.Format{
	Name:       "counted",
	Extensions: []string{".counted"},
	Match:      func(head []byte) bool { return bytes.HasPrefix(head, []byte("COUNT")) },
}, func(ctx context.Context, in formats.Input) error {
	_, err := in.ReadAt(ctx, make([]byte, 5), 0)
	return err
}, func(in formats.Input, _ *cache.Cache) nodes.Dir {
	return nodes.List(nodes.Entry{Name: "parts", Dir: countedParts{in}}, in.RawEntry())
})

type countedParts struct{ in formats.Input }

func (d countedParts) Len(ctx context.Context) (int, error) {
	n, err := d.in.ReadAt(ctx, make([]byte, d.in.Size), 0)
	if err == io.EOF {
		err = nil
	}
	return n / 1000, err
}

func (countedParts) At(_ context.Context, i int) (nodes.Entry, error) {
	return nodes.Entry{Name: fmt.Sprint(i), File: nodes.Bytes(nil)}, nil
}

func (countedParts) Find(_ context.Context, name string) (int, error) { return strconv.Atoi(name) }

// Whoever goes through a recording once has the same of it, and one whose first frame is damaged
// says where.
func TestSeekableDamagedOnce(t *testing.T) {
	content := append([]byte("COUNT"), formatstest.Compressible(1_000_000)...)
	for at, want := range map[int]string{7: "parts", 0: "error.txt"} {
		b := packSeekable(t, content, 100_000)
		b[max(30, len(b)*at/10)] ^= 1
		dir := t.TempDir()
		write(t, dir, "a.counted.zst", string(b))
		root := New(formatstest.OpenLocal(t, dir), []formats.Format{counted}, formatstest.NewCache(t), Options{})
		e, err := nodes.Lookup(t.Context(), root, "a.counted.zst")
		if err != nil {
			t.Fatal(err)
		}
		first, err := nodes.Child(t.Context(), e.Dir, want)
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		if first.Dir == nil {
			if text, err := nodes.ReadAll(t.Context(), first.File); err != nil || !strings.Contains(string(text), "offset: 0\nreason: nothing can be decompressed") {
				t.Errorf("%s: %q, %v", want, text, err)
			}
		} else if n, err := first.Dir.Len(t.Context()); err != nil || n < 600 || n > 800 {
			t.Errorf("%s: %d entries, %v", want, n, err)
		}
	}
}

// A large recording that does not open is not read to its end, where this one is cut, to say so.
func TestCompressedLargeBroken(t *testing.T) {
	b := make([]byte, 8<<20)
	rand.NewChaCha8([32]byte{}).Read(b)
	gz := formatstest.Gzip(t, b)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cut.stream.gz"), gz[:len(gz)-20], 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := read(t, newArchiveIn(t, dir, t.TempDir(), 1<<30), "cut.stream.gz/error.txt")
	if want := "format: streaming\noffset: 0\nreason: no magic\n"; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
}

// A copy is of one state of the file, and so is one of a file in a container:
// that somebody rewrote it and set its time back is seen.
func TestCopyRewrittenUnseen(t *testing.T) {
	nodestest.Long(t)
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells when a file was changed last")
	}
	content := make([]byte, 6<<20)
	rand.NewChaCha8([32]byte{}).Read(content)
	copy(content, "REC")
	z, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(false))
	if err != nil {
		t.Fatal(err)
	}
	packed := z.EncodeAll(content, nil) // it is stored: one byte more or less changes no other
	dir, disk := t.TempDir(), t.TempDir()
	files := map[string][]byte{"a.rec.zst": packed, "b.tar": formatstest.Tar(t, entry{"c.rec.zst", string(packed)})}
	bodies := map[string]string{}
	for round := range 2 {
		for name, b := range files {
			if round == 1 {
				b[2<<20] ^= 1 // none of the samples in the name of the copy
			}
			write(t, dir, name, string(b))
			if err := os.Chtimes(filepath.Join(dir, name), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}
		root := newArchiveIn(t, dir, disk, 1<<30)
		for _, name := range []string{"a.rec.zst", "b.tar/c.rec.zst"} {
			got, err := read(t, root, name+"/body")
			if err != nil || len(got) != len(content)-3 || got == bodies[name] {
				t.Errorf("%s: %d bytes, %v, or those it had before", name, len(got), err)
			}
			bodies[name] = got
		}
		time.Sleep(20 * time.Millisecond)
	}
}
