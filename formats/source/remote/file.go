package remote

import (
	"context"
	"io"
	iofs "io/fs"
	"sync"

	"recfs/formats/source"
)

// A file is an opened object: the version that it was opened at.
type file struct {
	s *Server
	o object

	mu     sync.Mutex
	places [4]place // where somebody reads in sequence, the last one first
	ahead  []*run   // asked for before they are wanted
}

// A place is where a read in sequence ended, and how many blocks its next request has.
type place struct{ next, run int64 }

const filesAhead = 2 // requests of a reader in sequence at a time

// Info implements source.File: an opened object does not change.
func (f *file) Info(context.Context) (source.Info, error) {
	info := f.o.info()
	info.Fixed = true
	return info, nil
}

// ReadAt implements nodes.ReaderAt.
func (f *file) ReadAt(ctx context.Context, p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, iofs.ErrInvalid
	}
	if off >= f.o.size {
		return 0, io.EOF
	}
	if int64(len(p)) > f.o.size-off {
		p, err = p[:f.o.size-off], io.EOF
	}
	first, end := off/blockSize, (off+int64(len(p))+blockSize-1)/blockSize
	until := f.advance(first, end)
	for n < len(p) {
		at := off + int64(n)
		b, failed := f.s.block(ctx, f.o, at/blockSize, until)
		if failed != nil {
			return n, failed
		}
		n += copy(p[n:], b[at%blockSize:])
	}
	return n, err
}

// advance notes a read of the blocks from first to end, and returns up to which block a request for
// them goes: who reads in sequence gets twice as much each time, and what comes next is asked for
// meanwhile.
func (f *file) advance(first, end int64) (until int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := 0
	for i < len(f.places)-1 && !f.places[i].goesOn(first) {
		i++
	}
	p := f.places[i]
	if !p.goesOn(first) {
		p = place{end, 1}
	} else if end > p.next {
		p = place{end, min(2*p.run, maxRun)}
	}
	copy(f.places[1:i+1], f.places[:i])
	f.places[0] = p
	until = max(end, first+p.run)
	if p.run > 1 {
		f.reach(end, until, p.run)
	}
	return until
}

// goesOn reports whether a read at a block goes on where one ended, or is in its last block still.
func (p place) goesOn(first int64) bool { return p.run > 0 && (first == p.next || first == p.next-1) }

// reach asks for what comes behind a read, so that a few requests are on their way. The caller
// holds the lock.
func (f *file) reach(end, until, run int64) {
	waiting := f.ahead[:0]
	for _, r := range f.ahead {
		select {
		case <-r.done:
		default:
			waiting = append(waiting, r)
		}
	}
	clear(f.ahead[len(waiting):])
	f.ahead = waiting
	for from := until; len(f.ahead) < filesAhead && from < end+filesAhead*maxRun; from += run {
		if r := f.s.prefetch(f.o, from, from+run); r != nil {
			f.ahead = append(f.ahead, r)
		}
	}
}

// Close ends what was asked for ahead.
func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.ahead {
		f.s.abandon(r)
	}
	f.ahead = nil
	return nil
}
