//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
)

// A torture is one run.
type torture struct {
	recfs   string
	dir     string // of its own
	keep    string
	samples []sample
	whole   map[string]string // the files of the whole neighbours: checksums by path
	tables  map[string]string // what is exported of them, likewise

	inputs, files, reads, findings int
	peak                           map[string]int // KiB, by command
}

// A sample is a recording that is one file, or one of a directory that is a recording.
type sample struct {
	path    string // in the source
	content []byte
}

// A round is one set of recordings and what is seen of it.
type round struct {
	*torture
	seed   uint64
	rand   *rand.Rand
	dir    string
	inputs []string // names of the changed recordings in archive
	found  []string
	// What cp wrote of files in tables, by input.
	lostTables map[string]string
	stuck      bool // a command did not end as it should: there is nothing to compare with
	commands
}

func (t *torture) newRound(seed uint64, dir string) *round {
	r := &round{torture: t, seed: seed, dir: dir, rand: newRand(seed, 0)}
	r.commands = commands{recfs: t.recfs, cache: filepath.Join(dir, "cache"), peak: map[string]int{}}
	return r
}

func (r *round) archive() string { return filepath.Join(r.dir, "archive") }

// finding notes something that must not be.
func (r *round) finding(format string, args ...any) {
	r.found = append(r.found, fmt.Sprintf(format, args...))
}
