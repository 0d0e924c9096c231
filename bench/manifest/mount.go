//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"recfs/bench/internal/harness"
)

// catalogue opens in the root of a mount and is not listed.
const catalogue = "recordings.jsonl"

// throughMount returns the records of what a mount of source at mnt shows.
func throughMount(ctx context.Context, p harness.Program, source, mnt string, s sampler) ([]record, error) {
	w := &walk{ctx: ctx, root: mnt, sampler: s, turns: make(chan struct{}, runtime.GOMAXPROCS(0))}
	err := p.Mounted(ctx, source, mnt, func() error {
		w.catalogue()
		w.start(".")
		w.running.Wait()
		return ctx.Err()
	})
	return w.records, err
}

// A walk looks at a directory of the system and everything below, some directories at a time.
type walk struct {
	ctx     context.Context
	root    string
	sampler sampler
	turns   chan struct{}
	running sync.WaitGroup

	mu      sync.Mutex
	records []record
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

// dir looks at a directory and its files, and starts the directories in it.
func (w *walk) dir(rel string) {
	entries, err := os.ReadDir(filepath.Join(w.root, rel))
	var names []string
	kinds := map[string]iofs.FileMode{}
	for _, e := range entries {
		names = append(names, e.Name())
		kinds[e.Name()] = e.Type()
	}
	isDir := func(name string) bool { return kinds[name].IsDir() }
	r := newRecord(rel, kindDir)
	r.setSum(namesSum(names, isDir))
	w.attributes(&r)
	w.add(r, err)
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

// leaf looks at what is no directory.
func (w *walk) leaf(rel string, mode iofs.FileMode) {
	if w.ctx.Err() != nil {
		return
	}
	full := filepath.Join(w.root, rel)
	var r record
	var err error
	if mode&iofs.ModeSymlink != 0 {
		r = newRecord(rel, kindLink)
		r.fields[colSum], err = os.Readlink(full)
	} else {
		r = newRecord(rel, kindFile)
		var sum []byte
		if sum, err = sumFile(full); err == nil {
			r.setSum(sum)
		}
	}
	err = errors.Join(w.attributes(&r), err)
	w.add(r, err)
}

// catalogue looks at the file in the root that is not listed, before there are indexes: what it
// says depends on them. Its time is that of the mount.
func (w *walk) catalogue() {
	info, err := os.Lstat(filepath.Join(w.root, catalogue))
	if err == nil && info.Mode().IsRegular() {
		w.leaf(catalogue, 0)
		w.records[0].fields[colMtime] = unknown
	}
}

// attributes sets what lstat tells of the path of r.
func (w *walk) attributes(r *record) error {
	info, err := os.Lstat(filepath.Join(w.root, r.path))
	if err != nil {
		return err
	}
	r.fields[colMode] = fmt.Sprintf("%04o", info.Mode().Perm())
	r.setSize(info.Size())
	r.setMtime(info.ModTime())
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		r.fields[colInode] = strconv.FormatUint(st.Ino, 10)
	}
	return nil
}

func (w *walk) add(r record, err error) {
	if err != nil {
		r.fields[colError] = errnoName(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records = append(w.records, r)
}

// errnoName is the name of the errno that err holds, as EIO.
func errnoName(err error) string {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return err.Error()
	}
	if name := unix.ErrnoName(errno); name != "" {
		return name
	}
	return errno.Error()
}
