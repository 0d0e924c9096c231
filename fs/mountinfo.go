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

// fuseType is the type of our mounts.
const fuseType = "fuse." + fsName

// isOurs reports whether what is mounted at dir is of our type.
func isOurs(dir string) bool { return mountedAt(dir).fstype == fuseType }

// Source returns what the recfs shows in which path lies, and where that is mounted, as the system
// tells it. The path is absolute and has no symbolic links.
func Source(path string) (source, at string, ok bool) {
	top := map[string]mountedFS{}
	for m := range mountinfo {
		top[m.dir] = m
	}
	for at = path; ; at = filepath.Dir(at) {
		if m := top[at]; m.fstype == fuseType {
			return m.source, at, true
		}
		if at == filepath.Dir(at) {
			return "", "", false
		}
	}
}

// Shows returns where in dir, or below it, a part of source is mounted under another name, "" if
// none is. Both have no symbolic links.
func Shows(dir, source string) string {
	dir, _ = filepath.Abs(dir)
	source, _ = filepath.Abs(source)
	var below, parts []mountedFS // of dir and of source, dir and source themselves first
	for m := range mountinfo {
		below, parts = m.within(dir, below), m.within(source, parts)
	}
	for _, m := range below {
		for _, of := range parts {
			rel, err := filepath.Rel(of.root, m.root)
			if err == nil && filepath.IsLocal(rel) && m.device == of.device {
				return m.dir
			}
		}
	}
	return ""
}

// within returns list, which has what lies at dir and what is mounted below it, with m, if it is
// one of them.
func (m mountedFS) within(dir string, list []mountedFS) []mountedFS {
	if rel, err := filepath.Rel(m.dir, dir); err == nil && filepath.IsLocal(rel) { // it is longer than what was mounted before
		return []mountedFS{{device: m.device, root: filepath.Join(m.root, rel), dir: dir}}
	}
	if rel, err := filepath.Rel(dir, m.dir); err == nil && filepath.IsLocal(rel) {
		return append(list, m)
	}
	return list
}

// Mounts returns the directories where a recfs is mounted, in the order in which they were.
func Mounts() (dirs []string) {
	for m := range mountinfo {
		if m.fstype == fuseType {
			dirs = append(dirs, m.dir)
		}
	}
	return dirs
}

// mountedAt returns what is mounted at dir, on top if there is more than one.
func mountedAt(dir string) (found mountedFS) {
	for m := range mountinfo {
		if m.dir == dir {
			found = m
		}
	}
	return found
}

// A mountedFS is a line of mountinfo.
type mountedFS struct{ device, root, dir, fstype, source string }

// mountinfo yields what is mounted, in the order in which it was.
func mountinfo(yield func(mountedFS) bool) {
	table, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(table)) {
		if !yield(parseMountinfo(line)) {
			return
		}
	}
}

// parseMountinfo parses a line of mountinfo (see proc(5)): device, directory in it and mount point
// are the third to fifth field, type and source stand after a hyphen.
func parseMountinfo(line string) mountedFS {
	front, back, _ := strings.Cut(line, " - ")
	fields, types := strings.Fields(front), strings.Fields(back)
	if len(fields) < 5 || len(types) < 2 {
		return mountedFS{}
	}
	return mountedFS{fields[2], mountinfoEscapes.Replace(fields[3]), mountinfoEscapes.Replace(fields[4]), types[0], mountinfoEscapes.Replace(types[1])}
}

var mountinfoEscapes = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\043`, "#", `\134`, `\`)
