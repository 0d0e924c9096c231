//go:build linux

package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
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
	r.find(ctx, told)
	r.export(ctx, told)
	if r.rand.IntN(3) == 0 {
		r.interrupt(ctx)
	}
	if r.rand.IntN(3) == 0 {
		r.changing(ctx)
	}
}

// resident holds what a process had of memory against the budget.
func (r *round) resident(name string, kib int) {
	r.peak[name] = max(r.peak[name], kib)
	if kib > (budget(smallBudget)+*over)<<10 {
		r.finding("%s takes %d MiB of memory, the budget is %d MiB", name, kib>>10, budget(smallBudget))
	}
}

// command runs a command to its end, and returns what it printed, and whether it told of damage. It
// is not ok when the context has ended, or the command in no way that a command ends.
func (r *round) command(ctx context.Context, name string, args ...string) (stdout, stderr []byte, damaged, ok bool) {
	limited, cancel := context.WithTimeout(ctx, *patience)
	defer cancel()
	o := r.program.Run(limited, name, args...)
	if ctx.Err() != nil {
		return nil, nil, false, false
	}
	r.resident(name, o.Peak)
	if o.Code < 0 {
		r.stuck = true
		text := o.Err.Error()
		r.finding("%s %s", name, text[max(0, len(text)-1000):])
	}
	if p := panicked(o.Stderr); p != "" {
		r.finding("%s: %s", name, p)
	}
	return o.Stdout, o.Stderr, o.Code == 1, o.Code >= 0
}

// panicked returns what is wrong with what a process wrote: a panic, also one that was caught.
func panicked(text []byte) string {
	for line := range strings.Lines(string(text)) {
		for _, word := range []string{"panic", "internal error", "fatal error", "goroutine "} {
			if strings.Contains(line, word) {
				return strings.TrimSpace(line[:min(len(line), 300)])
			}
		}
	}
	return ""
}

// named returns the inputs of the paths in lines of JSON, and "" for paths of none.
func (r *round) named(command string, lines []byte) map[string]bool {
	inputs := map[string]bool{}
	for line := range bytes.Lines(lines) {
		var found struct{ Path string }
		if err := json.Unmarshal(line, &found); err != nil {
			r.finding("%s: a line is no JSON: %v", command, err)
			continue
		}
		inputs[r.inputOf(found.Path)] = true
	}
	return inputs
}

// inputOf returns the input that a path is of, "" for others.
func (r *round) inputOf(path string) string {
	rel, err := filepath.Rel(r.archive(), path)
	first, _, _ := strings.Cut(rel, string(filepath.Separator))
	if err != nil || !slices.Contains(r.inputs, first) {
		return ""
	}
	return first
}

// check returns the inputs of which check tells a problem.
func (r *round) check(ctx context.Context) map[string]bool {
	out, _, damaged, ok := r.command(ctx, "check", "--json", r.archive())
	told := r.named("check", out)
	if told[""] {
		r.finding("check: a problem of none of the changed recordings")
	}
	if ok && damaged != (len(told) > 0) {
		r.finding("check: damage is %v, with problems of %d recordings", damaged, len(told))
	}
	return told
}

// find asks for damage, for which it makes what is missing of indexes, and for what nothing has.
// Both end.
func (r *round) find(ctx context.Context, told map[string]bool) {
	out, _, _, _ := r.command(ctx, "find", "--json", "--index", "--damaged", r.archive())
	for name := range r.named("find", out) {
		if !told[name] {
			r.finding("%s: check gives the all-clear, but find --damaged has it", name)
		}
	}
	for _, args := range [][]string{{"--player", "*e*", "--at", "2026-11-21"}, {"--item", "*e*"}, {"--finished"}} {
		r.command(ctx, "find", append(args, r.archive())...)
	}
}

func (r *round) copying() []string {
	return []string{"cp", "-r", r.archive(), filepath.Join(r.dir, "copy")}
}

func (r *round) exporting() []string {
	return []string{"export", "tables", r.archive(), filepath.Join(r.dir, "tables")}
}

// export writes the tables of all recordings, and compares what it tells with what check told.
func (r *round) export(ctx context.Context, told map[string]bool) {
	_, stderr, damaged, ok := r.command(ctx, "export", r.exporting()[1:]...)
	if !ok {
		return
	}
	trouble := r.troubles(stderr, "")
	for name, line := range trouble {
		if !told[name] {
			r.finding("%s: check gives the all-clear, but export: %s", name, line)
		}
	}
	if damaged != (len(trouble) > 0) {
		r.finding("export: damage is %v, with trouble of %d recordings", damaged, len(trouble))
	}
	for name := range r.lostTables {
		if trouble[name] == "" {
			r.finding("%s: export tells nothing of a table that cannot be read", name)
		}
	}
	got, err := sums(filepath.Join(r.dir, "tables"), pages)
	r.same("export", got, err, r.tables)
	for name, sum := range got {
		if filepath.Ext(name) == ".parquet" && sum == sumOf(nil) {
			r.finding("export: %s is not whole", name)
		}
	}
}

// pages returns what a Parquet file has before its footer, which tells where and when the recording
// lay and not what it holds; nothing if it is not whole. The length of the footer stands behind it.
func pages(content []byte) []byte {
	rest, begins := bytes.CutPrefix(content, []byte("PAR1"))
	rest, ends := bytes.CutSuffix(rest, []byte("PAR1"))
	if !begins || !ends || len(rest) < 4 {
		return nil
	}
	footer := int(binary.LittleEndian.Uint32(rest[len(rest)-4:]))
	return content[:max(0, len(content)-8-footer)]
}

// copy copies everything, and returns what trouble the tree itself shows, by input.
func (r *round) copy(ctx context.Context) map[string]string {
	_, stderr, _, _ := r.command(ctx, "cp", r.copying()[1:]...)
	trouble := r.troubles(stderr, "")
	r.lostTables = r.troubles(stderr, "/tables/")
	target := filepath.Join(r.dir, "copy")
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
	if ctx.Err() == nil {
		r.neighbours("cp", filepath.Join(target, wholeDir))
	}
	return trouble
}

// troubles returns what a command wrote of files in the inputs, of those with part in their paths,
// by input.
func (r *round) troubles(stderr []byte, part string) map[string]string {
	trouble := map[string]string{}
	for line := range strings.Lines(string(stderr)) {
		if at := strings.Index(line, r.archive()); at >= 0 {
			path, _, _ := strings.Cut(line[at:], ": ")
			if strings.Contains(path, part) {
				trouble[r.inputOf(strings.Trim(path, `"`))] = strings.TrimSpace(line)
			}
		}
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
	return fmt.Sprintf("%x", sha256.Sum256(b))
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
		rel, relErr := filepath.Rel(dir, path)
		all[rel] = sumOf(part(b))
		return cmp.Or(err, relErr)
	})
}

// mount reads the inputs through a mount, many files at once, and compares them with their copies.
func (r *round) mount(ctx context.Context) {
	r.inMount(ctx, func(mnt string) {
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
func (r *round) inMount(ctx context.Context, work func(mnt string)) {
	log, mnt := filepath.Join(r.dir, "log"), filepath.Join(r.dir, "mnt")
	p := r.program
	p.Flags = append([]string{"--log-file", log}, p.Flags...)
	peak, err := p.Mount(ctx, r.archive(), mnt, func(*harness.Daemon) error { work(mnt); return nil })
	r.resident("mount", peak)
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
