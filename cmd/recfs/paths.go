package main

import (
	"errors"
	iofs "io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"recfs/formats/source/remote"
	"recfs/fs"
)

// maxLinks is how many links in a path on disk are followed that lead into a recording or
// container.
const maxLinks = 40

// splitPath divides name into what exists on disk and the slash-separated rest, "." if there is
// none. A link on disk may lead into a recording or container, where the system does not follow it.
func splitPath(name string) (source, inside string, err error) {
	source, inside = filepath.Clean(name), "."
	for links := 0; ; {
		_, err := os.Stat(source)
		if err == nil {
			return source, inside, nil
		}
		parent := filepath.Dir(source)
		if parent == source || !errors.Is(err, iofs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return "", "", err
		}
		if target, ok := readLink(source); ok && links < maxLinks {
			links++
			source, inside = filepath.Join(target, filepath.FromSlash(inside)), "."
			continue
		}
		inside = filepath.ToSlash(filepath.Join(filepath.Base(source), inside))
		source = parent
	}
}

// meansDir reports whether a name can only be that of a directory.
func meansDir(name string) bool {
	name = filepath.ToSlash(name)
	return strings.HasSuffix(name, "/") || strings.HasSuffix(name, "/.")
}

// behindLinks returns name with what a ".." behind a link leads to on disk in its place: to clean a
// path takes it for the directory that the link is in.
func behindLinks(name string) string {
	const up = "/.."
	for from := 0; ; {
		i := strings.Index(name[from:], up)
		if i < 0 {
			return name
		}
		dir, rest := filepath.Clean(name[:from+i]), name[from+i+len(up):]
		from += i + len(up)
		if _, err := os.Readlink(dir); err != nil || rest != "" && rest[0] != '/' {
			continue
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			parent := filepath.Join(real, "..")
			name, from = parent+rest, len(parent)
		}
	}
}

// readLink returns the path that the link called name points to.
func readLink(name string) (target string, ok bool) {
	target, err := os.Readlink(name)
	if err != nil || filepath.IsAbs(target) {
		return target, err == nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	return filepath.Join(dir, target), err == nil
}

// linkTarget is what name leads to, if it is there.
func linkTarget(name string) string {
	if at, err := filepath.EvalSymlinks(name); err == nil {
		return at
	}
	return name
}

// contains reports whether name is dir or is inside it. In a working directory that is gone one
// relative path is not told from another: it counts as inside.
func contains(dir, name string) bool {
	dir, _ = filepath.Abs(dir)
	name, _ = filepath.Abs(name)
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// sourceOf returns the path of what a mount shows under name, or name if it is in no mount.
// Commands that ask recordings more than their files tell need it.
func sourceOf(name string) string {
	at, err := filepath.EvalSymlinks(name) // also where a ".." after a link leads
	if err == nil {
		at, err = filepath.Abs(at)
	}
	if err == nil {
		at, err = filepath.EvalSymlinks(at) // $PWD may have links
	}
	if err != nil {
		return name
	}
	source, dir, ok := fs.Source(at)
	if !ok {
		return name
	}
	at = filepath.Join(source, strings.TrimPrefix(at, dir))
	if meansDir(name) {
		at += string(filepath.Separator)
	}
	return at
}

// below is the path of what has a name in a source, as its hash tells the shard. That of a URL has
// no escapes.
func below(source, name string) string {
	r, err := remote.ParseURL(name)
	switch of, failed := remote.ParseURL(source); {
	case name == source:
		return base(name)
	case remote.IsURL(name) && err == nil && failed == nil:
		name, source = r.Key, of.Key
	case source == ".":
		return name
	}
	return strings.TrimPrefix(strings.TrimPrefix(name, source), "/")
}

// isPattern reports whether a path may stand for others, as path.Match has it.
func isPattern(name string) bool { return strings.ContainsAny(name, "*?[") }

// base is the last element of name, also where that is a directory such as "." or "..".
func base(name string) string {
	if r, err := remote.ParseURL(name); err == nil && r.Key != "" {
		return path.Base(path.Clean("/" + r.Key))
	}
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	return filepath.Base(name)
}
