package archive

import (
	"archive/zip"
	"fmt"
	"strings"
	"testing"

	"recfs/formats/internal/formatstest"
	"recfs/nodes"
)

// To list files whose names do not say what they are reads nothing of a tar but what its list was made of, and little
// more of a zip than these files.
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
