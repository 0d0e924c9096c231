package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"recfs/cache"
)

const (
	blockSize = 256 << 10
	maxRun    = 16       // blocks in one request
	maxAhead  = 32 << 20 // bytes on their way that nobody asked for yet
)

// A blockKey is a block of an object at a version.
type blockKey struct {
	key, tag string
	modified int64
	n        int64
}

func (o object) block(n int64) blockKey { return blockKey{o.key, o.tag, o.modified, n} }

// blocks is how many there are.
func (o object) blocks() int64 { return (o.size + blockSize - 1) / blockSize }

// fetches are the requests for blocks that are on their way.
type fetches struct {
	mu    sync.Mutex
	runs  map[blockKey]*run
	ahead int64 // bytes of runs that nobody waits for
	count func(int64)

	most, mostAhead int64        // blocks of a run, bytes of runs that nobody waits for
	blocks, bytes   atomic.Int64 // that came
}

// newFetches returns none yet. They do not take more at a time than memory can keep until it is
// read.
func newFetches(c *cache.Cache) *fetches {
	return &fetches{
		runs: map[blockKey]*run{}, count: c.Count,
		most: max(1, min(maxRun, c.Budget()/maxRun/blockSize)), mostAhead: min(maxAhead, c.Budget()/4),
	}
}

// A run is blocks in a row that one request asks for.
type run struct {
	o        object
	from, to int64 // blocks
	waiters  int
	ahead    bool // somebody reads in sequence, and will come
	cancel   context.CancelFunc
	done     chan struct{}
	data     [][]byte // its blocks, once done, as long as somebody waits
	err      error
}

func (r *run) size() int64 { return min(r.to*blockSize, r.o.size) - r.from*blockSize }

// block returns a block of an object, which is asked for with those behind it up to block to if it
// is neither in memory nor on its way.
func (s *Server) block(ctx context.Context, o object, n, to int64) ([]byte, error) {
	if b, ok := s.objects.Peek(o.block(n)); ok {
		return b, nil
	}
	f := s.fetches
	f.mu.Lock()
	r := f.runs[o.block(n)]
	if r == nil {
		if b, ok := s.objects.Peek(o.block(n)); ok { // it came meanwhile
			f.mu.Unlock()
			return b, nil
		}
		r = s.begin(o, n, to, false)
	}
	r.waiters++
	f.mu.Unlock()
	defer f.leave(r)
	select {
	case <-r.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.data[n-r.from], nil
}

// has reports whether a block is in memory or on its way.
func (s *Server) has(k blockKey) bool {
	if _, ok := s.objects.Peek(k); ok {
		return true
	}
	s.fetches.mu.Lock()
	defer s.fetches.mu.Unlock()
	return s.fetches.runs[k] != nil
}

// leave ends the wait for a run: if nobody waits for it any more, and nobody will, it ends, too.
func (f *fetches) leave(r *run) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.waiters--; r.waiters == 0 {
		r.data = nil
		f.end(r)
	}
}

// end cancels a run, unless somebody waits for it or will. Who wants its blocks from now on asks
// anew. The caller holds the lock.
func (f *fetches) end(r *run) {
	if r.waiters == 0 && !r.ahead {
		r.cancel()
		f.forget(r)
	}
}

// forget takes a run from those on their way. The caller holds the lock.
func (f *fetches) forget(r *run) {
	for n := r.from; n < r.to; n++ {
		if f.runs[r.o.block(n)] == r {
			delete(f.runs, r.o.block(n))
		}
	}
}

// prefetch asks for blocks that somebody who reads in sequence will want, unless too much is on its
// way.
func (s *Server) prefetch(o object, from, to int64) *run {
	f := s.fetches
	f.mu.Lock()
	defer f.mu.Unlock()
	for ; from < to; from++ {
		if _, ok := s.objects.Peek(o.block(from)); !ok && f.runs[o.block(from)] == nil {
			break
		}
	}
	if from >= min(to, o.blocks()) || f.ahead >= f.mostAhead {
		return nil
	}
	return s.begin(o, from, to, true)
}

// abandon ends a run that was asked for ahead, unless somebody waits for it.
func (s *Server) abandon(r *run) {
	s.fetches.mu.Lock()
	defer s.fetches.mu.Unlock()
	r.ahead = false
	s.fetches.end(r)
}

// begin asks for the blocks from one on up to block to, or up to one that is there or on its way.
// The caller holds the lock of fetches.
func (s *Server) begin(o object, from, to int64, ahead bool) *run {
	f := s.fetches
	to = min(max(to, from+1), from+maxRun, o.blocks())
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{o: o, from: from, to: from, ahead: ahead, cancel: cancel, done: make(chan struct{})}
	for r.to < to && f.runs[o.block(r.to)] == nil {
		if _, ok := s.objects.Peek(o.block(r.to)); ok {
			break
		}
		f.runs[o.block(r.to)] = r
		r.to++
	}
	f.count(r.size())
	if ahead {
		f.ahead += r.size()
	}
	go s.fetch(ctx, r, ahead)
	return r
}

// fetch asks for a run, and remembers its blocks.
func (s *Server) fetch(ctx context.Context, r *run, ahead bool) {
	defer r.cancel()
	data, err := s.read(ctx, r)
	f := s.fetches
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count(-r.size())
	if ahead {
		f.ahead -= r.size()
	}
	f.forget(r)
	if r.err = err; err == nil {
		s.keep(r, data)
	}
	if r.waiters > 0 { // for others it is kept
		r.data = data
	}
	close(r.done)
}

// keep remembers the blocks of a run.
func (s *Server) keep(r *run, blocks [][]byte) {
	s.fetches.bytes.Add(r.size())
	s.fetches.blocks.Add(int64(len(blocks)))
	for i, block := range blocks {
		s.objects.Put(r.o.block(r.from+int64(i)), block, int64(len(block)+len(r.o.key))+200)
	}
}

// read asks for the blocks of a run. It goes on where an answer was cut.
func (s *Server) read(ctx context.Context, r *run) (blocks [][]byte, err error) {
	o, off, n := r.o, r.from*blockSize, r.size()
	if taken := s.wholes.Opened(o); taken != nil {
		return readTaken(taken, off, n)
	}
	count := &s.Range
	if n == o.size {
		count = &s.Get
	}
	var got int64
	err = s.ask(ctx, question{
		url: s.url(o.key), count: count,
		build: func(ctx context.Context) (*http.Request, error) { return s.get(ctx, o, off+got, n-got) },
		take: func(resp *http.Response) error {
			whole, err := s.judge(o, off+got, n-got, resp)
			switch {
			case err != nil:
				return err
			case whole:
				blocks, err = s.takeWhole(ctx, o, off, n, resp.Body)
				return err
			}
			if blocks, err = fill(blocks, resp.Body, &got, n); err != nil {
				return strange(s.url(o.key), "the answer ends after %d of %d bytes", got, n)
			}
			return nil
		},
	})
	return blocks, err
}

// fill reads a body of n bytes into blocks, of which got are there already.
func fill(blocks [][]byte, body io.Reader, got *int64, n int64) ([][]byte, error) {
	for *got < n {
		if *got == int64(len(blocks))*blockSize {
			blocks = append(blocks, make([]byte, min(blockSize, n-*got)))
		}
		read, err := io.ReadFull(body, blocks[len(blocks)-1][*got%blockSize:])
		if *got += int64(read); err != nil {
			return blocks, io.ErrUnexpectedEOF
		}
	}
	return blocks, nil
}

// judge compares an answer with the object and the range that it is to be of. It may be all of the
// object.
func (s *Server) judge(o object, off, n int64, resp *http.Response) (whole bool, err error) {
	url := s.url(o.key)
	tag := resp.Header.Get("ETag")
	modified, err := http.ParseTime(resp.Header.Get("Last-Modified"))
	switch known := tag != "" && o.tag != ""; {
	case known && tag != o.tag, !known && err == nil && o.modified > 0 && modified.Unix() != o.modified/1000:
		return false, stale(url)
	}
	if resp.StatusCode == http.StatusOK {
		switch {
		case resp.ContentLength >= 0 && resp.ContentLength != o.size:
			return false, stale(url)
		case resp.ContentLength < 0 && tag == "" && (o.tag != "" || o.modified > 0 && err != nil):
			return false, strange(url, "the answer has neither length nor version, and is not the file")
		case off == 0 && n == o.size:
			return false, nil
		case s.wholeFiles() && o.size <= maxWhole:
			return true, nil
		case s.wholeFiles():
			return false, &Error{url, "the server does not serve parts of files", errors.ErrUnsupported}
		}
		return false, strange(url, "the answer is all of the object, and not the part that was asked for")
	}
	place, total := contentRange(resp)
	switch want := fmt.Sprintf("%d-%d", off, off+n-1); {
	case total >= 0 && total != o.size:
		return false, stale(url)
	case place != want:
		return false, strange(url, "the answer has bytes %q, and not %s", place, want)
	}
	return false, nil
}

// contentRange returns which bytes an answer has, "FIRST-LAST", and of how many; -1: it does not
// say.
func contentRange(resp *http.Response) (place string, total int64) {
	place, size, _ := strings.Cut(strings.TrimPrefix(resp.Header.Get("Content-Range"), "bytes "), "/")
	if n, err := strconv.ParseUint(size, 10, 63); err == nil {
		return place, int64(n)
	}
	return place, -1
}
