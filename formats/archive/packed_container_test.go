package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zip"

	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// entry is a member of a tar or zip.
type entry = formatstest.Member

func packZip(t testing.TB, method uint16, entries ...entry) []byte {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, e := range entries {
		name, content := e[0], e[1]
		h := &zip.FileHeader{Name: name, Method: method, Modified: time.Unix(1e9, 0)}
		if target, ok := strings.CutPrefix(content, "->"); ok {
			h.SetMode(os.ModeSymlink | 0o777)
			content = target
		}
		f, err := w.CreateHeader(h)
		if err == nil && !strings.HasSuffix(name, "/") {
			_, err = f.Write([]byte(content))
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

var nestedEntries = []entry{
	{"a.rec", "RECone"},
	{"dir/", ""},
	{"dir/b.rec", "RECtwo"},
	{"dir/seg/first.part", "1"},
	{"deep/er/text", "words"},
	{"../../out", "caught"},
	{"/etc/passwd", "root"},
	{"twice", "old"},
	{"twice", "new"},
	{"link", "->dir/b.rec"},
	{"leaves", "->../../x"},
	{"./", ""},
}

var nestedTree = map[string]string{
	"/": "", "/a.rec/": "", "/a.rec/body": "one", "/a.rec/raw": "RECone",
	"/dir/": "", "/dir/b.rec/": "", "/dir/b.rec/body": "two", "/dir/b.rec/raw": "RECtwo",
	"/dir/seg/": "", "/dir/seg/body": "1",
	"/deep/": "", "/deep/er/": "", "/deep/er/text": "words",
	"/out": "caught", "/etc/": "", "/etc/passwd": "root", "/twice": "new",
	"/link": "->dir/b.rec", "/leaves": "->outside-the-archive:../../x",
}

func TestNested(t *testing.T) {
	tarBytes := formatstest.Tar(t, nestedEntries...)
	files := map[string]string{
		"t.tar":      string(tarBytes),
		"t.tar.gz":   string(formatstest.Gzip(t, tarBytes)),
		"t.tgz":      string(formatstest.Gzip(t, tarBytes)),
		"t.tar.zst":  string(packZstd(t, tarBytes)),
		"s.zip":      string(packZip(t, zip.Store, nestedEntries...)),
		"d.zip":      string(packZip(t, zip.Deflate, nestedEntries...)),
		"plain.text": "text",
	}
	_, root := mount(t, files, Options{})
	nodestest.Check(t, root)
	want := map[string]string{"./": "", "plain.text": "text"}
	for name := range files {
		if name != "plain.text" {
			for inner, content := range nestedTree {
				want[name+inner] = content
			}
		}
	}
	wantTree(t, show(t, root), want)
}

func TestNestedDepth(t *testing.T) {
	b := formatstest.Tar(t, entry{"a.rec", "RECdeep"})
	for i := range maxDepth {
		b = formatstest.Tar(t, entry{fmt.Sprintf("%d.tar", i), string(b)})
	}
	_, root := mount(t, map[string]string{"top.tar": string(b)}, Options{})
	got := show(t, root)
	if _, ok := got["top.tar/3.tar/2.tar/1.tar/0.tar"]; !ok {
		t.Errorf("the fifth container is not shown as a file: %v", got)
	}
	b = formatstest.Tar(t, entry{"x.zip", string(packZip(t, zip.Deflate, entry{"y.tar.gz", string(formatstest.Gzip(t, formatstest.Tar(t, entry{"a.rec", "RECdeep"})))}))})
	_, root = mount(t, map[string]string{"top.tar": string(b)}, Options{})
	if got, err := read(t, root, "top.tar/x.zip/y.tar.gz/a.rec/body"); got != "deep" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestNestedLinksAndClashes(t *testing.T) {
	_, root := mount(t, map[string]string{"a.tar": string(formatstest.Tar(
		t,
		entry{"file", "text"}, entry{"hard", "=>file"}, entry{"none", "=>nowhere"},
		entry{"file/below", "hidden"}, entry{"d/x", "1"}, entry{"d", "a file"},
		entry{strings.Repeat("n", 300), "too long"}, entry{"loop", "->loop"}, entry{"up/here", "->.."},
	))}, Options{})
	wantTree(t, show(t, root), map[string]string{
		"./": "", "a.tar/": "", "a.tar/file": "text", "a.tar/hard": "text", "a.tar/d/": "", "a.tar/d/x": "1",
		"a.tar/loop": "->loop", "a.tar/up/": "", "a.tar/up/here": "->..",
		"a.tar/error.txt": "format: tar\noffset: 1536\nreason: it is a hard link to \"nowhere\", which is no file before it\npath: none\n" +
			"\nformat: tar\noffset: 2560\nreason: a file has the path of this directory, which is not shown, nor what it holds\npath: file\n" +
			"\nformat: tar\noffset: 4608\nreason: a directory has the path of this file, which is not shown\npath: d\n" +
			"\nformat: tar\noffset: 5120\nreason: a member whose name begins \"" + strings.Repeat("n", 100) +
			"\" is not shown: no file can be called so\n",
	})
}

func TestNestedBroken(t *testing.T) {
	whole := formatstest.Tar(t, entry{"a.rec", "RECone"}, entry{"b", strings.Repeat("x", 5000)}, entry{"c", "y"})
	zipped := packZip(t, zip.Deflate, entry{"a", strings.Repeat("text", 100)}, entry{"b", "fine"})
	flipped := bytes.Clone(zipped)
	flipped[46] ^= 0x40 // in the data of the first member
	_, root := mount(t, map[string]string{
		"cut.tar":     string(whole[:3000]),
		"garbage.tar": strings.Repeat("garbage", 1000),
		"empty.tar":   "",
		"cut.zip":     string(zipped[:len(zipped)-10]),
		"flipped.zip": string(flipped),
		"cut.tar.gz":  string(formatstest.Gzip(t, whole)[:40]),
	}, Options{})
	got := show(t, root)
	for name, want := range map[string]string{
		"cut.tar/a.rec/body": "one", "cut.tar/b": "error: the container ends after 1464 of 5000 bytes",
		"garbage.tar/raw": strings.Repeat("garbage", 1000), "empty.tar/raw": "", "flipped.zip/b": "fine",
		"cut.zip/b": "fine", "cut.zip/a": strings.Repeat("text", 100),
	} {
		if got[name] != want {
			t.Errorf("%s: %.200q, want %.200q", name, got[name], want)
		}
	}
	for _, name := range []string{"garbage.tar/error.txt", "cut.zip/error.txt"} {
		if !strings.HasPrefix(got[name], "format: ") {
			t.Errorf("%s: %q", name, got[name])
		}
	}
	if !strings.HasPrefix(got["flipped.zip/a"], "error: ") {
		t.Errorf("flipped.zip/a: %q", got["flipped.zip/a"])
	}
}

func TestNestedLarge(t *testing.T) {
	nodestest.Long(t)
	content := formatstest.Compressible(3_000_000)
	dir, disk := t.TempDir(), t.TempDir()
	write(t, dir, "a.zip", string(packZip(t, zip.Deflate, entry{"a.rec", string(content)})))
	write(t, dir, "b.tar.gz", string(formatstest.Gzip(t, formatstest.Tar(t, entry{"a.rec", string(content)}, entry{"a.rec.gz", string(formatstest.Gzip(t, content))}))))
	for _, where := range []string{disk, ""} {
		root := newArchiveIn(t, dir, where, 1<<30)
		for _, name := range []string{"a.zip/a.rec", "b.tar.gz/a.rec", "b.tar.gz/a.rec.gz"} {
			if got, err := read(t, root, name+"/body"); err != nil || got != string(content[3:]) {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
		}
	}
	copies(t, disk)
}

func TestNestedSparse(t *testing.T) {
	gnu, err := exec.LookPath("tar")
	if err != nil {
		t.Skip("no tar: ", err)
	}
	dir := t.TempDir()
	want := map[string]string{}
	for _, name := range []string{"1.rec", "2.rec", "3.rec"} {
		content := append(make([]byte, 1<<20), name+" ends"...)
		copy(content, "REC")
		want[name] = string(content[3:])
		f, err := os.Create(filepath.Join(dir, name))
		if err == nil {
			_, err = f.WriteAt(content[:3], 0)
		}
		if err == nil {
			_, err = f.WriteAt(content[1<<20:], 1<<20)
		}
		if err == nil {
			err = f.Close()
		}
		if err == nil { // no sample of one is of the others
			err = os.Chtimes(filepath.Join(dir, name), time.Unix(1e9, 0), time.Unix(1e9, 0))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "full", strings.Repeat("text", 1000))
	want["full"] = strings.Repeat("text", 1000)
	members := []string{"1.rec", "2.rec", "full", "3.rec"}
	for _, format := range []string{"gnu", "posix"} {
		args := append([]string{"-C", dir, "--sparse", "--format=" + format, "-cf", filepath.Join(dir, "s.tar")}, members...)
		if out, err := exec.CommandContext(t.Context(), gnu, args...).CombinedOutput(); err != nil {
			t.Skip("tar makes no sparse files: ", string(out))
		}
		root := newArchiveIn(t, dir, t.TempDir(), 1<<30)
		for _, name := range members {
			file := "s.tar/" + name
			if strings.HasSuffix(name, ".rec") {
				file += "/body"
			}
			if got, err := read(t, root, file); err != nil || got != want[name] {
				t.Errorf("%s: %s: %d bytes, %v", format, name, len(got), err)
			}
		}
	}
}

// Two members of the same bytes and time are told apart by what the zip says
// of them.
func TestNestedCopyIsOfOneStream(t *testing.T) {
	nodestest.Long(t)
	good := packZip(t, zip.Deflate, entry{"a", string(formatstest.Compressible(3_000_000))})
	bad := bytes.Clone(good)
	directory := bytes.LastIndex(bad, []byte("PK\x01\x02"))
	bad[directory+16] ^= 1 // the checksum
	dir := t.TempDir()
	write(t, dir, "good.zip", string(good))
	write(t, dir, "bad.zip", string(bad))
	for _, names := range [][2]string{{"good.zip", "bad.zip"}, {"bad.zip", "good.zip"}} {
		root := newArchiveIn(t, dir, t.TempDir(), 1<<30)
		for _, name := range names {
			if _, err := read(t, root, name+"/a"); (err == nil) != (name == "good.zip") {
				t.Errorf("%v: %s: %v", names, name, err)
			}
		}
	}
}

// What a small file claims of its compression, its members and their sizes is
// refused, or shown as far as it is there, and does not hurt what is beside it.
func TestNestedHostile(t *testing.T) {
	whole := formatstest.Tar(t, entry{"a.rec", "RECone"})
	fine := string(whole[:1024])
	header := func(name, size string) string {
		h := make([]byte, 512)
		copy(h, name)
		copy(h[100:], "0000644\x00")
		copy(h[124:136], size)
		copy(h[136:], "14000000000\x00        0")
		copy(h[257:], "ustar\x0000")
		sum := 0
		for _, b := range h {
			sum += int(b)
		}
		copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
		return string(h)
	}
	end := strings.Repeat("\x00", 1024)
	_, root := mount(t, map[string]string{
		"window.rec.zst": "\x28\xb5\x2f\xfd\x00" + string(byte((31-10)<<3)) + "\x19\x00\x00REC",
		"negative.tar":   fine + header("b", strings.Repeat("\xff", 12)) + fine + end,
		"huge.tar":       fine + header("b", "\x80\x00\x00\x00\x7f"+strings.Repeat("\xff", 7)) + end,
		"claims.zip":     "PK\x05\x06\x00\x00\x00\x00" + strings.Repeat("\xff", 12) + "\x00\x00",
		"self.zip":       selfZip(),
	}, Options{})
	got := show(t, root)
	for name, want := range map[string]string{
		"negative.tar/a.rec/body": "one", "huge.tar/a.rec/body": "one", "huge.tar/b": "error: the container ends after 1024 of 9223372036854775807 bytes",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	for name, want := range map[string]string{
		"window.rec.zst/error.txt": "it needs a window of more than 128 MiB",
		"claims.zip/error.txt":     "reason: the directory is not in the file",
	} {
		if !strings.Contains(got[name], want) {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	if _, ok := got["self.zip/self.zip/"]; !ok {
		t.Errorf("self.zip: %v", got)
	}
}

// selfZip returns a zip whose only member is its own directory.
func selfZip() string {
	const name = "self.zip"
	le := binary.LittleEndian
	size := uint32(46 + len(name) + 22)
	local := make([]byte, 30)
	copy(local, "PK\x03\x04")
	le.PutUint32(local[18:], size)
	le.PutUint32(local[22:], size)
	le.PutUint16(local[26:], uint16(len(name)))
	dir := make([]byte, 46)
	copy(dir, "PK\x01\x02")
	le.PutUint32(dir[20:], size)
	le.PutUint32(dir[24:], size)
	le.PutUint16(dir[28:], uint16(len(name)))
	end := make([]byte, 22)
	copy(end, "PK\x05\x06")
	le.PutUint16(end[8:], 1)
	le.PutUint16(end[10:], 1)
	le.PutUint32(end[12:], uint32(len(dir)+len(name)))
	le.PutUint32(end[16:], uint32(len(local)+len(name)))
	return string(local) + name + string(dir) + name + string(end)
}

func TestNestedStays(t *testing.T) {
	_, root := mount(t, map[string]string{"a.tar": string(formatstest.Tar(t, entry{"d/x", "1"}))}, Options{})
	e, err := nodes.Lookup(t.Context(), root, "a.tar")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := e.Dir.(nodes.Volatile); ok {
		t.Error("what is in a file may change")
	}
	again, _ := nodes.Lookup(t.Context(), root, "a.tar")
	if e.Dir != again.Dir {
		t.Error("two look-ups of one version differ")
	}
	d, _ := nodes.Lookup(t.Context(), root, "a.tar/d")
	if _, ok := d.Dir.(nodes.Volatile); ok {
		t.Error("a directory in a file may change")
	}
}

// What cannot be the target of a link is shown as one that leads nowhere.
func TestNestedLinksWithoutTarget(t *testing.T) {
	long := strings.Repeat("d/", 2100)
	entries := []entry{
		{"empty", "->"}, {"long", "->" + long}, {"away", "->../x"}, {"absolute", "->/x"}, {"dir/x", "1"}, {"dir/up", "->../dir/x"},
	}
	_, root := mount(t, map[string]string{
		"a.tar": string(formatstest.Tar(t, entries...)),
		"a.zip": string(packZip(t, zip.Deflate, append(entries, entry{"zero", "->dir\x00/x"})...)),
	}, Options{})
	nodestest.Check(t, root)
	got := show(t, root)
	for name, want := range map[string]string{
		"empty": outside, "long": (outside + long)[:nodes.MaxLink], "away": outside + "../x", "absolute": outside + "/x", "dir/up": "../dir/x",
	} {
		for _, container := range []string{"a.tar/", "a.zip/"} {
			if got[container+name] != "->"+want {
				t.Errorf("%s%s is %.100q, want %.100q", container, name, got[container+name], want)
			}
		}
	}
	if want := "->" + outside + "dir"; got["a.zip/zero"] != want {
		t.Errorf("a.zip/zero is %q, want %q", got["a.zip/zero"], want)
	}
}

// Directories with links to each other are walked once.
func TestNestedLinksBetweenDirectories(t *testing.T) {
	var entries []entry
	for i := range 10 {
		for j := range 10 {
			entries = append(entries, entry{fmt.Sprintf("%d/%d", i, j), fmt.Sprintf("->../%d", j)})
		}
		entries = append(entries, entry{fmt.Sprintf("%d/a.rec", i), "RECone"})
	}
	_, root := mount(t, map[string]string{"a.tar": string(formatstest.Tar(t, entries...))}, Options{})
	if got, want := len(show(t, root)), 2+10+100+10*3; got != want {
		t.Errorf("%d entries, want %d", got, want)
	}
}

// A recording in a container of which a file is refused says so: to read it again would not help.
func TestBombInDirectory(t *testing.T) {
	nodestest.Long(t)
	bomb := packZip(t, zip.Deflate, entry{"run/first.part", string(make([]byte, 80<<20))}, entry{"run/second.part", "x"})
	_, root := mount(t, map[string]string{"a.zip": string(bomb)}, Options{})
	got, err := read(t, root, "a.zip/run/error.txt")
	if err != nil || !strings.Contains(got, "refused as a decompression bomb") {
		t.Errorf("%q, %v", got, err)
	}
}

// A container that is the root and replaced while it is listed and read: the next look shows the
// new one, who had the old one open keeps its names and bytes, or hears that they are gone.
func TestRootContainerReplaced(t *testing.T) {
	for _, kind := range []string{"c.tar", "c.zip", "c.tar.gz"} {
		pack := func(entries ...entry) string {
			switch kind {
			case "c.zip":
				return string(packZip(t, zip.Deflate, entries...))
			case "c.tar.gz":
				return string(formatstest.Gzip(t, formatstest.Tar(t, entries...)))
			}
			return string(formatstest.Tar(t, entries...))
		}
		dir := t.TempDir()
		write(t, dir, kind, pack(entry{"a", "old"}, entry{"d/b.rec", "RECold"}, entry{"gone", "x"}))
		root, err := New(formatstest.OpenLocal(t, dir), testFormats, formatstest.NewCache(t), Options{}).File(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		listing, err := root.(nodes.Volatile).Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		was, err := nodes.Lookup(t.Context(), root, "a")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := nodes.ReadAll(t.Context(), was.File); string(got) != "old" || err != nil {
			t.Errorf("%s: before: %q, %v", kind, got, err)
		}
		write(t, dir, "new", pack(entry{"a", "new"}, entry{"d/b.rec", "RECnew"}, entry{"more", "y"}))
		if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, kind)); err != nil {
			t.Fatal(err)
		}
		wantTree(t, show(t, root), map[string]string{
			"./": "", "a": "new", "d/": "", "d/b.rec/": "", "d/b.rec/body": "new", "d/b.rec/raw": "RECnew", "more": "y",
		})
		if now, err := nodes.Lookup(t.Context(), root, "a"); err != nil || now.File == was.File {
			t.Errorf("%s: a member of the new one is the file of the old one, %v", kind, err)
		}
		if got, err := nodes.ReadAll(t.Context(), was.File); string(got) != "old" && !errors.Is(err, nodes.ErrStale) {
			t.Errorf("%s: the old view: %q, %v", kind, got, err)
		}
		if i, err := listing.Find(t.Context(), "more"); err == nil {
			t.Errorf("%s: the listing of the old one has %d for a name of the new one", kind, i)
		}
	}
}
