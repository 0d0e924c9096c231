//go:build unix

package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"sync"

	"recfs/bench/internal/harness"
)

// throughCat returns the records of what recfs ls and recfs cat print of the source. One process
// prints many files; the sizes of ls say where one ends.
func (m *maker) throughCat(ctx context.Context, l *listing) ([]record, error) {
	all := l.records(m)
	files := slices.Collect(slices.Chunk(l.leaves(), batch))
	var mu sync.Mutex
	err := parallel(ctx, len(files), func(i int) error {
		records, err := m.cat(ctx, files[i])
		mu.Lock()
		defer mu.Unlock()
		all = append(all, records...)
		return err
	})
	return all, err
}

// cat sets the sums of the files among records, or why they cannot be read. Those that fail leave
// it open where the next one begins, so the others are printed again without them.
func (m *maker) cat(ctx context.Context, records []record) ([]record, error) {
	var split splitter
	var names []string
	for i := range records {
		if r := &records[i]; r.kind() == kindFile && !r.failed() {
			split.add(r)
			names = append(names, m.path(r.path))
		}
	}
	if len(names) == 0 {
		return records, nil
	}
	messages, err := m.program.Run(ctx, &split, "cat", names...)
	switch {
	case err == nil && split.whole():
		split.set()
		return records, nil
	case err != nil && !errors.Is(err, harness.ErrDamaged):
		return nil, err
	}
	if !m.setFailures(split.files, messages) {
		return m.catHalves(ctx, records, split)
	}
	return m.cat(ctx, records)
}

// setFailures gives the files that messages tell of their errors, and reports whether there are
// any.
func (m *maker) setFailures(files []*record, messages []byte) bool {
	failures, any := m.failures(messages), false
	for _, r := range files {
		reason, ok := failures[r.path]
		if !ok {
			continue
		}
		any = true
		r.fields[colError] = reason
		if reason == "not a file" && m.inFile(r.path) {
			r.fields[colError] = ownSource
		}
	}
	return any
}

// catHalves looks for the file of which cat does not print what ls -l says.
func (m *maker) catHalves(ctx context.Context, records []record, split splitter) ([]record, error) {
	if len(split.files) == 1 {
		r := split.files[0]
		r.fields[colError] = fmt.Sprintf("ls -l says %s bytes, cat prints %d", r.fields[colSize], split.total)
		return records, nil
	}
	half := len(records) / 2
	first, err := m.cat(ctx, records[:half])
	if err != nil {
		return nil, err
	}
	second, err := m.cat(ctx, records[half:])
	return slices.Concat(first, second), err
}

// A splitter sums files that are written to it one after the other.
type splitter struct {
	files   []*record
	sizes   []int64
	unknown bool // a size is not known
	sums    []hash.Hash
	at      int   // the file that is being written
	left    int64 // of it
	total   int64
}

// add adds a file, of the size that its record has.
func (s *splitter) add(r *record) {
	size, err := strconv.ParseInt(r.fields[colSize], 10, 64)
	s.unknown = s.unknown || err != nil
	if len(s.files) == 0 {
		s.left = size
	}
	s.files = append(s.files, r)
	s.sizes = append(s.sizes, size)
	s.sums = append(s.sums, sha256.New())
}

func (s *splitter) Write(p []byte) (int, error) {
	n := len(p)
	s.total += int64(n)
	for len(p) > 0 && s.advance() {
		part := p[:min(int64(len(p)), s.left)]
		s.sums[s.at].Write(part)
		p, s.left = p[len(part):], s.left-int64(len(part))
	}
	return n, nil
}

// advance goes on to the file that the next byte belongs to, if there is one.
func (s *splitter) advance() bool {
	for s.left == 0 && s.at+1 < len(s.sizes) {
		s.at++
		s.left = s.sizes[s.at]
	}
	return s.left > 0
}

// whole reports whether exactly the bytes of all files were written.
func (s *splitter) whole() bool {
	var sum int64
	for _, size := range s.sizes {
		sum += size
	}
	return !s.unknown && sum == s.total
}

// set gives the files their sums.
func (s *splitter) set() {
	for i, r := range s.files {
		r.setSum(s.sums[i].Sum(nil))
	}
}
