package deflate

import (
	"io"

	"github.com/klauspost/compress/flate"
)

const (
	history  = 32 << 10 // how far back what is copied may lie
	outAhead = 64 << 10 // behind that
	inAhead  = 4 << 10  // no more, as what is read may end in it that goes on later
	overrun  = 258 + 8  // what a length may take of out, and how much more copyBack writes
	header   = 1 << 10  // more than a block begins with: 17 bits, 19 lengths of 3, and 316 codes of up to 14
	rewound  = 8        // before at, which a stored block may begin with
)

// A Reader decompresses a stream in 120 KiB of memory. Where it makes no sense, is cut or cannot be read it is decompressed
// again by klauspost, so that bytes and errors are those of that.
type Reader struct {
	open  func() io.Reader
	src   io.Reader
	coded bool // compressed goes on
	inflater
	input  [rewound + inAhead]byte
	output [history + outAhead]byte
	given  int   // of done
	total  int64 // given of all
	err    error
	slow   io.Reader
}

// NewReader returns a Reader of what open returns, which may be called again for the same from its start.
func NewReader(open func() io.Reader) *Reader {
	r := &Reader{open: open, src: open()}
	r.in, r.out, r.pause = r.input[:0], r.output[:], len(r.output)-overrun
	return r
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	for r.given == r.done {
		switch {
		case r.slow != nil:
			return r.slow.Read(p)
		case r.err != nil || len(p) == 0:
			return 0, r.err
		}
		r.step()
	}
	n := copy(p, r.out[r.given:r.done])
	r.given += n
	r.total += int64(n)
	return n, nil
}

// step decompresses some more once all was given.
func (r *Reader) step() {
	if r.done >= r.pause {
		copy(r.out, r.out[r.done-history:r.done])
		r.done, r.given = history, history
	}
	r.refill()
	if r.decode() && !r.behind() {
		return
	}
	r.done, r.err = r.given, nil
	r.slow = flate.NewReader(r.open())
	if _, err := io.CopyN(io.Discard, r.slow, r.total); err != nil {
		r.err, r.slow = err, nil
	}
}

// refill reads more input where there is not much.
func (r *Reader) refill() {
	if r.whole || len(r.in)-r.at >= header {
		return
	}
	drop := max(r.at-rewound, 0)
	n := copy(r.input[:], r.in[drop:])
	r.at -= drop
	for n < len(r.input) && !r.whole {
		more, err := r.src.Read(r.input[n:])
		n, r.whole = n+more, err != nil
	}
	r.in = r.input[:n]
}

// decode decompresses until out is full or there is too little input, and reports whether it makes sense.
func (r *Reader) decode() (ok bool) {
	for {
		switch {
		case r.stored > 0:
			if r.copyStored(); r.stored > 0 {
				return !r.whole || r.at < len(r.in)
			}
		case r.coded:
			switch r.compressed() {
			case atEnd:
				r.coded = false
			case atBad:
				return false
			default:
				return true
			}
		case r.last:
			r.err = io.EOF
			return true
		case !r.whole && len(r.in)-r.at < header:
			return true
		default:
			if r.coded, ok = r.block(); !ok {
				return false
			}
		}
	}
}
