//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"recfs/bench/internal/harness"
)

const (
	readers   = 6   // of a mount at a time
	inListing = 120 // files that are read of one directory: the first, the last, and some between
)

// look lets recfs read the recordings in each way and compares.
func (r *round) look(ctx context.Context) {
	told := r.check(ctx)
	trouble := r.copy(ctx)
	if ctx.Err() != nil || r.stuck {
		return
	}
	for _, name := range r.inputs {
		switch {
		case trouble[name] != "" && !told[name]:
			r.finding("%s: check gives the all-clear, but: %s", name, trouble[name])
		case trouble[name] == "" && told[name]:
			r.finding("%s: check tells of a problem that the tree does not show", name)
		}
	}
	r.mount(ctx)
	r.queries(ctx, told)
	if r.rand.IntN(3) == 0 {
		r.interrupt(ctx)
	}
	if r.rand.IntN(3) == 0 {
		r.changing(ctx)
	}
	limit := (budget(smallBudget) + *over) << 10
	for name, kib := range r.commands.peak {
		r.torture.peak[name] = max(r.torture.peak[name], kib)
		if kib > limit {
			r.finding("%s takes %d MiB of memory, the budget is %d MiB", name, kib>>10, budget(smallBudget))
		}
	}
}

// ended notes how a command ended if that is no way to end.
func (r *round) ended(name string, o outcome) {
	if o.code < 0 {
		r.stuck = true
		r.finding("%s: %s: %s", name, o.why, lastLines(o.stderr))
	}
	if p := panicked(o.stderr); p != "" {
		r.finding("%s: %s", name, p)
	}
}

func lastLines(b []byte) string {
	b = bytes.TrimSpace(b)
	return string(b[max(0, len(b)-1000):])
}

// check returns the inputs of which check tells a problem.
func (r *round) check(ctx context.Context) map[string]bool {
	o := r.command(ctx, 0, "check", "--json", r.archive())
	if ctx.Err() != nil {
		return nil
	}
	r.ended("check", o)
	told := map[string]bool{}
	for line := range bytes.Lines(o.stdout) {
		var problem struct{ Path string }
		if err := json.Unmarshal(line, &problem); err != nil {
			r.finding("check: a line is no JSON: %v", err)
			continue
		}
		name := r.inputOf(problem.Path)
		told[name] = true
		if name == "" {
			r.finding("check: a problem of none of the changed recordings: %s", bytes.TrimSpace(line))
		}
	}
	if (o.code == 1) != (len(told) > 0) && o.code >= 0 {
		r.finding("check: exit code %d with problems of %d recordings", o.code, len(told))
	}
	return told
}

// inputOf returns the input that a path is of, "" for others.
func (r *round) inputOf(path string) string {
	rel, err := filepath.Rel(r.archive(), path)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(rel, string(filepath.Separator))
	if slices.Contains(r.inputs, first) {
		return first
	}
	return ""
}

// copy copies everything, and returns what trouble the tree itself shows, by input.
func (r *round) copy(ctx context.Context) map[string]string {
	target := filepath.Join(r.dir, "copy")
	o := r.command(ctx, 0, "cp", "-r", r.archive(), target)
	if ctx.Err() != nil {
		return nil
	}
	r.ended("cp", o)
	trouble := r.troubles(o.stderr, "")
	r.lostTables = r.troubles(o.stderr, "/tables/")
	for _, name := range r.inputs {
		err := filepath.WalkDir(filepath.Join(target, name), func(path string, d iofs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				r.files++
				if said := says(path, d); said != "" {
					trouble[name] = said
				}
			}
			return err
		})
		if err != nil && !errors.Is(err, iofs.ErrNotExist) {
			r.finding("%s: the copy: %v", name, err)
		}
	}
	r.neighbours("cp", filepath.Join(target, wholeDir))
	return trouble
}

// troubles returns what a command wrote of files in the inputs, of those with part in their paths,
// by input.
func (r *round) troubles(stderr []byte, part string) map[string]string {
	trouble := map[string]string{}
	for line := range strings.Lines(string(stderr)) {
		at := strings.Index(line, r.archive())
		if at < 0 {
			continue
		}
		path, _, _ := strings.Cut(line[at:], ": ")
		if !strings.Contains(path, part) {
			continue
		}
		trouble[r.inputOf(strings.Trim(path, `"`))] = strings.TrimSpace(line)
	}
	return trouble
}

// says returns the problem that a file of a tree tells of.
func says(path string, d iofs.DirEntry) string {
	switch d.Name() {
	case "error.txt":
		return path
	case "header.json", "index.json":
		var doc struct{ Problems []json.RawMessage }
		b, err := os.ReadFile(path)
		if err == nil && json.Unmarshal(b, &doc) == nil && len(doc.Problems) > 0 {
			return fmt.Sprintf("%s: %s", path, doc.Problems[0])
		}
	}
	return ""
}

// neighbours compares the whole recordings below dir with what they are alone.
func (r *round) neighbours(way, dir string) {
	got, err := sums(dir, whole)
	r.same(way, got, err, r.whole)
}

// same compares the checksums of files that a way gives with those of the neighbours alone.
func (r *round) same(way string, got map[string]string, err error, alone map[string]string) {
	if err != nil {
		r.finding("%s: a whole neighbour: %v", way, err)
		return
	}
	for name, sum := range alone {
		if got[name] != sum {
			r.finding("%s: %s of a whole neighbour is not what it is alone", way, name)
		}
	}
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func whole(content []byte) []byte { return content }

// sums returns the checksums of a part of all files below dir.
func sums(dir string, part func([]byte) []byte) (map[string]string, error) {
	all := map[string]string{}
	return all, filepath.WalkDir(dir, func(path string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		all[rel] = sumOf(part(b))
		return err
	})
}

// mount reads the inputs through a mount, many files at once, and compares them with their copies.
func (r *round) mount(ctx context.Context) {
	r.inMount(ctx, func(d *harness.Daemon, mnt string) {
		r.readAll(ctx, mnt, []error{syscall.EIO}, func(path string, size int64, content []byte, err error) {
			copied, missing := os.ReadFile(filepath.Join(r.dir, "copy", path))
			switch {
			case err != nil && missing != nil:
			case err != nil:
				r.finding("%s: unreadable in the mount, but cp copies it: %v", path, err)
			case missing != nil:
				r.finding("%s: readable in the mount, but cp does not copy it", path)
			case !bytes.Equal(content, copied):
				r.finding("%s: %d bytes in the mount, other %d bytes in the copy", path, len(content), len(copied))
			case size != int64(len(content)):
				r.finding("%s: %d bytes for stat, %d when read", path, size, len(content))
			}
		})
		r.neighbours("mount", filepath.Join(mnt, wholeDir))
	})
}

// inMount mounts the archive for work.
func (r *round) inMount(ctx context.Context, work func(d *harness.Daemon, mnt string)) {
	log := filepath.Join(r.dir, "log")
	mnt := filepath.Join(r.dir, "mnt")
	err := r.mounted(ctx, r.archive(), mnt, log, func(d *harness.Daemon) { work(d, mnt) })
	if err != nil && ctx.Err() == nil {
		r.finding("mount: %v", err)
	}
	text, _ := os.ReadFile(log)
	if p := panicked(text); p != "" {
		r.finding("mount: %s", p)
	}
}

// readAll reads the files of the inputs, or some where there are many, and gives them to see. A
// directory that cannot be listed is a finding, unless for one of the errors that are allowed.
func (r *round) readAll(ctx context.Context, mnt string, allowed []error, see func(path string, size int64, content []byte, err error)) {
	paths := make(chan string)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			for path := range paths {
				began := time.Now()
				size, content, err := readFile(filepath.Join(mnt, path))
				mu.Lock()
				r.reads++
				if took := time.Since(began); took > *patience {
					r.finding("%s: read in %v", path, took)
				}
				see(path, size, content, err)
				mu.Unlock()
			}
		})
	}
	for _, name := range r.inputs {
		r.walk(ctx, mnt, name, allowed, paths)
	}
	close(paths)
	wg.Wait()
}

// readFile returns the size that stat tells and the content of a file.
func readFile(name string) (int64, []byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return 0, nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, info.Size()+1))
	return info.Size(), content, err
}

// walk sends the paths of files below path.
func (r *round) walk(ctx context.Context, mnt, path string, allowed []error, paths chan<- string) {
	info, err := os.Lstat(filepath.Join(mnt, path))
	if err != nil || ctx.Err() != nil {
		return
	}
	if info.Mode().IsRegular() {
		paths <- path
		return
	}
	entries, err := os.ReadDir(filepath.Join(mnt, path))
	if err != nil && !isOneOf(err, allowed) {
		r.finding("%s is not listed: %v", path, err)
	}
	step := max(1, len(entries)/inListing)
	for i, e := range entries {
		if i%step == 0 || i == len(entries)-1 || e.IsDir() && step < 10 {
			r.walk(ctx, mnt, filepath.Join(path, e.Name()), allowed, paths)
		}
	}
}

func isOneOf(err error, list []error) bool {
	return slices.ContainsFunc(list, func(e error) bool { return errors.Is(err, e) })
}
