package archive

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/zip"

	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// problemsOf returns what is wrong with a container.
func problemsOf(t *testing.T, root nodes.Dir, name string) (Description, []formats.Problem) {
	t.Helper()
	e, err := nodes.Lookup(t.Context(), root, name)
	if err != nil {
		t.Fatal(err)
	}
	d, problems, _ := DescribeContainer(t.Context(), e.Dir)
	return d, problems
}

// A container that is damaged or does not open has problems, whatever is around it.
func TestDamagedContainersHaveProblems(t *testing.T) {
	tarball := formatstest.Tar(t, entry{"a.rec", "RECone"}, entry{"b", strings.Repeat("x", 5000)}, entry{"c", "y"})
	zipped := packZip(t, zip.Deflate, entry{"a", strings.Repeat("text", 100)}, entry{"b", "fine"})
	gz := formatstest.Gzip(t, tarball)
	random := strings.Repeat("no container ", 1000)
	files := map[string]string{
		"cut.tar": string(tarball[:3000]), "random.tar": random, "empty.tar": "", "short.tar": "x",
		"cut.zip": string(zipped[:len(zipped)-10]), "random.zip": random, "empty.zip": "",
		"cut.tar.gz": string(gz[:len(gz)-10]), "random.tar.gz": random, "empty.tgz": "", "random.txz": random,
		"random.tar.bz2": random, "random.tzst": random,
		"inside.tar": string(formatstest.Tar(t, entry{"in.tar", string(tarball[:3000])})),
		"sound.tar":  string(tarball), "sound.zip": string(zipped), "sound.tgz": string(gz),
	}
	_, root := mount(t, files, Options{})
	for name, format := range map[string]string{
		"cut.tar": "tar", "random.tar": "tar", "empty.tar": "tar", "short.tar": "tar", "cut.zip": "zip", "random.zip": "zip",
		"empty.zip": "zip", "cut.tar.gz": "tar.gz", "random.tar.gz": "tar.gz", "empty.tgz": "tar.gz", "random.txz": "tar.xz",
		"random.tar.bz2": "tar.bz2", "random.tzst": "tar.zst", "inside.tar/in.tar": "tar",
	} {
		d, problems := problemsOf(t, root, name)
		if len(problems) == 0 || d.Format != format || problems[0].Message == "" {
			t.Errorf("%s: %+v, %+v", name, d, problems)
		}
		text, err := read(t, root, name+"/error.txt")
		if err != nil || !strings.HasPrefix(text, "format: "+format+"\noffset: ") || !strings.Contains(text, "\nreason: ") {
			t.Errorf("%s/error.txt: %q, %v", name, text, err)
		}
	}
	for _, name := range []string{"sound.tar", "sound.zip", "sound.tgz", "inside.tar"} {
		if _, problems := problemsOf(t, root, name); len(problems) > 0 {
			t.Errorf("%s: %+v", name, problems)
		}
		if _, err := read(t, root, name+"/error.txt"); err == nil {
			t.Errorf("%s has an error.txt", name)
		}
	}
	nodestest.Check(t, root)
}

// A damaged frame of a seekable tar hides no member before it, whoever looks first.
func TestDamagedSeekableTar(t *testing.T) {
	noise := make([]byte, 300_000)
	rand.NewChaCha8([32]byte{}).Read(noise)
	tarball := formatstest.Tar(t, entry{"a.rec", "RECone"}, entry{"b", string(noise)}, entry{"c", "three"})
	b := packSeekable(t, tarball, 10_000)
	b[bytes.Index(b, []byte("three"))-600] ^= 1 // in the header of c
	_, root := mount(t, map[string]string{"x.tar.zst": string(b)}, Options{})
	if _, problems := problemsOf(t, root, "x.tar.zst"); len(problems) == 0 {
		t.Error("it has no problem")
	}
	got := show(t, root)
	if got["x.tar.zst/a.rec/body"] != "one" || !strings.HasPrefix(got["x.tar.zst/error.txt"], "format: tar.zst\n") {
		t.Errorf("%.300q", got)
	}
}

// The file that tells of damage gives way to members of its name.
func TestDamagedContainerNames(t *testing.T) {
	tarball := formatstest.Tar(t, entry{"a", "1"}, entry{"error.txt", "mine"}, entry{"error-2.txt", "mine too"}, entry{"z", strings.Repeat("x", 5000)})
	_, root := mount(t, map[string]string{"x.tar": string(bytes.Clone(tarball)[:4000])}, Options{})
	nodestest.Check(t, root)
	got := show(t, root)
	for name, want := range map[string]string{"x.tar/a": "1", "x.tar/error.txt": "mine", "x.tar/error-2.txt": "mine too"} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	if !strings.HasPrefix(got["x.tar/error-3.txt"], "format: tar\n") {
		t.Errorf("error-3.txt: %q", got["x.tar/error-3.txt"])
	}
}

// A tar without the zeros of its end is no damaged one, but may have been cut: also in a compressed
// one, and again from the cache.
func TestUnendedTar(t *testing.T) {
	whole := formatstest.Tar(t, entry{"a.rec", "RECone"}, entry{"b", strings.Repeat("x", 5000)})
	cut := whole[:bytes.LastIndexByte(whole, 'x')+1]
	first := whole[:1024]
	files, want := map[string]string{}, map[string]bool{}
	add := func(name string, b []byte, unended bool) {
		files[name+".tar"], files[name+".tgz"] = string(b), string(formatstest.Gzip(t, b))
		want[name+".tar"], want[name+".tgz"] = unended, unended
	}
	add("whole", whole, false)
	add("unpadded", cut, true)
	add("first", first, true)
	add("block", append(bytes.Clone(first), make([]byte, 512)...), false)
	add("half", append(bytes.Clone(first), make([]byte, 100)...), true)
	add("two", append(bytes.Clone(whole), first...), true)
	_, root := mount(t, files, Options{})
	for range 2 {
		for name, unended := range want {
			if d, problems := problemsOf(t, root, name); d.Unended != unended || len(problems) > 0 && !strings.HasPrefix(name, "two") {
				t.Errorf("%s: %+v, %+v; want %v", name, d, problems, unended)
			}
		}
	}
}
