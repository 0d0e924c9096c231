package recordings

import (
	"bytes"
	"context"
	"fmt"
	"slices"

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

// A tallies counts the checksums of what is read of the files of a recording.
type tallies struct {
	files formats.Files
	of    map[string]*formats.Tally
	known map[string]formats.Seal // of files that have the same stamp as before
}

func newTallies(files formats.Files) *tallies {
	return &tallies{files, map[string]*formats.Tally{}, map[string]formats.Seal{}}
}

// fit compares the files of an index with those that are there. ErrOther: one of them is another.
func (t *tallies) fit(ctx context.Context, x formats.Index, parts []part) error {
	for _, p := range parts {
		f, err := t.files.Open(ctx, p.name)
		if err != nil || p.seal.Length < x.Reach(p.name) {
			return formats.ErrOther
		}
		fit, tally, err := p.seal.Fit(ctx, formats.Input{ReaderAt: f, Size: f.Stamp.Size, Stamp: f.Stamp})
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

// watch returns the files with readers that count. All readers of a file share its tally: the
// checksum is of its bytes in order, whichever reader asked for them.
func (t *tallies) watch() formats.Files {
	files := slices.Clone(t.files)
	for i, f := range files {
		if _, ok := t.known[f.Name]; !ok {
			files[i].ReaderAt = t.tally(f)
		}
	}
	return files
}

func (t *tallies) tally(f formats.File) *formats.Tally {
	if t.of[f.Name] == nil {
		t.of[f.Name] = formats.NewTally(f)
	}
	return t.of[f.Name]
}

// seals returns the parts that an index is made of. A file with the stamp that it had before keeps
// its seal, so that a directory with thousands of finished segments is not read again for the last
// one.
func (t *tallies) seals(ctx context.Context, x formats.Index) (parts []part, err error) {
	for _, f := range t.files {
		reach := x.Reach(f.Name)
		if reach == 0 {
			continue
		}
		seal, ok := t.known[f.Name]
		if !ok || seal.Length != reach {
			if seal, err = t.tally(f).Seal(ctx, f.Stamp, reach); err != nil {
				return nil, err
			}
		}
		seal.Stamp = f.Stamp
		parts = append(parts, part{f.Name, seal})
	}
	return parts, nil
}

// scanDir makes the index of a directory, or goes on from an earlier one.
func (o *Opened) scanDir(ctx context.Context, earlier formats.Index, t *tallies) (*sealedIndex, int64, error) {
	in := o.Input
	in.Files = t.watch()
	in.Beside = in.Files
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
	t := newTallies(o.Files)
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
