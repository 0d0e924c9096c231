package archive

import (
	"archive/zip"
	"fmt"
	"strings"
	"testing"

	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
)

// To list files whose names do not say what they are reads nothing of a tar but what its list was
// made of, and little more of a zip than these files.
func TestMembersOfUnsureNames(t *testing.T) {
	const count, size = 3000, 600
	var members []entry
	for i := range count {
		magic := []string{"LUMP", "none"}[i%2]
		members = append(members, entry{fmt.Sprintf("%04d.lump", i), magic + strings.Repeat(" ", size-len(magic))})
	}
	dir := t.TempDir()
	write(t, dir, "a.tar", string(formatstest.Tar(t, members...)))
	packed := packZip(t, zip.Deflate, members...)
	write(t, dir, "a.zip", string(packed))
	var bytesRead int64
	root := New(counting{formatstest.OpenLocal(t, dir), &bytesRead}, testFormats, formatstest.NewCache(t), Options{})
	for name, most := range map[string]int64{"a.tar": 0, "a.zip": int64(len(packed)) * 3 / 2} {
		e, err := nodes.Child(t.Context(), root, name)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := e.Dir.Len(t.Context()); n != count || err != nil {
			t.Fatalf("%s has %d members, %v", name, n, err)
		}
		bytesRead = 0
		for i := range count {
			m, err := e.Dir.At(t.Context(), i)
			if err != nil || (m.Dir != nil) != (i%2 == 0) {
				t.Fatalf("%s: %s is a directory: %t, %v", name, m.Name, m.Dir != nil, err)
			}
		}
		if bytesRead > most {
			t.Errorf("%s: %d bytes were read, want %d at most", name, bytesRead, most)
		}
	}
}

// A compressed file whose name others use too is the recording of its name, which does not open,
// where the damage is before what would tell: to be taken for a plain file would be the all-clear.
func TestDamagedOfUnsureName(t *testing.T) {
	sound, other := packZstd(t, []byte(strings.Repeat("LUMP ok ", 100))), packZstd(t, []byte(strings.Repeat("none", 100)))
	cut := func(b []byte) string { return string(b[:12]) }
	_, root := mount(t, map[string]string{
		"cut.lump.zst": cut(sound), "cutother.lump.zst": cut(other), "other.lump.zst": string(other), "none.lump.zst": "none", "empty.lump.zst": "",
		"tiny.lump.zst": string(packZstd(t, []byte("LU"))), "in.tar": string(formatstest.Tar(t, entry{"cut.lump.zst", cut(sound)})),
	}, Options{})
	for name, want := range map[string]bool{
		"cut.lump.zst": true, "cutother.lump.zst": true, "in.tar/cut.lump.zst": true,
		"other.lump.zst": false, "none.lump.zst": false, "empty.lump.zst": false, "tiny.lump.zst": false,
	} {
		e, err := nodes.Lookup(t.Context(), root, name)
		if err != nil || (e.Dir != nil) != want {
			t.Errorf("%s is a directory: %t, %v; want %t", name, e.Dir != nil, err, want)
		}
		if !want {
			continue
		}
		if _, err := nodes.Child(t.Context(), e.Dir, "error.txt"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
