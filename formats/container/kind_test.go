package container_test

import (
	"slices"
	"testing"

	"recfs/formats/container"
)

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]string{
		"a.tar": "tar", "a.zip": "zip", "a.tar.gz": "tar.gz", "a.tgz": "tar.gz", "a.tar.xz": "tar.xz", "a.txz": "tar.xz",
		"a.tar.zst": "tar.zst", "a.tzst": "tar.zst", "a.tar.bz2": "tar.bz2", "a.tbz2": "tar.bz2",
		".tar": "", ".tar.gz": "", ".tgz": "", ".zip": "", "a.zip.gz": "", "a.gz": "", "a.tar.gz.gz": "", "tar": "", "": "",
	} {
		if got := container.FormatOf(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
		if want != "" && !slices.Contains(container.Formats(), want) {
			t.Errorf("%q is not listed", want)
		}
		k, compression := container.KindOf(name)
		if (k != nil) != (want != "") || (compression != "") != (len(want) > 3) {
			t.Errorf("%q: %v, %q", name, k, compression)
		}
	}
}
