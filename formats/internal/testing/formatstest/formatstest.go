// Package formatstest has what the tests of several rooms of formats share.
package formatstest

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/recordings"
	"recfs/formats/source"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// BytesInput returns a formats.Input of bytes in memory.
func BytesInput(name string, b []byte, modified time.Time) formats.Input {
	return formats.Input{
		ReaderAt: nodes.BytesContent(b), Name: name,
		Size: int64(len(b)), Stored: int64(len(b)), ModTime: modified,
	}
}

// Forged holds a format to its saved index being only a claim, for each of the samples (files that
// [nodestest.Sample] reads): see [nodestest.Forged].
func Forged(t *testing.T, format formats.Format, samples ...string) {
	t.Helper()
	for _, sample := range samples {
		b := nodestest.Sample(t, sample)
		nodestest.Forged(t, 20, func(t testing.TB, shelf *nodestest.Shelf) nodes.Dir {
			c := cache.New(64<<20, shelf)
			t.Cleanup(c.Close)
			in := BytesInput("sample", b, time.Unix(1e9, 0))
			in.Stamp = formats.Stamp{Size: in.Size, Changed: 1}
			Keep(&in, shelf)
			dir, err := Open(t.Context(), format, in, c)
			if err != nil {
				t.Fatal(err)
			}
			Try(t.Context(), dir)
			return dir
		})
	}
}

// Key is that of the content of all recordings that Keep was told of.
const Key = "00000000000000000000000000000000000000000000000000000000000000aa"

// Keep makes what is kept of a recording lie in a store, which may be nil, whatever its bytes are.
func Keep(in *formats.Input, store cache.Store) {
	if store == nil {
		return
	}
	key := func(context.Context) (string, error) { return Key, nil }
	in.Content = formats.NewContents(smallShelf{store}).Of(in.Name, in.Stamp, key)
}

// A smallShelf has so few things that each may be there.
type smallShelf struct{ cache.Store }

func (smallShelf) Mark(uint64)        {}
func (smallShelf) Marked(uint64) bool { return true }

func (smallShelf) Elsewhere(string) bool { return false }

// Prefixes holds a format to Format.Prefixes: the index of each sample that is made in stretches,
// of which some are saved in between, is that of one pass.
func Prefixes(t *testing.T, format formats.Format, samples ...[]byte) {
	t.Helper()
	if !format.Prefixes {
		t.Fatal("the format does not say that it can")
	}
	for n, b := range samples {
		in := BytesInput("sample", b, time.Unix(1e9, 0))
		want := stretched(t, format, in, int64(len(b)))
		random := rand.New(rand.NewPCG(1, uint64(n)))
		for range nodestest.Times(10, 2) {
			var ends []int64
			for range 1 + random.IntN(8) {
				ends = append(ends, in.Size/3+random.Int64N(in.Size*2/3)) // behind the head
			}
			slices.Sort(ends)
			ends = append(ends, in.Size)
			if got := stretched(t, format, in, ends...); !bytes.Equal(got, want) {
				t.Errorf("sample %d: another index when made in stretches to %d", n, ends)
			}
		}
	}
}

// stretched returns the saved index of in, made in stretches that end there.
func stretched(t *testing.T, format formats.Format, in formats.Input, ends ...int64) (saved []byte) {
	t.Helper()
	h, err := format.Open(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	var x formats.Index
	for i, end := range ends {
		part := in
		part.ReaderAt, part.Size = nodes.SectionContent(in.ReaderAt, 0, end), end
		if x, err = format.Scan(t.Context(), part, h, x); err != nil {
			t.Fatalf("to %d: %v", end, err)
		}
		saved = x.Append(nil)
		if i%2 == 1 {
			if x, err = format.ReadIndex(in, h, saved); err != nil {
				t.Fatalf("saved at %d: %v", end, err)
			}
		}
	}
	return saved
}

// Growing cuts a recording after every step bytes from first on, as if it were just being written:
// each file that grows begins in the whole recording with what it has then. Those of the whole
// recording, raw left out, are to be the names.
func Growing(t *testing.T, format formats.Format, b []byte, first, step int, names ...string) {
	t.Helper()
	files := func(n int) map[string]string {
		in := BytesInput("sample"+strings.Join(format.Extensions, ""), b[:n], time.Unix(1e9, 0))
		in.Grows, in.Running = true, n < len(b)
		root, err := Open(t.Context(), format, in, NewCache(t))
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]string{}
		err = nodes.Walk(t.Context(), root, func(name string, e nodes.Entry, err error) error {
			if err != nil || !e.Grows || name == "raw" {
				return err
			}
			if text, err := nodes.ReadAll(t.Context(), e.File); err == nil { // else there is nothing of it yet
				files[name] = string(text)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	whole := files(len(b))
	for n := first; n < len(b); n += step {
		for name, text := range files(n) {
			if all := whole[name]; !strings.HasPrefix(all, text) {
				at := 0
				for at < min(len(text), len(all)) && text[at] == all[at] {
					at++
				}
				t.Errorf("%s has of %d bytes at %d %.80q, of all %.80q", name, n, at, text[at:], all[at:])
			}
		}
	}
	if got := slices.Sorted(maps.Keys(whole)); !slices.Equal(got, names) {
		t.Errorf("%q grow, not %q", got, names)
	}
}

// Open returns the tree of a recording.
func Open(ctx context.Context, format formats.Format, in formats.Input, c *cache.Cache) (nodes.Dir, error) {
	o, err := recordings.OpenOne(ctx, recordings.Source{Format: &format, Input: in}, c, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	return o.Dir, nil
}

// Plain completes a format for tests whose recordings are opened by open, which looks whether they
// do, and have neither a head nor an index to speak of.
func Plain(f formats.Format, open func(context.Context, formats.Input) error, tree func(formats.Input, *cache.Cache) nodes.Dir) formats.Format {
	f.Open = func(ctx context.Context, in formats.Input) (formats.Head, error) { return blank{}, open(ctx, in) }
	f.ReadHead = func(context.Context, formats.Input, []byte) (formats.Head, error) { return blank{}, nil }
	f.Scan = func(context.Context, formats.Input, formats.Head, formats.Index) (formats.Index, error) {
		return blank{}, nil
	}
	f.ReadIndex = func(formats.Input, formats.Head, []byte) (formats.Index, error) { return blank{}, nil }
	f.Tree = func(rec formats.Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
		return tree(rec.Input, c), nil
	}
	f.Summary = func(context.Context, formats.Recording, formats.Index) (formats.Summary, error) {
		return formats.Summary{}, nil
	}
	return f
}

// blank is a head and an index of nothing.
type blank struct{}

func (blank) Append(b []byte) []byte { return b }
func (blank) Memory() int64          { return 0 }
func (blank) Reach(string) int64     { return 0 }

// Gzip returns b as a gzip file.
func Gzip(t testing.TB, b []byte) []byte {
	t.Helper()
	return Packed(t, b, func(w io.Writer) (*gzip.Writer, error) { return gzip.NewWriterLevel(w, gzip.BestSpeed) })
}

// Packed returns what is written of b by the writer that open returns.
func Packed[W io.WriteCloser](t testing.TB, b []byte, open func(io.Writer) (W, error)) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := open(&buf)
	if err == nil {
		_, err = w.Write(b)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// ZstdWindow returns b as a zstd frame that asks for a window and does not tell its size.
func ZstdWindow(t testing.TB, b []byte, window int) []byte {
	t.Helper()
	var buf bytes.Buffer
	z, err := zstd.NewWriter(&buf, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	for len(b) > 0 && err == nil { // in pieces, so that the frame does not tell its size
		n := min(len(b), 1<<20)
		_, err = z.Write(b[:n])
		b = b[n:]
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// A Member is the name and the content of one of a tar or zip. A name that ends in / is a
// directory, content that begins with -> a symbolic link, and with => a hard link.
type Member [2]string

// Tar returns a tar of members.
func Tar(t testing.TB, members ...Member) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, m := range members {
		name, content := m[0], m[1]
		h := &tar.Header{Name: name, Size: int64(len(content)), Mode: 0o644, ModTime: time.Unix(1e9, 0), Typeflag: tar.TypeReg}
		if target, ok := strings.CutPrefix(content, "->"); ok {
			h.Typeflag, h.Linkname, h.Size, content = tar.TypeSymlink, target, 0, ""
		} else if target, ok := strings.CutPrefix(content, "=>"); ok {
			h.Typeflag, h.Linkname, h.Size, content = tar.TypeLink, target, 0, ""
		} else if strings.HasSuffix(name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// OpenLocal opens a directory until the test ends.
func OpenLocal(t testing.TB, dir string) *source.Local {
	t.Helper()
	local, err := source.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	return local
}

// NewCache returns a cache of 64 MiB without a disk, until the test ends.
func NewCache(t testing.TB) *cache.Cache {
	c := cache.New(64<<20, nil)
	t.Cleanup(c.Close)
	return c
}

// AppendTo appends to a file.
func AppendTo(t testing.TB, name, more string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(more); err != nil {
		t.Fatal(err)
	}
}

// Compressible returns n bytes that begin with REC and compress to about a half.
func Compressible(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[r.IntN(16)]
	}
	copy(b, "REC")
	return b
}

// CPU returns the processor time that the process has used: on a busy machine the only time that
// says something.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
