//go:build linux

package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"recfs/bench/internal/packing"
)

const (
	inRound  = 6 // changed recordings in a round
	wholeDir = "neighbour"
)

// wholes are samples that are not changed: one of each format.
var wholes = []string{
	"butter/arena_v3early_none.butter", "datafile/maps/new.map", "hcrp/tiny.hcrp", "nethack/small.nhgame",
	"teehistorian/reload-20.1.teehistorian",
}

// make writes the recordings of the round: changed ones, and whole neighbours.
func (r *round) make(ctx context.Context) error {
	err := r.makeWhole()
	for i := 0; i < inRound && err == nil; i++ {
		err = r.makeInput(ctx, i)
	}
	return err
}

func (r *round) makeWhole() (err error) {
	for _, s := range r.samples {
		if slices.Contains(wholes, s.path) {
			err = cmp.Or(err, writeFile(filepath.Join(r.archive(), wholeDir, filepath.Base(s.path)), s.content))
		}
	}
	return err
}

// makeInput writes one changed recording: a file, a directory that is a recording, or one packed.
func (r *round) makeInput(ctx context.Context, i int) error {
	s := r.samples[r.rand.IntN(len(r.samples))]
	m := &mutator{Rand: r.rand}
	for range 3 {
		m.others = append(m.others, r.samples[r.rand.IntN(len(r.samples))].content)
	}
	dir := filepath.Join(r.dir, "input")
	defer os.RemoveAll(dir)
	name := filepath.Base(s.path)
	for _, o := range r.samples {
		if o.path != s.path && filepath.Ext(s.path) == ".dat" && filepath.Dir(o.path) == filepath.Dir(s.path) {
			parent := filepath.Base(filepath.Dir(o.path))
			name = filepath.Join(parent, filepath.Base(s.path))
			if err := writeFile(filepath.Join(dir, parent, filepath.Base(o.path)), o.content); err != nil {
				return err
			}
		}
	}
	if err := writeFile(filepath.Join(dir, name), m.mutate(s.content)); err != nil {
		return err
	}
	return r.pack(ctx, m, dir, name, fmt.Sprintf("%d-", i))
}

// pack puts what is in dir into the archive: as it is, compressed, or in a container, which is then
// sometimes changed, too.
func (r *round) pack(ctx context.Context, m *mutator, dir, name, prefix string) (err error) {
	first, _, inside := strings.Cut(name, string(filepath.Separator))
	target := prefix + first
	var content bytes.Buffer
	c := packing.Compressions[r.rand.IntN(len(packing.Compressions))]
	switch way := r.rand.IntN(10); {
	case way < 3, way < 6 && inside: // a directory is not compressed alone
		r.inputs = append(r.inputs, target)
		return os.Rename(filepath.Join(dir, first), filepath.Join(r.archive(), target))
	case way < 6:
		var plain []byte
		if plain, err = os.ReadFile(filepath.Join(dir, name)); err == nil {
			err = c.Pack(ctx, &content, bytes.NewReader(plain))
		}
		target += c.Ext
	case way < 8:
		target, err = target+".zip", packing.Zip(&content, dir, []uint16{zip.Store, zip.Deflate}[r.rand.IntN(2)])
	case way < 9:
		target, err = target+".tar", packing.Tar(&content, dir)
	default:
		target, err = target+".tar"+c.Ext, packing.TarIn(ctx, &content, dir, c)
	}
	if err != nil {
		return err
	}
	b := content.Bytes()
	if r.rand.IntN(2) == 0 && len(b) <= maxInput {
		b = m.mutate(b)
	}
	r.inputs = append(r.inputs, target)
	return writeFile(filepath.Join(r.archive(), target), b)
}

func writeFile(name string, content []byte) error {
	return cmp.Or(
		os.MkdirAll(filepath.Dir(name), 0o777),
		os.WriteFile(name, content, 0o666),
		os.Chtimes(name, packing.Time, packing.Time),
	)
}
