//go:build unix

package main

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"recfs/bench/internal/harness"
)

// catalogue opens in the root of a mount and is not listed.
const catalogue = "recordings.jsonl"

// The ways by which a tree is looked at. Both are compared by viaAll.
const (
	viaMount = "mount"
	viaCopy  = "cp"
	viaAll   = "all"
)

// A maker makes the manifest of one source.
type maker struct {
	program harness.Program
	source  string // absolute
	temp    string // for the mount, caches and copies
	sampler sampler
}

// path is the path that a command is given for a path in the tree.
func (m *maker) path(rel string) string { return filepath.Join(m.source, rel) }

// onDisk reports whether a path in the tree is one of the source itself.
func (m *maker) onDisk(rel string) bool {
	_, err := os.Lstat(m.path(rel))
	return err == nil
}

// inFile reports whether a path in the tree is a file on disk or lies in one. Commands that are
// given such a path take the file for their source, and judge it and what is in it by the first
// bytes.
func (m *maker) inFile(rel string) bool {
	for ; rel != "."; rel = path.Dir(rel) {
		if info, err := os.Lstat(m.path(rel)); err == nil {
			return !info.IsDir()
		}
	}
	return false
}

// rel is the path in the tree for one that a command prints.
func (m *maker) rel(printed string) (string, bool) {
	if printed == m.source {
		return ".", true
	}
	return strings.CutPrefix(printed, m.source+"/")
}
