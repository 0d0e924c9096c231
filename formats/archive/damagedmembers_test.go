package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/klauspost/compress/zip"

	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/unpack"
	"recfs/nodes"
)

// zipParts are where the records of a zip with one member lie.
type zipParts struct {
	b               []byte
	data, directory int
}

// oneZip packs a member.
func oneZip(t *testing.T, method uint16, name string, content []byte) zipParts {
	b := packZip(t, method, entry{name, string(content)})
	le := binary.LittleEndian
	return zipParts{b, 30 + int(le.Uint16(b[26:])) + int(le.Uint16(b[28:])), bytes.LastIndex(b, []byte("PK\x01\x02"))}
}

// change returns the zip with a field of the directory changed.
func (z zipParts) change(field int, b ...byte) []byte {
	out := bytes.Clone(z.b)
	copy(out[z.directory+field:], b)
	return out
}

// number returns the zip with a number of the directory changed.
func (z zipParts) number(field int, by int32) []byte {
	le := binary.LittleEndian
	return z.change(field, le.AppendUint32(nil, le.Uint32(z.b[z.directory+field:])+uint32(by))...)
}

// Fields of an entry of the directory.
const (
	zipFlags, zipMethod, zipCRC, zipStored, zipSize, zipHeader = 8, 10, 16, 20, 24, 42
)

// readPart reads a file by as many bytes at a time until an error, as a program would.
func readPart(t *testing.T, root nodes.Dir, name string, step int) (string, error) {
	t.Helper()
	e, err := nodes.Lookup(t.Context(), root, name)
	if err != nil || e.File == nil {
		t.Fatalf("%s: %v, %v", name, e, err)
	}
	c, err := e.File.Open(t.Context())
	if err != nil {
		return "", err
	}
	var got []byte
	for b := make([]byte, step); ; {
		n, err := c.ReadAt(t.Context(), b[:min(int64(step), c.Size()-int64(len(got)))], int64(len(got)))
		got = append(got, b[:n]...)
		if int64(len(got)) == c.Size() {
			return string(got), nil
		}
		if err != nil && err != io.EOF {
			return string(got), err
		}
	}
}

// A member that is not whole gives its bytes up to the damage, however it is packed: as a recording
// it is that of a damaged stream, as a file the bytes and then an error that says what is wrong.
func TestDamagedMembers(t *testing.T) {
	content := formatstest.Compressible(20_000)
	deflated, stored := oneZip(t, zip.Deflate, "a", content), oneZip(t, zip.Store, "a", content)
	flipped := func(z zipParts, at int) []byte {
		b := bytes.Clone(z.b)
		b[z.data+at] ^= 0x40
		return b
	}
	tarball := formatstest.Tar(t, entry{"a", string(content)})
	gz := formatstest.Gzip(t, tarball)
	for name, test := range map[string]struct {
		ext    string
		packed []byte
		least  int    // bytes of the content that are there
		all    bool   // all of them, but one is wrong, or that is not known
		reason string // part of it
	}{
		"a byte of deflated data":      {"zip", flipped(deflated, len(content)/8), 1000, false, "deflate stream is damaged"},
		"a byte of stored data":        {"zip", flipped(stored, 100), 100, true, "its checksum is"},
		"the checksum of deflated":     {"zip", deflated.number(zipCRC, 1), len(content), true, "checksum"},
		"the checksum of stored":       {"zip", stored.number(zipCRC, 1), len(content), true, "its checksum is"},
		"less stored":                  {"zip", stored.number(zipStored, -1000), len(content) - 1000, false, "it has 19000 stored bytes, of 20000"},
		"less deflated":                {"zip", deflated.number(zipStored, -1000), 1000, false, "the compressed data ends too early"},
		"fewer bytes than deflated":    {"zip", deflated.number(zipSize, -1000), len(content) - 1000, true, "more bytes than the container says"},
		"more bytes than deflated":     {"zip", deflated.number(zipSize, 1000), len(content), false, "1000 bytes fewer than the container says"},
		"encrypted":                    {"zip", deflated.change(zipFlags, 1), 0, false, "it is encrypted"},
		"an unknown method":            {"zip", deflated.change(zipMethod, 99), 0, false, "unknown method 99"},
		"the place of the member":      {"zip", deflated.number(zipHeader, 7), 0, false, "no file at 7"},
		"cut in a tar":                 {"tar", tarball[:10_000], 10_000 - 512, false, "the container ends after 9488 of 20000 bytes"},
		"cut in a compressed tar":      {"tar.gz", gz[:len(gz)-200], 10_000, false, "the container ends after"},
		"cut in a tar in a tar":        {"tar.tar", formatstest.Tar(t, entry{"in.tar", string(tarball[:10_000])}), 10_000 - 512, false, "the container ends after"},
		"stored, and the tar in a zip": {"zip.tar", packZip(t, zip.Deflate, entry{"in.tar", string(tarball[:10_000])}), 10_000 - 512, false, "the container ends after"},
	} {
		t.Run(name, func(t *testing.T) {
			path := "x." + test.ext
			if ext, _, nested := strings.Cut(test.ext, "."); nested && test.ext != "tar.gz" {
				path = "x." + ext + "/in.tar"
			}
			top, _, _ := strings.Cut(path, "/")
			_, root := mount(t, map[string]string{top: string(test.packed)}, Options{})
			for _, step := range []int{1000, 1 << 20} {
				got, err := readPart(t, root, path+"/a", step)
				if err == nil || !strings.Contains(err.Error(), test.reason) || errors.Is(err, nodes.ErrStale) {
					t.Errorf("%d bytes, %v, want %q", len(got), err, test.reason)
				}
				most := len(content) - 1
				if test.all && len(got) > most+1 || len(got) < min(test.least, most)-step && step == 1000 {
					t.Errorf("%d bytes, want %d and more", len(got), test.least)
				}
				if name != "a byte of stored data" && !strings.HasPrefix(string(content), got) {
					t.Error("wrong bytes")
				}
			}
		})
	}
}

// A zip of which a header names another file than the directory shows all of it, and tells by error
// and log.
func TestMembersOfTwoNames(t *testing.T) {
	rec, plain := oneZip(t, zip.Deflate, "a.rec", []byte("RECbody")).b, oneZip(t, zip.Store, "a.txt", []byte("text")).b
	rec[30], plain[30] = 'b', 'b'
	var log bytes.Buffer
	_, root := mount(t, map[string]string{"rec.zip": string(rec), "plain.zip": string(plain)}, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if got, err := read(t, root, "rec.zip/a.rec/body"); got != "body" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	e, err := nodes.Lookup(t.Context(), root, "rec.zip/a.rec")
	if err != nil {
		t.Fatal(err)
	}
	r := e.Dir.(recording)
	if p, err := r.a.damageOf(t.Context(), r.key); err != nil || p == nil || !strings.Contains(p.Message, "b.rec") {
		t.Errorf("the damage is %v, %v", p, err)
	}
	e, err = nodes.Lookup(t.Context(), root, "plain.zip/a.txt")
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.File.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(nodes.Reader(t.Context(), c)); string(b) != "text" || err == nil || !strings.Contains(err.Error(), "b.txt") {
		t.Errorf("%q, %v", b, err)
	}
	for _, path := range []string{"path=rec.zip/a.rec", "path=plain.zip/a.txt"} {
		if n := strings.Count(log.String(), path+" "); n != 1 {
			t.Errorf("%s: told %d times in %s", path, n, &log)
		}
	}
}

// A recording that is damaged in a container is that of a damaged stream.
func TestDamagedRecordingsInContainers(t *testing.T) {
	content := formatstest.Compressible(20_000)
	flip := func(b []byte, at int) []byte {
		b = bytes.Clone(b)
		b[at] ^= 0x40
		return b
	}
	deflated, stored := oneZip(t, zip.Deflate, "a.rec", content), oneZip(t, zip.Store, "a.rec", content)
	tarball := formatstest.Tar(t, entry{"a.rec", string(content)})
	packed := formatstest.Tar(t, entry{"a.rec.gz", string(formatstest.Gzip(t, content))})
	_, root := mount(t, map[string]string{
		"flipped.zip":   string(flip(deflated.b, deflated.data+len(content)/8)),
		"stored.zip":    string(flip(stored.b, stored.data+1000)),
		"cut.tar":       string(tarball[:10_000]),
		"packed.tar":    string(packed[:len(packed)-1024-2048]),
		"encrypted.zip": string(deflated.change(zipFlags, 1)),
		"method.zip":    string(stored.change(zipMethod, 99)),
	}, Options{})
	for name, all := range map[string]bool{"flipped.zip/a.rec": false, "stored.zip/a.rec": true, "cut.tar/a.rec": false, "packed.tar/a.rec.gz": false} {
		got, err := read(t, root, name+"/body")
		if err != nil || len(got) < 900 || all != (len(got) == len(content)-3) || !all && !strings.HasPrefix(string(content[3:]), got) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		e, err := nodes.Lookup(t.Context(), root, name)
		if err != nil {
			t.Fatal(err)
		}
		r, ok := e.Dir.(recording)
		if !ok {
			t.Fatalf("%s is no recording", name)
		}
		u, _ := r.a.input(t.Context(), r.key, unpack.Choice{Streams: r.format().Streams})
		hurt, err := u.hurt, u.err
		if err != nil {
			t.Fatal(err)
		}
		if d, err := hurt(t.Context()); err != nil || d == nil {
			t.Errorf("%s: no damage, %v", name, err)
		}
		_, err = read(t, root, name+"/raw")
		if _, ok := errors.AsType[*unpack.Damage](err); !ok {
			t.Errorf("%s/raw: %v", name, err)
		}
	}
	for name, reason := range map[string]string{"encrypted.zip/a.rec": "it is encrypted", "method.zip/a.rec": "it is packed by the unknown method 99"} {
		if got, err := read(t, root, name+"/error.txt"); err != nil || !strings.Contains(got, "reason: "+reason+"\n") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if got, err := read(t, root, name+"/raw"); err == nil {
			t.Errorf("%s: raw has %d bytes", name, len(got))
		}
	}
}
