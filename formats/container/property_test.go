package container_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"io"
	"maps"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recfs/formats"
	"recfs/formats/container"
	"recfs/formats/internal/testing/formatstest"
)

// files are some to put into a container. Names come more than once, as in a tar that was appended
// to, and no name is that of a directory and of a file.
func files() *rapid.Generator[[]packed] {
	name := rapid.Custom(func(t *rapid.T) string {
		dir := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "dir with blanks", "Ünï"}), 0, 3).Draw(t, "dir"), "/")
		base := rapid.SampledFrom([]string{"0.txt", "1.map", "2.map", "файл", strings.Repeat("long", 30)}).Draw(t, "base")
		return path.Join(dir, base)
	})
	size := rapid.OneOf(rapid.IntRange(0, 40), rapid.SampledFrom([]int{511, 512, 513, 1024, 20_000}))
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) packed {
		seed := rapid.StringN(1, 8, -1).Draw(t, "seed")
		n := size.Draw(t, "size")
		return packed{name.Draw(t, "name"), strings.Repeat(seed, n/len(seed)+1)[:n]}
	}), 1, 12)
}

// asUnpacked returns what lies in a directory after the files were unpacked there: the last of each
// name.
func asUnpacked(all []packed) map[string]string {
	found := map[string]string{}
	for _, f := range all {
		found[f.name] = f.content
	}
	return found
}

// drawTar writes files as a tar, each in one of the formats that it can have, and returns where the
// headers and the content of each end.
func drawTar(t *rapid.T, all []packed) (b []byte, ends []int) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, f := range all {
		format := rapid.SampledFrom([]tar.Format{tar.FormatUnknown, tar.FormatPAX, tar.FormatGNU}).Draw(t, "format")
		err := w.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.content)), Mode: 0o644, ModTime: time.Unix(1e9, 0), Format: format})
		if err == nil {
			_, err = io.WriteString(w, f.content)
		}
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, buf.Len())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), ends
}

// drawZip writes files as a zip, each stored or deflated.
func drawZip(t *rapid.T, all []packed) []byte {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, f := range all {
		method := rapid.SampledFrom([]uint16{zip.Store, zip.Deflate}).Draw(t, "method")
		z, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: method, Modified: time.Unix(1e9, 0)})
		if err == nil {
			_, err = io.WriteString(z, f.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestTarAsUnpacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := files().Draw(t, "files")
		b, _ := drawTar(t, all)
		found, problems, err := list(t, container.Tar, b)
		if diff := cmp.Diff(asUnpacked(all), found); diff != "" || len(problems) > 0 || err != nil {
			t.Fatal(diff, problems, err)
		}
	})
}

func TestZipAsUnpacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := files().Draw(t, "files")
		found, problems, err := list(t, container.Zip, drawZip(t, all))
		if diff := cmp.Diff(asUnpacked(all), found); diff != "" || len(problems) > 0 || err != nil {
			t.Fatal(diff, problems, err)
		}
	})
}

// Of a tar that is cut anywhere all is shown that lies before the cut, and something is told unless
// the cut is between two files.
func TestCutTar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := files().Draw(t, "files")
		b, ends := drawTar(t, all)
		cut := rapid.IntRange(1, len(b)).Draw(t, "cut")
		whole := 0
		for whole < len(all) && ends[whole] <= cut {
			whole++
		}
		found, problems, err := list(t, container.Tar, b[:cut])
		if err != nil {
			if whole > 0 {
				t.Fatalf("%d files are whole: %v", whole, err)
			}
			return
		}
		// What the cut goes through hides no earlier file of another name.
		want := asUnpacked(all[:whole])
		if whole < len(all) {
			delete(want, all[whole].name)
			delete(found, all[whole].name)
		}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Fatal(diff)
		}
		if inside := whole < len(all) && cut > beginning(ends, whole); inside != (len(problems) > 0) {
			t.Fatalf("cut at %d of %d: %v", cut, len(b), problems)
		}
	})
}

// beginning returns where the header of file i begins: with the block after the file before.
func beginning(ends []int, i int) int {
	if i == 0 {
		return 0
	}
	return (ends[i-1] + 511) / 512 * 512
}

// A zip without its directory shows what its files' own headers tell.
func TestZipWithoutDirectory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := files().Draw(t, "files")
		b := drawZip(t, all)
		directory := bytes.Index(b, []byte("PK\x01\x02"))
		found, problems, err := list(t, container.Zip, b[:directory])
		if diff := cmp.Diff(asUnpacked(all), found); diff != "" || len(problems) == 0 || err != nil {
			t.Fatal(diff, problems, err)
		}
	})
}

// A list that was kept is the one that was made: what it shows, and the first bytes of files that
// were to be looked into. No part of it is a list.
func TestSavedList(t *testing.T) {
	stamp := formats.Stamp{Changed: 1}
	look := func(name string) bool { return strings.HasSuffix(name, ".map") }
	rapid.Check(t, func(t *rapid.T) {
		all := files().Draw(t, "files")
		b, _ := drawTar(t, all)
		u, in := newUnpacker(t), formatstest.BytesInput("x", b, time.Unix(1e9, 0))
		m, err := container.Tar.List(t.Context(), in, container.Work{Limit: 1 << 30, Unpack: u, Look: look})
		if err != nil {
			t.Fatal(err)
		}
		saved := container.Encode(m, stamp)
		if part := saved[:rapid.IntRange(0, len(saved)-1).Draw(t, "part")]; container.Decode(part, stamp, 1<<30) != nil {
			t.Fatalf("%d of %d bytes are a list", len(part), len(saved))
		}
		again := container.Decode(saved, stamp, 1<<30)
		if again == nil {
			t.Fatal("the list is not known again")
		}
		tree := &container.Tree{Kind: container.Tar, At: "x", Unpack: u, Load: loaded(again, in)}
		listed := in
		listed.ReaderAt = formats.BytesReader(nil) // what is read comes from the list
		alone := &container.Tree{Kind: container.Tar, At: "x", Unpack: u, Load: loaded(again, listed)}
		found, heads, want := map[string]string{}, map[string]string{}, map[string]string{}
		readTree(t, tree, ".", found)
		for name, content := range asUnpacked(all) {
			head := make([]byte, min(len(content), formats.NamedSize))
			if n, err := alone.First(t.Context(), name, head); n > 0 && err == nil {
				heads[name] = string(head)
			}
			if look(name) && content != "" {
				want[name] = content[:min(len(content), formats.NamedSize)]
			}
		}
		if diff := cmp.Diff(asUnpacked(all), found) + cmp.Diff(want, heads); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Any byte of a container may be another: it is listed and read without a panic, and what it shows
// has names that lead nowhere else.
func TestFlippedByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := files().Draw(t, "files")
		kind, b := container.Zip, []byte(nil)
		if rapid.Bool().Draw(t, "tar") {
			kind = container.Tar
			b, _ = drawTar(t, all)
		} else {
			b = drawZip(t, all)
		}
		b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		found, _, err := list(t, kind, b)
		for name := range maps.Keys(found) {
			if path.Clean("/"+name) != "/"+name {
				t.Fatalf("a file called %q", name)
			}
		}
		if err != nil && strings.Contains(err.Error(), "internal error") {
			t.Fatal(err)
		}
	})
}
