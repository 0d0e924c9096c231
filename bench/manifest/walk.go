//go:build linux

package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	iofs "io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A walk looks at a directory of the system and everything below, some directories at a time.
type walk struct {
	ctx     context.Context
	root    string
	server  *server // what is looked at in place of root; nil: root
	sampler sampler
	turns   chan struct{}
	running sync.WaitGroup

	mu      sync.Mutex
	records map[string]record
}

func (w *walk) start(rel string) {
	w.running.Go(func() {
		w.turns <- struct{}{}
		defer func() { <-w.turns }()
		if w.ctx.Err() == nil {
			w.dir(rel)
		}
	})
}

// dir looks at a directory and its files, and starts the directories in it. Its sum is that of its
// names, one a line, those of directories with a slash.
func (w *walk) dir(rel string) {
	names, kinds, err := w.list(rel)
	h := sha256.New()
	for _, name := range names {
		if kinds[name].IsDir() {
			name += "/"
		}
		fmt.Fprintln(h, name)
	}
	w.add(rel, kindDir, unknown, fmt.Sprintf("%x", h.Sum(nil)), err)
	isDir := func(name string) bool { return kinds[name].IsDir() }
	if w.sampler.large(names, isDir) {
		names = w.sampler.choose(names)
	}
	for _, name := range names {
		if child := path.Join(rel, name); isDir(name) {
			w.start(child)
		} else {
			w.leaf(child, kinds[name])
		}
	}
}

// list returns the sorted names of a directory, and what they are.
func (w *walk) list(rel string) (names []string, kinds map[string]iofs.FileMode, err error) {
	kinds = map[string]iofs.FileMode{}
	if w.server != nil {
		all, err := w.server.list(w.ctx, rel)
		for _, e := range all {
			names = append(names, e.name)
			kinds[e.name] = e.mode()
		}
		return names, kinds, err
	}
	entries, err := os.ReadDir(filepath.Join(w.root, rel))
	for _, e := range entries {
		names = append(names, e.Name())
		kinds[e.Name()] = e.Type()
	}
	return names, kinds, err
}

// leaf looks at what is no directory.
func (w *walk) leaf(rel string, mode iofs.FileMode) {
	full := filepath.Join(w.root, rel)
	if w.server != nil {
		size, sum, err := w.server.read(w.ctx, rel)
		w.add(rel, kindFile, size, sum, err)
	} else if mode&iofs.ModeSymlink != 0 {
		target, err := os.Readlink(full)
		w.add(rel, kindLink, unknown, target, err)
	} else if w.ctx.Err() == nil {
		sum, err := sumFile(full)
		w.add(rel, kindFile, unknown, sum, err)
	}
}

// sumFile returns the SHA-256 of a file's content, or unknown.
func sumFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return unknown, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return unknown, err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// catalogue looks at the file in the root that is not listed, before there are indexes: what it
// says depends on them. Its time is that of the mount.
func (w *walk) catalogue() {
	const name = "recordings.jsonl"
	if w.server != nil {
		w.leaf(name, 0)
		return
	}
	info, err := os.Lstat(filepath.Join(w.root, name))
	if err == nil && info.Mode().IsRegular() {
		w.leaf(name, 0)
		r := w.records[name]
		r[colMtime] = unknown
		w.records[name] = r
	}
}

// add notes what lstat tells of a path, or a server of its size, and what was read there.
func (w *walk) add(rel, kind, size, sum string, err error) {
	r := newRecord(kind)
	r[colSize], r[colSum] = size, sum
	var info iofs.FileInfo
	var statErr error
	if w.server == nil {
		info, statErr = os.Lstat(filepath.Join(w.root, rel))
	}
	if info != nil {
		r[colMode] = fmt.Sprintf("%04o", info.Mode().Perm())
		r[colSize] = strconv.FormatInt(info.Size(), 10)
		r[colMtime] = info.ModTime().UTC().Format(time.RFC3339Nano)
		r[colInode] = strconv.FormatUint(info.Sys().(*syscall.Stat_t).Ino, 10)
	}
	if err = errors.Join(statErr, err); err != nil {
		var errno syscall.Errno
		r[colError] = err.Error()
		if errors.As(err, &errno) {
			r[colError] = cmp.Or(unix.ErrnoName(errno), errno.Error())
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records[rel] = r
}

// A sampler chooses which files of a directory a manifest looks into. It depends on names alone, so
// that one recording gives one choice, however it is packed and whatever build shows it.
type sampler struct {
	most int // files of a directory; 0 is no limit
}

// rule describes the choice: manifests made by different rules cannot be compared.
func (s sampler) rule() string {
	if s.most == 0 {
		return "every file"
	}
	return fmt.Sprintf("of directories that hold more than %d entries, all of them files: the first %d, the last %d "+
		"and those with the least FNV-1a of the name, %[1]d in all; of others every file", s.most, s.most/8, s.most/8)
}

// large reports whether of a directory with these sorted names not all are looked into.
func (s sampler) large(names []string, isDir func(string) bool) bool {
	return s.most > 0 && len(names) > s.most && !slices.ContainsFunc(names, isDir)
}

// choose returns the names that are looked into, sorted as before.
func (s sampler) choose(names []string) []string {
	fnv1a := func(name string) uint64 {
		h := fnv.New64a()
		h.Write([]byte(name))
		return h.Sum64()
	}
	edge := s.most / 8 // at each end
	first, last := names[:edge], names[len(names)-edge:]
	middle := slices.Clone(names[edge : len(names)-edge])
	slices.SortFunc(middle, func(a, b string) int { return cmp.Or(cmp.Compare(fnv1a(a), fnv1a(b)), strings.Compare(a, b)) })
	return slices.Sorted(slices.Values(slices.Concat(first, middle[:s.most-2*edge], last)))
}
