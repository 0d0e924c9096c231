package main

import (
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"syscall"
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

// contains reports whether name is dir or is inside it.
func contains(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}
