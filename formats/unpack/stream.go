package unpack

import (
	"context"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// A state is what a stream does between two reads:
//
//	        a frame is asked for             the end, and the copy is complete
//	┌───▶ idle ─────────────▶ decoding ───────────────────────────────▶ copied
//	│      │  ▲                │                                        ▲  │
//	│      │  └────────────────┘                                        │  │
//	│      │   the end, no copy;                                        │  │
//	│      │   back; an error;                                          │  │
//	│      │   nobody reads on                                          │  │
//	│      └────────────────────────────────────────────────────────────┘  │
//	│          a copy that was completed earlier, also by another process  │
//	└──────────────────────────────────────────────────────────────────────┘
//	           the copy is damaged
type state int

const (
	idle     state = iota // nothing is open
	decoding              // fwd is under way, and part follows it if a copy is made
	copied                // done is open
)

// A packedFile is a compressed file, or a member of a container, at a version.
type packedFile struct {
	key     source.FileKey
	content *formats.Content // nil: no copy is made
	c       Compression
	raw     nodes.ReaderAt

	size  int64 // that it should give, or formats.UnknownSize
	small int64 // as long as it gives no more than that, its frames stay in memory and no copy is made
}

// A stream decompresses one version of a file for all its readers. It goes as far as is read, frame
// by frame. The frames of a small file stay in memory. Those of a large one are written to a
// seekable copy in the disk cache, which serves what was read before, and everything once it is
// complete. Without a copy going back means to start again.
type stream struct {
	packedFile
	copies *store                              // nil: none are made
	ahead  bool                                // the next frame is made while nobody has asked for it; to read raw takes no memory
	frames *cache.Memo[frameKey, []byte]       // has those of all readers
	ends   *cache.Recent[source.FileKey, *end] // what was learnt stays when the stream is closed
	lost   *cache.Recent[source.FileKey, int]

	turn  chan struct{} // holds one while a frame is made
	state state
	end   *end // once it is known, in any state
	fwd   *forward
	part  *copyWriter
	done  *copyFile

	began, used time.Time // the decompression under way, and its last use
}

// enter waits until nobody else is in the stream.
func (s *stream) enter(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave lets the next one in.
func (s *stream) leave() {
	if s.state == decoding {
		s.used = time.Now()
		s.fwd.keep(s.yield)
	}
	<-s.turn
}

// passedFrames is how many frames before the one that is asked for are kept if there is no copy:
// the kernel reads ahead with several requests of up to 1 MiB in flight, which arrive in any order.
const passedFrames = 4 << 20 / frameSize

// frame returns frame i; behind the end it is empty.
func (s *stream) frame(ctx context.Context, i int64) ([]byte, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if b, ok := s.frames.Peek(frameKey{s.key, i}); ok { // another one passed it meanwhile
		return b, nil
	}
	for ctx.Err() == nil {
		if s.end != nil && i*frameSize >= s.end.size {
			return nil, nil
		}
		switch s.state {
		case idle:
			if s.small == 0 && s.openCopy(ctx) {
				continue
			}
			if i == 0 && s.end == nil {
				return s.first(ctx)
			}
			s.begin(ctx)
		case decoding:
			if s.part != nil {
				if b, err := s.part.frame(ctx, i); err == nil {
					return b, nil
				}
			}
			if i < s.fwd.at {
				s.giveUp()
				continue
			}
			at := s.fwd.at
			b, err := s.advance(ctx)
			if at == i || err != nil {
				return b, err
			}
			s.passed(at, b, s.part == nil && i-at <= passedFrames)
		case copied:
			if b, err := s.fromCopy(ctx, i); err == nil || cache.IsShort(err) {
				return b, err
			}
		}
	}
	return nil, ctx.Err()
}

// passed takes a frame that was made on the way to another one, and keeps it in memory if it should
// or the file is small.
func (s *stream) passed(at int64, b []byte, keep bool) {
	if !keep && s.small == 0 {
		dropFrame(b)
		return
	}
	b = kept(b)
	s.frames.Put(frameKey{s.key, at}, b, int64(cap(b))+frameCost)
}

// step decompresses one frame on the way to the end. It returns the end once it is known, and
// whether the stream is small as far as is known.
func (s *stream) step(ctx context.Context) (e *end, small bool, err error) {
	if err := s.enter(ctx); err != nil {
		return nil, false, err
	}
	defer s.leave()
	if s.end == nil && s.state == idle {
		s.begin(ctx)
	}
	if s.end == nil {
		at := s.fwd.at
		b, err := s.advance(ctx)
		if err != nil {
			return nil, false, err
		}
		s.passed(at, b, false)
	}
	return s.end, s.small > 0, nil
}

// first returns frame 0 without beginning a copy: often no more is asked for.
func (s *stream) first(ctx context.Context) ([]byte, error) {
	d := newDecoder(s.c, s.raw, s.key.Version.Size, inputSize)
	b := frameFor(s.size)
	n, err := d.read(ctx, b[:cap(b)])
	if err == nil && n < frameSize { // it is longer than it should be
		b = append(newFrame(), b[:n]...)
		var m int
		m, err = d.read(ctx, b[n:frameSize])
		n += m
	}
	e := endOf(int64(n), err)
	d.close(err == nil || e != nil && e.hurt == nil)
	if e != nil {
		s.ended(e)
	} else if err != nil {
		return nil, err
	}
	return b[:n], nil
}

// begin goes from idle to decoding.
func (s *stream) begin(ctx context.Context) {
	raw := formats.NewTally(s.raw)
	s.fwd = &forward{dec: newDecoder(s.c, raw, s.key.Version.Size, inputSize)}
	if s.copies != nil && s.small == 0 {
		s.part = s.copies.begin(ctx, raw)
	}
	s.state, s.began = decoding, time.Now()
}

// advance makes the next frame while decoding. At the end the state is idle or copied, after an
// error idle. A stream that gives too much ends there, damaged, for all readers and at any time; no
// copy is made of it.
func (s *stream) advance(ctx context.Context) ([]byte, error) {
	b, err := s.fwd.next(ctx)
	e := endOf(s.fwd.dec.out, err)
	if err != nil && e == nil {
		s.giveUp()
		return nil, err
	}
	if bad := bomb(s.fwd.dec.out, s.key.Version.Size); bad != nil {
		e = endOf(s.fwd.dec.out, s.fwd.dec.damaged(bad))
		s.discard()
	}
	if e == nil && s.small > 0 && s.fwd.dec.out > s.small {
		s.small = 0
		if s.copies != nil { // which begins where the file does
			s.giveUp()
			return b, nil
		}
	}
	if e == nil && s.ahead { // the next frame can be made while this one is kept and used
		s.fwd.keep(s.yield)
		s.fwd.goOn()
	}
	if len(b) > 0 {
		s.keep(b)
	}
	if e != nil {
		s.finish(ctx, e)
	}
	return b, nil
}

// keep adds a frame to the copy, if one is made and there is room for it in the disk cache.
func (s *stream) keep(b []byte) {
	if s.part == nil {
		return
	}
	if err := s.part.add(b); err != nil {
		s.discard()
	}
}

// finish goes from decoding to copied, or to idle if there is no copy.
func (s *stream) finish(ctx context.Context, e *end) {
	s.ended(e)
	s.closeForward(e.hurt == nil)
	if s.part == nil {
		return
	}
	if s.done = s.copies.commit(ctx, s.part, e); s.done != nil {
		s.state = copied
	}
	s.part = nil
}

// ended notes the end.
func (s *stream) ended(e *end) {
	s.end = e
	s.ends.Swap(s.key, e)
}

// giveUp goes from decoding to idle.
func (s *stream) giveUp() {
	s.closeForward(false)
	s.discard()
}

// discard lets go of the copy that is made.
func (s *stream) discard() {
	if s.part != nil {
		s.part.discard()
		s.part = nil
	}
}

func (s *stream) closeForward(sound bool) {
	s.fwd.close(sound)
	s.fwd, s.state = nil, idle
}

// openCopy goes from idle to copied, if there is a complete copy.
func (s *stream) openCopy(ctx context.Context) bool {
	if s.copies == nil {
		return false
	}
	if s.done = s.copies.open(ctx); s.done == nil {
		return false
	}
	s.ended(&end{size: s.done.size, hurt: s.done.damage})
	s.state = copied
	return true
}

// fromCopy returns a frame of the copy. If that is damaged the state is idle.
func (s *stream) fromCopy(ctx context.Context, i int64) ([]byte, error) {
	b, err := s.done.frame(ctx, i)
	if err != nil && ctx.Err() == nil && !cache.IsShort(err) {
		s.copies.damaged(s.done, err)
		s.closeCopy()
	}
	return b, err
}

func (s *stream) closeCopy() {
	s.done.f.Close()
	s.done, s.state = nil, idle
}

const (
	// restTime is how long a decompression that others need the memory of stays without a read, and
	// stayTime how long in all. Each time that one was given up it stays twice as long, so that even
	// what takes an hour comes to its end.
	restTime = 250 * time.Millisecond
	stayTime = 2 * time.Second

	maxRestShift = 4
	maxStayShift = 12
)

// yield gives up a decompression that nobody reads, or that others have waited for long enough, and
// reports whether it did. It waits for nothing.
func (s *stream) yield() bool {
	select {
	case s.turn <- struct{}{}:
	default:
		return false
	}
	defer func() { <-s.turn }()
	if s.state != decoding || s.fwd.busy() {
		return false
	}
	lost, _ := s.lost.Get(s.key)
	if time.Since(s.used) < restTime<<min(lost, maxRestShift) && time.Since(s.began) < stayTime<<min(lost, maxStayShift) {
		return false
	}
	s.giveUp()
	s.lost.Swap(s.key, lost+1)
	return true
}

// close lets go of what is open. It may wait for a frame that is being made.
func (s *stream) close() {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	switch s.state {
	case decoding:
		s.giveUp()
	case copied:
		s.closeCopy()
	}
}
