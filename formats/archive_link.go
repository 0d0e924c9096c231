package formats

import (
	iofs "io/fs"
	"path"
	"path/filepath"
	"strings"
)

const (
	maxLinks = 40 // symbolic links in one path, as in the kernel
	maxHops  = 8  // directories behind each other that were reached by a link
)

// outside stands in front of the target of a link that leaves the source, so
// that it leads nowhere in the mount either.
const outside = "outside-the-archive:"

// lstat does not follow links, if fsys has any.
func (a *archive) lstat(name string) (iofs.FileInfo, error) { return iofs.Lstat(a.fsys, name) }

func (a *archive) readLink(name string) (string, error) { return iofs.ReadLink(a.fsys, name) }

// A linked is what a symbolic link points to.
type linked struct {
	path string // free of links
	info iofs.FileInfo
	hops string
}

// follow finds what a link in d points to. A link is shown as that, unless
// it leaves the source, leads nowhere, or leads to a directory one is
// already in: then found is nil and shown is the target of the symbolic link
// to show.
//
// To know where one already is, a folder reached by links remembers in hops
// the directories these links were in, each with a NUL behind it.
func (a *archive) follow(d folder, target string) (found *linked, shown string) {
	at, info, err := a.resolve(d.path, target)
	switch {
	case err == errOutside:
		return nil, outside + target
	case err != nil:
		return nil, target
	case !info.IsDir():
		return &linked{at, info, d.hops}, ""
	}
	hops := d.hops + d.path + "\x00"
	if strings.Count(hops, "\x00") > maxHops {
		return nil, target
	}
	for hop := range strings.SplitSeq(strings.TrimSuffix(hops, "\x00"), "\x00") {
		if at == "." || at == hop || strings.HasPrefix(hop, at+"/") {
			return nil, target
		}
	}
	return &linked{at, info, hops}, ""
}

type linkError string

func (e linkError) Error() string { return string(e) }

const (
	errOutside  = linkError("the link leaves the source")
	errTooMany  = linkError("too many symbolic links")
	errNoFolder = linkError("not a directory")
)

// resolve returns the path that target leads to from the directory dir, and
// what is there. dir and the result are free of links.
func (a *archive) resolve(dir, target string) (string, iofs.FileInfo, error) {
	rest, links := filepath.ToSlash(target), 0
	for rest != "" {
		if path.IsAbs(rest) {
			inside, err := a.inside(rest)
			if err != nil {
				return "", nil, err
			}
			dir, rest = ".", inside
		}
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		switch part {
		case "", ".":
			continue
		case "..":
			if dir == "." {
				return "", nil, errOutside
			}
			dir = path.Dir(dir)
			continue
		}
		next := path.Join(dir, part)
		info, err := a.lstat(next)
		switch {
		case err != nil:
			return "", nil, err
		case info.Mode().Type() == iofs.ModeSymlink:
			if links++; links > maxLinks {
				return "", nil, errTooMany
			}
			t, err := a.readLink(next)
			if err != nil {
				return "", nil, err
			}
			rest = filepath.ToSlash(t) + "/" + rest
		case !info.IsDir() && rest != "":
			return "", nil, errNoFolder
		default:
			dir = next
		}
	}
	info, err := a.lstat(dir)
	return dir, info, err
}

// inside returns an absolute path relative to the source.
func (a *archive) inside(abs string) (string, error) {
	l, ok := a.fsys.(interface{ Path() string })
	if !ok {
		return "", errOutside
	}
	base := filepath.ToSlash(l.Path())
	if abs = path.Clean(abs); abs == base {
		return ".", nil
	}
	rest, ok := strings.CutPrefix(abs, strings.TrimSuffix(base, "/")+"/")
	if !ok {
		return "", errOutside
	}
	return rest, nil
}
