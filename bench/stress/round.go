//go:build linux

package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

func (t *torture) round(ctx context.Context, seed uint64) error {
	r := t.newRound(seed, filepath.Join(t.dir, "round"))
	defer os.RemoveAll(r.dir)
	if err := r.make(ctx); err != nil {
		return err
	}
	r.look(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t.inputs += len(r.inputs)
	if len(r.found) == 0 {
		return nil
	}
	t.findings += len(r.found)
	return r.report(ctx)
}

// report prints the findings and keeps the recordings, as they were made.
func (r *round) report(ctx context.Context) error {
	if r.keep == "" {
		dir, err := os.MkdirTemp("", "recfs-torture-")
		if err != nil {
			return err
		}
		r.keep = dir
	}
	target := filepath.Join(r.keep, fmt.Sprint(r.seed))
	text := strings.Join(r.found, "\n") + "\n"
	fmt.Printf("seed %d:\n%s", r.seed, text)
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	// Those of the round may have changed since.
	again := r.newRound(r.seed, target)
	return cmp.Or(again.make(ctx), os.WriteFile(filepath.Join(target, "findings.txt"), []byte(text), 0o666))
}

// make writes the recordings of the round: changed ones, and whole neighbours.
func (r *round) make(ctx context.Context) error {
	if err := r.makeWhole(); err != nil {
		return err
	}
	for i := range inRound {
		if err := r.makeInput(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (r *round) makeWhole() error {
	for _, name := range wholes {
		for _, s := range r.samples {
			if s.path != name {
				continue
			}
			if err := writeFile(filepath.Join(r.archive(), wholeDir, filepath.Base(name)), s.content); err != nil {
				return err
			}
		}
	}
	return nil
}

// alone remembers what the whole neighbours read like without the others.
func (t *torture) alone(ctx context.Context) error {
	t.peak = map[string]int{}
	r := t.newRound(0, filepath.Join(t.dir, "alone"))
	defer os.RemoveAll(r.dir)
	if err := r.makeWhole(); err != nil {
		return err
	}
	o := r.command(ctx, 0, "cp", "-r", r.archive(), filepath.Join(r.dir, "copy"))
	if o.code != 0 {
		return fmt.Errorf("cp of whole recordings: %d %s\n%s", o.code, o.why, o.stderr)
	}
	var err, exportErr error
	if o = r.export(ctx); o.code != 0 {
		return fmt.Errorf("export of whole recordings: %d %s\n%s", o.code, o.why, o.stderr)
	}
	t.whole, err = sums(filepath.Join(r.dir, "copy", wholeDir), whole)
	t.tables, exportErr = sums(filepath.Join(r.dir, "tables"), pages)
	if len(t.whole) == 0 || len(t.tables) == 0 {
		err = cmp.Or(err, errors.New("there are no whole neighbours"))
	}
	return cmp.Or(err, exportErr)
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
	siblings := 0
	for _, o := range r.samples {
		if o.path != s.path && filepath.Ext(s.path) == ".dat" && filepath.Dir(o.path) == filepath.Dir(s.path) {
			siblings++
			if err := writeFile(filepath.Join(dir, filepath.Base(filepath.Dir(o.path)), filepath.Base(o.path)), o.content); err != nil {
				return err
			}
		}
	}
	name := filepath.Base(s.path)
	if siblings > 0 {
		name = filepath.Join(filepath.Base(filepath.Dir(s.path)), name)
	}
	if err := writeFile(filepath.Join(dir, name), m.mutate(s.content)); err != nil {
		return err
	}
	return r.pack(ctx, m, dir, name, fmt.Sprintf("%d-", i))
}

// pack puts what is in dir into the archive: as it is, compressed, or in a container, which is then
// sometimes changed, too.
func (r *round) pack(ctx context.Context, m *mutator, dir, name, prefix string) error {
	first, _, inside := strings.Cut(name, string(filepath.Separator))
	target := prefix + first
	var content bytes.Buffer
	var err error
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
		var plain bytes.Buffer
		target, err = target+".tar"+c.Ext, cmp.Or(packing.Tar(&plain, dir), c.Pack(ctx, &content, &plain))
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
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(name, content, 0o666); err != nil {
		return err
	}
	return os.Chtimes(name, packing.Time, packing.Time)
}
