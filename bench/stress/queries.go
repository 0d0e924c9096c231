//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"path/filepath"
)

// queries asks find and export about the recordings, and compares that with what check told.
func (r *round) queries(ctx context.Context, told map[string]bool) {
	r.find(ctx, told)
	o := r.export(ctx)
	if ctx.Err() != nil {
		return
	}
	r.ended("export", o)
	trouble := r.troubles(o.stderr, "")
	for name, line := range trouble {
		if !told[name] {
			r.finding("%s: check gives the all-clear, but export: %s", name, line)
		}
	}
	if (o.code == 1) != (len(trouble) > 0) && o.code >= 0 {
		r.finding("export: exit code %d with trouble of %d recordings", o.code, len(trouble))
	}
	for name := range r.lostTables {
		if trouble[name] == "" && o.code >= 0 {
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

// find asks for damage, for which it makes what is missing of indexes, and for what nothing has.
// Both end.
func (r *round) find(ctx context.Context, told map[string]bool) {
	o := r.command(ctx, 0, "find", "--json", "--index", "--damaged", r.archive())
	if ctx.Err() != nil {
		return
	}
	r.ended("find", o)
	for line := range bytes.Lines(o.stdout) {
		var found struct{ Path string }
		if err := json.Unmarshal(line, &found); err != nil {
			r.finding("find: a line is no JSON: %v", err)
		} else if name := r.inputOf(found.Path); !told[name] {
			r.finding("%s: check gives the all-clear, but find --damaged has it", name)
		}
	}
	for _, args := range [][]string{{"--player", "*e*", "--at", "2026-11-21"}, {"--item", "*e*"}, {"--finished"}} {
		if o = r.command(ctx, 0, "find", append(args, r.archive())...); ctx.Err() == nil {
			r.ended("find "+args[0], o)
		}
	}
}

// export writes the tables of all recordings.
func (r *round) export(ctx context.Context) outcome {
	return r.command(ctx, 0, "export", "tables", r.archive(), filepath.Join(r.dir, "tables"))
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
