//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// interrupt ends commands early. What cp has copied until then is whole.
func (r *round) interrupt(ctx context.Context) {
	target := filepath.Join(r.dir, "interrupted")
	for name, args := range map[string][]string{
		"check": {r.archive()}, "index": {r.archive()}, "cp": {"-r", r.archive(), target},
	} {
		p := r.program
		p.Cache = filepath.Join(r.dir, "cache-"+name)
		p.Interrupt = time.Millisecond * time.Duration(1+r.rand.IntN(2000))
		limited, cancel := context.WithTimeout(ctx, *patience)
		o := p.Run(limited, name, args...)
		cancel()
		if ctx.Err() != nil {
			return
		}
		r.resident(name, o.Peak)
		if p := panicked(o.Stderr); p != "" || errors.Is(o.Err, context.DeadlineExceeded) {
			r.finding("%s, interrupted: %v %s", name, o.Err, p)
		}
	}
	err := filepath.WalkDir(target, func(path string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(target, path)
		part, err := os.ReadFile(path)
		whole, missing := os.ReadFile(filepath.Join(r.dir, "copy", rel))
		if err == nil && (missing != nil || !bytes.Equal(part, whole)) {
			r.finding("%s: cp, interrupted, left a copy of %d bytes, not %d", rel, len(part), len(whole))
		}
		return err
	})
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		r.finding("cp, interrupted: %v", err)
	}
}

// gone are the errors of what was there a moment ago: a .map whose first bytes are no more those of
// a map is a file where a directory was, and the other way round (docs/tree/README.md section 1).
var gone = []error{syscall.ESTALE, syscall.EIO, syscall.ENOENT, syscall.ENOTDIR, syscall.EISDIR}

// changing reads the mount while the recordings are cut, grown, replaced and removed. Reads then
// may fail, as what they read is gone, but nothing else may happen, and not to the neighbours.
func (r *round) changing(ctx context.Context) {
	r.inMount(ctx, func(mnt string) {
		ctx, cancel := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.changeSources(ctx)
		}()
		r.readAll(ctx, mnt, gone, func(path string, _ int64, _ []byte, err error) {
			if err != nil && !isOneOf(err, gone) {
				r.finding("%s, while it changes: %v", path, err)
			}
		})
		cancel()
		<-done
		r.neighbours("mount, while others change", filepath.Join(mnt, wholeDir))
	})
}

// changeSources changes files of the archive until ctx ends. It has a source of chance of its own,
// as it runs beside the reads.
func (r *round) changeSources(ctx context.Context) {
	m := &mutator{Rand: newRand(r.seed, 1)}
	for ctx.Err() == nil {
		name := filepath.Join(r.archive(), r.inputs[m.IntN(len(r.inputs))])
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxInput {
			time.Sleep(time.Millisecond)
			continue
		}
		m.changeSource(name, r.samples[m.IntN(len(r.samples))].content)
		time.Sleep(time.Duration(m.IntN(20)) * time.Millisecond)
	}
}

// changeSource does one thing to a file that its owner could do. Errors do not matter: then nothing
// has changed.
func (m *mutator) changeSource(name string, other []byte) {
	b, err := os.ReadFile(name)
	if err != nil {
		return
	}
	switch m.IntN(5) {
	case 0:
		_ = os.Truncate(name, int64(m.IntN(len(b)+1)))
	case 1:
		if f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0); err == nil {
			_, _ = f.Write(other[:m.IntN(len(other)+1)])
			_ = f.Close()
		}
	case 2:
		if os.WriteFile(name+".new", other, 0o666) == nil {
			_ = os.Rename(name+".new", name)
		}
	case 3:
		_ = os.Remove(name)
		_ = os.WriteFile(name, b, 0o666)
	case 4:
		now := time.Now()
		_ = os.Chtimes(name, now, now)
	}
}
