package unpack_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	seekable "github.com/SaveTheRbtz/zstd-seekable-format-go/pkg"
	"github.com/klauspost/compress/zstd"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/source"
	"recfs/formats/unpack"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// ticks is what the packed samples give: xz and bzip2 by their own programs, the others by
// packages.
var ticks = func() []byte {
	var b bytes.Buffer
	for i := range 60 {
		fmt.Fprintf(&b, "tick %d of many\n", i)
	}
	return b.Bytes()
}()

const (
	ticksXZ = "/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4AO1AGldADoaSI3M+U+uWD+2dTs4zFGMKdhUVU1wEN69rbnXRu86LZDE6f/MQmURIyr4UBLtBs+Ows4g2B2GKaNF" +
		"TjPcK1Tk2O3l5Iedo+3UdE5z80VOiXmW3NlcNkDlXwq2UvqbR6B9rGOTsq//rAAAAAAQ4RFttQH7hgABhQG2BwAAxX8ejbHEZ/sCAAAAAARZWg=="
	ticksBzip2 = "QlpoOTFBWSZTWTjlDecAAZ9ZgAAQQAB/4CkrhCAwAKMGVGfqqPfqqDQAUaMgaNMjQRUh6gGg09J+ktvqS2+ZLbxy2256enXt345ruqq8lcKqirlVcqqKuMYxxrWtayAGZYG4GJ" +
		"YBgN5YAZNpYABbAAAAAAilIiIsCtgVkFbgrIK7ArIK0BWQVuCv4u5IpwoSBxyhvOA="
)

// A sample is a file that gives ticks.
type sample struct {
	c      unpack.Compression
	packed []byte
}

// samples are ticks in every compression, by the name of a file.
func samples(t testing.TB) map[string]sample {
	t.Helper()
	list := map[string]sample{"a.gz": {unpack.Gzip, formatstest.Gzip(t, ticks)}, "a.zst": {unpack.Zstd, formatstest.ZstdWindow(t, ticks, 1<<20)}}
	for name, text := range map[string]string{"a.xz": ticksXZ, "a.bz2": ticksBzip2} {
		packed, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		c := unpack.XZ
		if name == "a.bz2" {
			c = unpack.Bzip2
		}
		list[name] = sample{c, packed}
	}
	return list
}

// opened opens a file whose bytes are packed.
func opened(t testing.TB, name string, packed []byte) (unpack.Content, error) {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, dir, name, packed)
	p, k := openUnpacker(t, dir, name, "")
	return p.Open(t.Context(), k, formats.BytesReader(packed), unpack.Choice{})
}

// whole returns all bytes of a content.
func whole(t testing.TB, c unpack.Content) []byte {
	t.Helper()
	b, err := io.ReadAll(nodes.Reader(t.Context(), nodes.SectionContent(c, 0, c.Size)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Files are told by their first bytes, whatever their names, and may have several streams one after
// the other.
func TestCompressions(t *testing.T) {
	for name, s := range samples(t) {
		skipped := append([]byte{0x5d, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3}, s.packed...)
		for what, c := range map[string]struct{ packed, want []byte }{
			"one":                       {s.packed, ticks},
			"two":                       {slices.Concat(s.packed, s.packed), slices.Concat(ticks, ticks)},
			"behind a skippable frame":  {skipped, ticks},
			"padding as xz has it":      {append(bytes.Clone(s.packed), 0, 0, 0, 0), ticks},
			"padding as gzip(1) knows":  {append(bytes.Clone(s.packed), make([]byte, 600)...), ticks},
			"nothing, in one more file": {append(bytes.Clone(s.packed), formatstest.Gzip(t, nil)...), ticks},
		} {
			switch {
			case what == "behind a skippable frame" && s.c.Name != "zstd", what == "padding as xz has it" && s.c.Name != "xz",
				what == "nothing, in one more file" && s.c.Name != "gzip", what == "padding as gzip(1) knows" && s.c.Name != "gzip":
				continue
			}
			content, err := opened(t, "another name", c.packed)
			if err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
				continue
			}
			if got := whole(t, content); !bytes.Equal(got, c.want) || content.Size != int64(len(c.want)) {
				t.Errorf("%s, %s: %d bytes, Size says %d, want %d", name, what, len(got), content.Size, len(c.want))
			}
			if d, err := content.Damage(t.Context()); d != nil || err != nil {
				t.Errorf("%s, %s: damage %v, %v", name, what, d, err)
			}
		}
	}
}

// Of an xz file with a wrong byte, what comes before that byte is shown, but for a little.
func TestDamagedXZ(t *testing.T) {
	packed, err := base64.StdEncoding.DecodeString(ticksXZ)
	if err != nil {
		t.Fatal(err)
	}
	packed[len(packed)-45] ^= 1 // near the end of the data, of which nothing more than this can be wrong
	content, err := opened(t, "a.xz", packed)
	if err != nil {
		t.Fatal(err)
	}
	if got := whole(t, content); len(got) < 780 || !bytes.HasPrefix(ticks, got[:780]) {
		t.Errorf("%d bytes, %q", len(got), got)
	}
}

// Of a zstd frame with a wrong byte, all blocks before that with the byte are shown.
func TestDamagedZstd(t *testing.T) {
	const block = 128 << 10
	content := formatstest.Compressible(8 * block)
	sound := formatstest.ZstdWindow(t, content, 1<<20)
	var h zstd.Header
	if err := h.Decode(sound); err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for at, last := h.HeaderSize, false; !last; blocks++ {
		head := int(sound[at]) | int(sound[at+1])<<8 | int(sound[at+2])<<16
		last = head&1 != 0
		size := head >> 3
		for _, off := range []int{3, 3 + size/2} {
			packed := bytes.Clone(sound)
			packed[at+off] ^= 0xff
			c, err := opened(t, "a.zst", packed)
			if blocks == 0 && err != nil { // nothing comes before it
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := whole(t, c); len(got) < blocks*block || !bytes.Equal(got[:blocks*block], content[:blocks*block]) {
				t.Errorf("block %d is damaged at %d: %d bytes, want %d", blocks, off, len(got), blocks*block)
			}
		}
		at += 3 + size
	}
	if blocks < 8 {
		t.Errorf("%d blocks", blocks)
	}
}

// What is behind a gzip file is damage unless it is some zeros and nothing else.
func TestBehindGzip(t *testing.T) {
	packed := formatstest.Gzip(t, ticks)
	for what, behind := range map[string][]byte{
		"a byte": {1}, "a byte behind zeros": append(make([]byte, 600), 1), "a file behind zeros": append(make([]byte, 600), packed...),
		"too many zeros": make([]byte, 2<<20),
	} {
		content, err := opened(t, "a.gz", slices.Concat(packed, behind))
		if err != nil {
			t.Fatal(err)
		}
		if d, err := content.Damage(t.Context()); d == nil || err != nil || !bytes.Equal(whole(t, content), ticks) {
			t.Errorf("%s: %d bytes, damage %v, %v", what, content.Size, d, err)
		}
	}
}

// What is not compressed does not open, and says why.
func TestNotCompressed(t *testing.T) {
	for text, want := range map[string]error{"": io.ErrUnexpectedEOF, "hello": formats.ErrCorrupt, "\x1f": formats.ErrCorrupt, "\x28\xb5\x2f": formats.ErrCorrupt, "\x60\x2a\x4d\x18": formats.ErrCorrupt} {
		if _, err := opened(t, "a.gz", []byte(text)); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	dir := t.TempDir()
	for name, s := range samples(t) {
		writeFile(t, dir, name, s.packed)
		p, k := openUnpacker(t, dir, name, "")
		if b, hurt, err := p.Head(t.Context(), k, s.packed); !bytes.Equal(b, ticks[:formats.HeadSize]) || hurt != nil || err != nil {
			t.Errorf("%s begins with %d bytes, %v, %v", name, len(b), hurt, err)
		}
		if b, hurt, err := p.Head(t.Context(), k, []byte("REC")); b != nil || hurt != nil || err != nil {
			t.Errorf("what is not compressed begins with %q, %v, %v", b, hurt, err)
		}
	}
}

// Wherever a file is cut or changed, what came out before is right, and the damage says how much
// that is.
func TestCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "a", nil)
	p, _ := openUnpacker(t, dir, "a", "")
	check := func(what string, c unpack.Compression, packed []byte) {
		b := make([]byte, len(ticks)+10)
		n, err := p.First(t.Context(), c, formats.BytesReader(packed), int64(len(packed)), b)
		hurt := (*unpack.Damage)(nil)
		switch {
		case !bytes.HasPrefix(ticks, b[:n]):
			if c.Name == "bzip2" || err == io.EOF { // the others tell only at the end that a byte was wrong
				t.Errorf("%s: %d bytes that were not compressed, %v", what, n, err)
			}
		case err == io.EOF && n == len(ticks):
		case !errors.As(err, &hurt) || hurt.Compression != c.Name || hurt.Size != int64(n) || hurt.Stored > int64(len(packed)) || hurt.Err == nil:
			t.Errorf("%s: %d bytes, %v", what, n, err)
		case hurt.Problem().Code != "bad_compression" || hurt.Problem().Offset != int64(n) || !strings.Contains(hurt.Problem().Message, c.Name):
			t.Errorf("%s: %+v", what, hurt.Problem())
		}
	}
	for name, s := range samples(t) {
		for n := range s.packed {
			if n > 0 {
				check(fmt.Sprintf("%s cut at %d", name, n), s.c, s.packed[:n])
			}
			b := bytes.Clone(s.packed)
			b[n] ^= 0x10
			check(fmt.Sprintf("%s changed at %d", name, n), s.c, b)
		}
		last := slices.Concat(s.packed, s.packed[:len(s.packed)-1])
		content, err := opened(t, name, last)
		if d, damageErr := content.Damage(t.Context()); err != nil || damageErr != nil || d == nil || d.Size != content.Size || !bytes.HasPrefix(whole(t, content), ticks) {
			t.Errorf("%s without its last byte: %d bytes, %v, %v", name, content.Size, d, err)
		}
		if s.c.Name == "zstd" || s.c.Name == "gzip" { // four bytes before the end there is no more than a checksum
			content, err := opened(t, name, s.packed[:len(s.packed)-4])
			if err != nil || !bytes.Equal(whole(t, content), ticks) {
				t.Errorf("%s without its last four bytes: %d bytes, %v", name, content.Size, err)
			}
		}
		var e *formats.Error
		if _, err := opened(t, name, s.packed[:9]); !errors.As(err, &e) || e.Format != s.c.Name || e.Offset != 0 {
			t.Errorf("%s of nine bytes: %v", name, err)
		}
	}
}

// A read that fails is no damage: what is kept of it would be wrong.
func TestReadFails(t *testing.T) {
	broken := errors.New("broken")
	dir := t.TempDir()
	for name, s := range samples(t) {
		writeFile(t, dir, name, s.packed)
		p, k := openUnpacker(t, dir, name, "")
		for _, after := range []int64{0, 8, int64(len(s.packed)) / 2} {
			raw := failing{formats.BytesReader(s.packed), after, broken}
			hurt := (*unpack.Damage)(nil)
			if _, err := p.First(t.Context(), s.c, raw, k.Version.Size, make([]byte, 2000)); !errors.Is(err, broken) || errors.As(err, &hurt) {
				t.Errorf("%s after %d bytes: %v", name, after, err)
			}
			if _, err := p.Open(t.Context(), k, raw, unpack.Choice{}); !errors.Is(err, broken) || errors.As(err, &hurt) {
				t.Errorf("%s opened after %d bytes: %v", name, after, err)
			}
		}
		content, err := p.Open(t.Context(), k, formats.BytesReader(s.packed), unpack.Choice{})
		if err != nil || !bytes.Equal(whole(t, content), ticks) {
			t.Errorf("%s, when it can be read again: %v", name, err)
		}
	}
}

// A failing reader has an error from an offset on.
type failing struct {
	nodes.ReaderAt
	from int64
	err  error
}

func (f failing) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if off+int64(len(p)) <= f.from {
		return f.ReaderAt.ReadAt(ctx, p, off)
	}
	n, _ := f.ReaderAt.ReadAt(ctx, p[:max(0, f.from-off)], off)
	return n, f.err
}

// A frame of zstd may ask for a window of 128 MiB, and not for more.
func TestLargestWindow(t *testing.T) {
	for descriptor, want := range map[byte]error{17 << 3: nil, 17<<3 | 1: errors.ErrUnsupported, 31<<3 | 7: errors.ErrUnsupported} {
		packed := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, descriptor, 3<<3 | 1, 0, 0, 'R', 'E', 'C'} // one stored block, the last
		dir := t.TempDir()
		writeFile(t, dir, "a.zst", packed)
		local := formatstest.OpenLocal(t, dir)
		c := cache.New(600<<20, nil) // of which decoders may have enough
		defer c.Close()
		p := unpack.New(source.NewFiles(local, c), c, unpack.Options{Log: slog.New(slog.DiscardHandler)})
		content, err := p.Open(t.Context(), keyOf(t, dir, "a.zst"), formats.BytesReader(packed), unpack.Choice{})
		switch {
		case want == nil && (err != nil || string(whole(t, content)) != "REC"):
			t.Errorf("window %#x: %v", descriptor, err)
		case want != nil && !errors.Is(err, want):
			t.Errorf("window %#x: %v, want %v", descriptor, err, want)
		}
	}
}

// packSeekable returns b as seekable zstd in frames of so many bytes.
func packSeekable(t testing.TB, b []byte, frame int) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	w, err := seekable.NewWriter(&buf, z)
	for part := range slices.Chunk(b, frame) {
		if err == nil {
			_, err = w.Write(part)
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// A seekable file is read frame by frame, and as a plain stream if its table is not to be trusted.
func TestSeekable(t *testing.T) {
	sent := formatstest.Compressible(300_000)
	packed := packSeekable(t, sent, 70_000)
	dir := t.TempDir()
	writeFile(t, dir, "a.zst", packed)
	p, k := openUnpacker(t, dir, "a.zst", "")
	raw := &nodestest.Counted{ReaderAt: formats.BytesReader(packed)}
	c, err := p.Open(t.Context(), k, raw, unpack.Choice{Listed: true})
	if err != nil || c.Size != int64(len(sent)) {
		t.Fatalf("%d bytes, %v", c.Size, err)
	}
	if n := raw.Bytes.Load(); n > 8<<10 {
		t.Errorf("%d of %d bytes are read to open it", n, len(packed))
	}
	random := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		off, b := random.IntN(len(sent)+10), make([]byte, random.IntN(100_000))
		n, err := c.ReadAt(t.Context(), b, int64(off))
		if want := sent[min(off, len(sent)):min(off+len(b), len(sent))]; !bytes.Equal(b[:n], want) || (err == io.EOF) != (n < len(b)) {
			t.Fatalf("%d bytes at %d: %d, %v", len(b), off, n, err)
		}
	}
	if _, err := c.ReadAt(t.Context(), make([]byte, 1), -1); !errors.Is(err, os.ErrInvalid) {
		t.Errorf("before the start: %v", err)
	}
	for what, spoiled := range map[string][]byte{
		"a table that is cut":        packed[:len(packed)-1],
		"a number of frames":         spoil(packed, len(packed)-9),
		"the size of a frame":        spoil(packed, len(packed)-9-12),
		"something before the table": slices.Concat(packed[:len(packed)-9-5*12-8], []byte{0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0}, packed[len(packed)-9-5*12-8:]),
	} {
		c, err := opened(t, "a.zst", spoiled)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if got := whole(t, c); !bytes.Equal(got, sent) {
			t.Errorf("%s: %d bytes", what, len(got))
		}
	}
	// A frame that is not what the table says is known when it is read: what a plain stream has is
	// read from then on.
	checksum, sizes, damaged := spoil(packed, len(packed)-9-4), slices.Clone(packed), spoil(packed, len(packed)/2)
	sizes[len(packed)-9-12-8]++ // one byte more of the last frame but one, one less of the last
	sizes[len(packed)-9-8]--
	for what, b := range map[string][]byte{"a frame of another checksum": checksum, "a frame of another size": sizes, "a damaged frame": damaged} {
		writeFile(t, dir, "a.zst", b)
		for _, how := range []unpack.Choice{{}, {Listed: true}, {Streams: true}, {Listed: true, Streams: true}} {
			p, k = openUnpacker(t, dir, "a.zst", "")
			if c, err = p.Open(t.Context(), k, formats.BytesReader(b), how); err != nil {
				t.Fatal(err)
			}
			n, lastErr := c.ReadAt(t.Context(), make([]byte, 10), 299_000)
			got, err := io.ReadAll(nodes.Reader(t.Context(), nodes.SectionContent(c, 0, 300_000)))
			hurt, damageErr := c.Damage(t.Context())
			switch {
			case how.Streams != (c.Size == formats.UnknownSize), how == unpack.Choice{} && c.Size != int64(len(got)), damageErr != nil:
				t.Errorf("%s, %+v: size %d, %d bytes, %v", what, how, c.Size, len(got), damageErr)
			case what != "a damaged frame":
				if n != 10 || lastErr != nil || err != nil || !bytes.Equal(got, sent) || hurt != nil {
					t.Errorf("%s, %+v: %d and %d bytes, %v, %v, damage %v", what, how, n, len(got), lastErr, err, hurt)
				}
			case len(got) < 100_000 || !bytes.HasPrefix(sent, got) || hurt == nil:
				t.Errorf("%s, %+v: %d and %d bytes, %v, damage %v", what, how, n, len(got), lastErr, hurt)
			case how == unpack.Choice{Listed: true} && !errors.As(err, &hurt):
				t.Errorf("%s, %+v: %v, want the damage", what, how, err)
			}
		}
	}
}

func spoil(b []byte, i int) []byte {
	b = bytes.Clone(b)
	b[i] ^= 1
	return b
}

// A file that gives far too much ends where it is too much, damaged, each time it is read.
func TestBomb(t *testing.T) {
	zeros := formatstest.ZstdWindow(t, make([]byte, 70<<20), 1<<20)
	dir := t.TempDir()
	writeFile(t, dir, "a.zst", zeros)
	disk := t.TempDir()
	p, k := openUnpacker(t, dir, "a.zst", disk)
	u := p.Expand(k, contentOf(t, dir, disk, k), unpack.Zstd, formats.BytesReader(zeros), 1<<30)
	if n, err := u.ReadAt(t.Context(), make([]byte, 100), 1<<20); n != 100 || err != nil {
		t.Errorf("before it is too much: %d bytes, %v", n, err)
	}
	said := ""
	for range 2 {
		if n, err := u.ReadAt(t.Context(), make([]byte, 100), 69<<20); n > 0 || err != io.EOF {
			t.Errorf("behind it: %d bytes, %v", n, err)
		}
		d, err := u.Damaged(t.Context())
		if err != nil || d == nil || !errors.Is(d, errors.ErrUnsupported) || d.Size <= 64<<20 || d.Size > 65<<20 || said != "" && d.Error() != said {
			t.Fatalf("its damage: %v, %v", d, err)
		}
		said = d.Error()
		if n, err := u.ReadAt(t.Context(), make([]byte, 100), d.Size-100); n != 100 || err != nil {
			t.Errorf("the last bytes: %d, %v", n, err)
		}
		p.CloseStreams()
	}
}

// A copy serves the next who reads the file, if it is of the same bytes and sound.
func TestCopies(t *testing.T) {
	sent := formatstest.Compressible(3_000_000)
	packed := formatstest.Gzip(t, sent)
	dir, disk := t.TempDir(), t.TempDir()
	writeFile(t, dir, "a.gz", packed)
	read := func(packed []byte) ([]byte, int64, *unpack.Damage) {
		t.Helper()
		p, k := openUnpacker(t, dir, "a.gz", disk)
		defer p.CloseStreams()
		raw := &nodestest.Counted{ReaderAt: formats.BytesReader(packed)}
		content := formats.NewContents(cache.NewDisk(disk, 1<<30, nil)).Of("a.gz", k.Version.Stamp, func(ctx context.Context) (string, error) {
			return formats.ContentKey(ctx, formats.BytesReader(packed), int64(len(packed)))
		})
		c, err := p.Open(t.Context(), k, raw, unpack.Choice{Content: content})
		if err != nil {
			t.Fatal(err)
		}
		b := whole(t, c)
		d, err := c.Damage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return b, raw.Bytes.Load(), d
	}
	if b, n, _ := read(packed); !bytes.Equal(b, sent) || n < int64(len(packed)) {
		t.Errorf("%d bytes of %d read", len(b), n)
	}
	if b, n, _ := read(packed); !bytes.Equal(b, sent) || n > 32<<10 {
		t.Errorf("with a copy: %d bytes of %d read", len(b), n)
	}
	// Damage between the samples by which copies are named leaves the name, but the copy is of other
	// bytes.
	hurt := spoil(packed, len(packed)/3)
	writeFile(t, dir, "a.gz", hurt)
	if b, _, d := read(hurt); bytes.Equal(b, sent) || d == nil {
		t.Errorf("another file has the copy: %d bytes, %v", len(b), d)
	}
	// The copy of a damaged file knows the damage.
	cut := packed[:len(packed)-100]
	writeFile(t, dir, "a.gz", cut)
	first, _, d := read(cut)
	again, n, same := read(cut)
	if !bytes.HasPrefix(sent, first) || !bytes.Equal(first, again) || d == nil || same == nil || d.Error() != same.Error() || n > 32<<10 {
		t.Errorf("%d bytes, %v; with the copy %d bytes of %d read, %v", len(first), d, len(again), n, same)
	}
	// Frames that are damaged in the copy are made again.
	writeFile(t, dir, "a.gz", packed)
	read(packed)
	err := filepath.WalkDir(disk, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && len(b) > 100_000 {
			err = os.WriteFile(path, spoil(b, len(b)/2), 0o600)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if b, n, d := read(packed); !bytes.Equal(b, sent) || d != nil || n < int64(len(packed)) {
		t.Errorf("a damaged copy: %d bytes of %d read, %v", len(b), n, d)
	}
}

// What a damage says, with and without bytes before it, and of a member that is not compressed.
func TestDamageText(t *testing.T) {
	cause := errors.New("cause\nand more")
	for _, c := range []struct {
		d    unpack.Damage
		want string
	}{
		{unpack.Damage{Compression: "xz", Stored: 5, Size: 7, Err: cause}, "the xz stream is damaged near offset 5 of the file, after 7 bytes of the recording: cause"},
		{unpack.Damage{Compression: "gzip", Stored: 5, Err: cause}, "nothing can be decompressed: the gzip stream is damaged near offset 5 of the file: cause"},
		{unpack.Damage{Stored: 5, Size: 7, Err: cause}, "cause"},
	} {
		if got := c.d.Error(); !strings.HasPrefix(got, c.want) || !errors.Is(&c.d, cause) {
			t.Errorf("%s, want %s", got, c.want)
		}
		if p := c.d.Problem(); p.Offset != c.d.Size || strings.Contains(p.Message, "\n") {
			t.Errorf("%+v", p)
		}
	}
}
