//go:build linux && (amd64 || arm64 || riscv64)

package fs

import "testing"

func TestParseMountinfo(t *testing.T) {
	for line, want := range map[string]mountedFS{
		`36 35 0:52 / /mnt\040a/b\134c ro,nosuid shared:1 master:2 - fuse.recfs /s\040r\043c ro,user_id=0` + "\n": {"0:52", "/", `/mnt a/b\c`, "fuse.recfs", "/s r#c"},
		"28 1 8:1 / / rw - ext4 /dev/sda1 rw\n": {"8:1", "/", "/", "ext4", "/dev/sda1"},
		"nonsense\n":                            {},
	} {
		if got := parseMountinfo(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
