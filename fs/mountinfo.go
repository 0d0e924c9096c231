//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"os"
	"path/filepath"
	"strings"
)

// MountPoint returns dir as the kernel knows it: absolute, without symbolic
// links. A dead mount there is not disturbed.
func MountPoint(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if info, err := os.Lstat(dir); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return filepath.EvalSymlinks(dir)
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if err != nil {
		return "", err
	}
	return filepath.Join(parent, filepath.Base(dir)), nil
}

// Mounted reports whether a recfs is mounted at dir, whichever process serves
// it.
func Mounted(dir string) bool {
	point, err := MountPoint(dir)
	return err == nil && isOurs(point)
}

// isOurs reports whether what is mounted at dir is of our type.
func isOurs(dir string) bool { return mountedAt(dir).fstype == "fuse."+fsName }

// Source returns what a recfs that is mounted at dir shows, as the system
// tells it.
func Source(dir string) (source string, ok bool) {
	point, err := MountPoint(dir)
	if err != nil || !isOurs(point) {
		return "", false
	}
	return mountedAt(point).source, true
}

// Mounts returns the directories where a recfs is mounted, in the order in which they were.
func Mounts() (dirs []string) {
	table, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(table)) {
		if m := parseMountinfo(line); m.fstype == "fuse."+fsName {
			dirs = append(dirs, m.dir)
		}
	}
	return dirs
}

// A mountedFS is a line of mountinfo.
type mountedFS struct{ device, dir, fstype, source string }

// mountedAt returns what is mounted at dir, on top if there is more than one.
func mountedAt(dir string) mountedFS {
	var found mountedFS
	table, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(table)) {
		if m := parseMountinfo(line); m.dir == dir {
			found = m
		}
	}
	return found
}

// parseMountinfo parses a line of mountinfo (see proc(5)): device and mount
// point are the third and fifth field, type and source stand after a hyphen.
func parseMountinfo(line string) mountedFS {
	front, back, _ := strings.Cut(line, " - ")
	fields, types := strings.Fields(front), strings.Fields(back)
	if len(fields) < 5 || len(types) < 2 {
		return mountedFS{}
	}
	return mountedFS{fields[2], mountinfoEscapes.Replace(fields[4]), types[0], mountinfoEscapes.Replace(types[1])}
}

var mountinfoEscapes = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\043`, "#", `\134`, `\`)
