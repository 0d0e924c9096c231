package recordings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"sync"

	"github.com/cespare/xxhash/v2"

	"recfs/formats"
)

// A recording that is a directory has a seal for each of its files that the index is made of. Its
// stamp alone would not do: a segment that grew changes no other one, and the index goes on from
// those that are as they were.

// A part is a file of a recording that is a directory.
type part struct {
	name string
	seal formats.Seal
}

// A tallies is the directory of a recording, whose files count the checksums of what is read.
type tallies struct {
	iofs.FS
	mu    sync.Mutex
	of    map[string]*formats.Tally
	known map[string]formats.Seal // of files that have the same stamp as before
}

func newTallies(fsys iofs.FS) *tallies {
	return &tallies{FS: fsys, of: map[string]*formats.Tally{}, known: map[string]formats.Seal{}}
}

// Open implements fs.FS.
func (t *tallies) Open(name string) (iofs.File, error) {
	f, err := t.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return f, nil
	}
	if _, ok := t.known[name]; ok {
		return talliedFile{f, formats.FileReader(t.FS, name)}, nil
	}
	return talliedFile{f, t.tally(name)}, nil
}

// tally returns the tally of a file, which all its readers share: the checksum is of its bytes in
// order, whichever reader asked for them.
func (t *tallies) tally(name string) *formats.Tally {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of[name] == nil {
		t.of[name] = formats.NewTally(formats.FileReader(t.FS, name))
	}
	return t.of[name]
}

// A talliedFile is an opened file of a tallies.
type talliedFile struct {
	iofs.File
	r formats.ReaderAt
}

// ReadAt implements formats.ReaderAt.
func (f talliedFile) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	return f.r.ReadAt(ctx, p, off)
}

// fit compares the files of an index with those that are there. ErrOther: one of them is another.
func (t *tallies) fit(ctx context.Context, x formats.Index, parts []part) error {
	for _, p := range parts {
		info, err := iofs.Stat(t.FS, p.name)
		if errors.Is(err, iofs.ErrNotExist) || err == nil && p.seal.Length < x.Reach(p.name) {
			return formats.ErrOther
		}
		if err != nil {
			return err
		}
		in := formats.Input{ReaderAt: formats.FileReader(t.FS, p.name), Size: info.Size(), Stamp: formats.StampOf(info)}
		fit, tally, err := p.seal.Fit(ctx, in)
		switch {
		case err != nil:
			return err
		case fit == formats.Other:
			return formats.ErrOther
		case tally != nil:
			t.of[p.name] = tally
		default:
			t.known[p.name] = p.seal
		}
	}
	return nil
}

// seals returns the parts that an index is made of. A file with the stamp that it had before keeps
// its seal, so that a directory with thousands of finished segments is not read again for the last
// one.
func (t *tallies) seals(ctx context.Context, x formats.Index) ([]part, error) {
	entries, err := iofs.ReadDir(t.FS, ".")
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, e := range entries {
		reach := x.Reach(e.Name())
		if reach == 0 {
			continue
		}
		info, err := iofs.Stat(t.FS, e.Name())
		if err != nil {
			return nil, err
		}
		seal, ok := t.known[e.Name()]
		if !ok || seal.Length != reach {
			if seal, err = t.tally(e.Name()).Seal(ctx, formats.StampOf(info), reach); err != nil {
				return nil, err
			}
		}
		seal.Stamp = formats.StampOf(info)
		parts = append(parts, part{e.Name(), seal})
	}
	return parts, nil
}

// scanDir makes the index of a directory, or goes on from an earlier one.
func (o *Opened) scanDir(ctx context.Context, earlier formats.Index, t *tallies) (*sealedIndex, int64, error) {
	in := o.Input
	in.FS = t
	x, err := o.source.Format.Scan(ctx, in, o.Head, earlier)
	if err != nil {
		return nil, 0, err
	}
	parts, err := t.seals(ctx, x)
	if err != nil {
		return nil, 0, err
	}
	return o.sealed(ctx, x, sealOf(o.Stamp, parts), parts)
}

// sealOf returns the seal of a directory, which is made of those of its files.
func sealOf(stamp formats.Stamp, parts []part) formats.Seal {
	all, sum := formats.Seal{Stamp: stamp}, xxhash.New()
	for _, p := range parts {
		all.Length += p.seal.Length
		fmt.Fprintf(sum, "%s\x00%d %x ", p.name, p.seal.Length, p.seal.Sum)
	}
	all.Sum = sum.Sum64()
	return all
}

// refreshDir returns the index of a directory that changed, if its files begin with those of the
// index.
func (o *Opened) refreshDir(ctx context.Context, f file) (*sealedIndex, int64, error) {
	x, err := o.source.Format.ReadIndex(o.Input, o.Head, f.index)
	if err != nil {
		return nil, 0, err
	}
	t := newTallies(o.FS)
	if err := t.fit(ctx, x, f.parts); err != nil {
		return nil, 0, err
	}
	made, cost, err := o.scanDir(ctx, x, t)
	if err == nil && made.seal.Length == f.seal.Length && made.seal.Sum == f.seal.Sum && o.hasHead(f) && bytes.Equal(made.Append(nil), f.index) {
		o.Content.Prove(ctx, f.seal)
		made.seal, made.parts = f.seal, f.parts
	}
	return made, cost, err
}
