package remote

import (
	"context"
	"io"
	iofs "io/fs"
	"slices"
	"sync"

	"recfs/formats/source"
	"recfs/nodes"
)

// A file is an opened object: the version that it was opened at.
type file struct {
	s *Server
	o object

	mu     sync.Mutex
	places [4]place // where somebody reads in sequence, the last one first
	ahead  []*run   // asked for before they are wanted
}

// A place is where a read in sequence began and ended, how many blocks its next request has and may
// have, up to which block it has asked, up to which they came, and up to which it is known to go: 0
// if nobody told.
type place struct{ first, next, run, most, asked, came, until int64 }

const (
	filesAhead = 7          // requests ahead of the readers of a file at a time
	runsAhead  = 2          // of a reader that did not read much yet
	surely     = 4          // blocks of a request from which on a reader is taken to go on
	keptBehind = 4 * surely // blocks that a reader who reads on is not through with
)

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
	until := f.advance(first, end, (min(nodes.UntilOf(ctx), f.o.size)+blockSize-1)/blockSize)
	for n < len(p) {
		at := off + int64(n)
		b, failed := f.s.block(ctx, f.o, at/blockSize, until)
		if failed != nil {
			return n, failed
		}
		n += copy(p[n:], b[at%blockSize:])
	}
	f.came(end, until)
	return n, err
}

// came notes that a read up to block end was answered, with what was asked for together with it.
func (f *file) came(end, until int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.places {
		if p := &f.places[i]; p.next == end {
			p.came = max(p.came, until)
		}
	}
}

// advance notes a read of the blocks from first to end, and returns up to which block a request for
// them goes. A reader in sequence gets twice as much each time, and after a while what comes next
// is asked for meanwhile, up to as much as was read. A reader that is known to go on up to block
// until gets all that at once, and what it is through with makes room first. Once memory does not
// hold what came until it is read, it gets less.
func (f *file) advance(first, end, until int64) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := 0
	for i < len(f.places)-1 && !f.places[i].goesOn(first) {
		i++
	}
	p := f.places[i]
	switch {
	case !p.goesOn(first):
		p = place{first: first, next: end, run: 1, most: f.s.fetches.most, asked: end}
		if until > end {
			p.run, p.asked = p.most, max(end, min(first+p.most, until))
		}
	case first < p.came && !f.s.has(f.o.block(first)):
		p = place{first: first, next: end, run: 1, most: max(1, p.most/4), asked: end}
	case end > p.next:
		p.next = end
	}
	if until > end {
		if p.until == 0 { // somebody else's place so far
			p.run = p.most
		}
		p.until = until
	} else if p.next > p.until {
		p.until = 0
	}
	if p.next > p.asked {
		p.asked = max(end, first+p.run)
		p.run = min(2*p.run, p.most)
	}
	far, last := p.next-p.first, f.o.blocks()
	if p.until > 0 {
		far, last = last, p.until
		for n := max(1, first-keptBehind-(end-first)); n < first-keptBehind; n++ { // the first one is asked for again
			f.s.objects.Drop(f.o.block(n))
		}
	}
	for p.run >= surely && p.asked < last && p.asked-p.next < min(far, filesAhead*p.run) && f.reach(p.asked, min(p.asked+p.run, last)) {
		p.asked += p.run
		p.run = min(2*p.run, p.most)
	}
	copy(f.places[1:i+1], f.places[:i])
	f.places[0] = p
	return max(end, min(p.asked, first+maxRun))
}

// goesOn reports whether a read at a block goes on where one ended, or is in its last block still.
func (p place) goesOn(first int64) bool { return p.run > 0 && (first == p.next || first == p.next-1) }

// reach asks for blocks that are wanted soon, and reports whether it did. The caller holds the
// lock.
func (f *file) reach(from, to int64) bool {
	f.ahead = slices.DeleteFunc(f.ahead, func(r *run) bool {
		select {
		case <-r.done:
			return true
		default:
			return false
		}
	})
	if len(f.ahead) == filesAhead {
		return false
	}
	r := f.s.prefetch(f.o, from, to)
	if r != nil {
		f.ahead = append(f.ahead, r)
	}
	return r != nil
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
