package unpack

import (
	"context"
	"errors"
	"io"

	"recfs/cache"
)

// A forward is a decompression from the start of a file to its end, one frame after the other.
// While a frame is used the next one is made.
type forward struct {
	dec   *decoder
	at    int64      // number of the frame that next gives
	ahead chan frame // of that frame; nil: it is not being made
	aside bool       // it is being made for no request
}

// A frame is what was decompressed.
type frame struct {
	b   []byte
	err error
}

// next returns the next frame. With the error of [decoder.read] come the bytes before it.
func (f *forward) next(ctx context.Context) ([]byte, error) {
	if f.ahead == nil {
		f.ahead = f.make(ctx, nil)
	}
	m := <-f.ahead
	if cache.IsShort(m.err) && f.aside { // it needs more memory than before, which is for this request to have
		m = <-f.make(ctx, m.b)
	}
	f.ahead, f.aside = nil, false
	f.at++
	return m.b, m.err
}

// keep takes the memory of the decoder out of the request that it was charged to, unless that was
// done before the frame that is being made was begun: the decoder may let go of it at any moment
// then.
func (f *forward) keep(yield func() bool) {
	if f.ahead == nil {
		f.dec.held.Keep(yield)
	}
}

// goOn begins to make the frame after the one that next gave, for nobody yet.
func (f *forward) goOn() { f.ahead, f.aside = f.make(cache.Aside(), nil), true }

// make decompresses a frame that begins with b in the background.
func (f *forward) make(ctx context.Context, b []byte) chan frame {
	done := make(chan frame, 1)
	go func() {
		if b == nil {
			b = newFrame()
		}
		n, err := f.dec.read(ctx, b[len(b):frameSize])
		done <- frame{b[:len(b)+n], err}
	}()
	return done
}

// busy reports whether a frame is being made at this moment.
func (f *forward) busy() bool { return f.ahead != nil && len(f.ahead) == 0 }

// close ends the decompression; sound if the decoder can be used again.
func (f *forward) close(sound bool) {
	if f.ahead != nil {
		<-f.ahead
		f.ahead = nil
	}
	f.dec.close(sound)
}

// An end is where a stream ends, and how.
type end struct {
	size int64
	hurt *Damage // behind the last byte; nil: none
}

// endOf returns the end of a stream that gave size bytes before the error of a decoder; nil: that
// error is no end.
func endOf(size int64, err error) *end {
	hurt := (*Damage)(nil)
	if err == io.EOF || errors.As(err, &hurt) {
		return &end{size: size, hurt: hurt}
	}
	return nil
}
