package nethack

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// Errors of a diff. The first seven are the classes in which the game's own decoder refuses one.
var (
	errTruncated   = errors.New("the diff is truncated")
	errUnknown     = errors.New("the diff has an unknown command")
	errUnsupported = errors.New("the diff has an rle command, which the game refuses too")
	errCopyStart   = errors.New("the diff copies from before the start of the save before it")
	errCopyEnd     = errors.New("the diff copies from past the end of the save before it")
	errAdjust      = errors.New("the diff changes a byte outside the save before it")
	errSeek        = errors.New("the diff seeks to before the start of the save before it")
	errChecksum    = errors.New("the save does not have the checksum of the diff")
	errWide        = errors.New("the diff has an argument of more than 63 bits")
	errTooLong     = fmt.Errorf("the save is longer than %d bytes", maxBlob)
	errTooMany     = fmt.Errorf("the diff has more than %d commands", maxEdits)
)

// maxEdits is how many pieces a diff may make of a save. A diff of a turn has some hundreds; each
// takes 40 bytes here, so 5 MiB at most.
const maxEdits = 1 << 17

// A patch is a decoded diff: what to change in a save to get the next one. Decoding needs only the
// length of the base, so that everything but the checksum is known to be sound before a byte moves.
type patch struct {
	base int // length of the save it applies to
	size int // length of the save it makes
	made int // pieces of it so far
	src  int64
	diff []byte // that is decoded; what it is cut to ends with it
	err  error  // the first

	moves    []move
	literals []literal
	adjusts  []adjust
	adjusted []byte // values of adjusts, taken from the base before it changes

	sum    uint32
	summed bool
}

// A move copies base[src:src+n] to the output at dst, dst != src. What stays in place is not
// listed.
type move struct{ dst, src, n int }

// A literal is output that the diff holds itself, at an offset, or n zero bytes. It has no pointer,
// which would cost the more the more there are.
type literal struct{ dst, n, at int }

const zeros = -1 // where n zero bytes are

// An adjust is one byte of the output: base[src] + delta.
type adjust struct {
	dst, src int
	delta    byte
}

func (p *patch) reset(base int) {
	*p = patch{
		base: base, moves: p.moves[:0], literals: p.literals[:0], adjusts: p.adjusts[:0], adjusted: p.adjusted[:0],
	}
}

// fail notes what is wrong with the diff. What follows makes nothing any more.
func (p *patch) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// copy appends n bytes from the source position.
func (p *patch) copy(n uint64) {
	dst, src := p.size, int(p.src)
	switch {
	case n == 0 || p.err != nil:
		return
	case p.src < 0:
		p.fail(errCopyStart)
		return
	case p.src > int64(p.base) || n > uint64(int64(p.base)-p.src):
		p.fail(errCopyEnd)
		return
	}
	p.grow(int(n))
	p.src += int64(n)
	if dst == src {
		return
	}
	if k := len(p.moves) - 1; k >= 0 && p.moves[k].dst+p.moves[k].n == dst && p.moves[k].src+p.moves[k].n == src {
		p.moves[k].n += int(n)
		return
	}
	p.moves = append(p.moves, move{dst, src, int(n)})
}

// literal appends n bytes of the diff, or zeros; the source position moves along.
func (p *patch) literal(n, at int) {
	p.literals = append(p.literals, literal{p.size, n, at})
	p.grow(n)
	p.forward(int64(n))
}

// adjust appends the base byte at the source position plus delta.
func (p *patch) adjust(delta byte) {
	if p.err != nil || p.src < 0 || p.src >= int64(p.base) {
		p.fail(errAdjust)
		return
	}
	p.adjusts = append(p.adjusts, adjust{p.size, int(p.src), delta})
	p.grow(1)
	p.src++
}

// seek moves the source position back by n, or forward if n is negative.
func (p *patch) seek(n int64) {
	switch {
	case n == math.MinInt64:
		p.fail(errCopyEnd)
	case n < 0:
		p.forward(-n)
	case p.src < math.MinInt64+n:
		p.fail(errSeek)
	default:
		p.src -= n
	}
}

func (p *patch) forward(n int64) {
	if p.src > math.MaxInt64-n {
		p.fail(errCopyEnd)
		return
	}
	p.src += n
}

func (p *patch) grow(n int) {
	switch p.made++; {
	case p.made > maxEdits:
		p.fail(errTooMany)
	case n > maxBlob-p.size:
		p.fail(errTooLong)
	default:
		p.size += n
	}
}

// apply turns the save before into the save after, in place: most diffs change a few hundred bytes
// of up to a megabyte. spare is a second buffer for diffs that need one; both come back, perhaps
// grown.
func (p *patch) apply(save, spare []byte) (after, other []byte) {
	for _, a := range p.adjusts {
		p.adjusted = append(p.adjusted, save[a.src]+a.delta)
	}
	order := p.order()
	if order == crossing {
		spare = append(spare[:0], save...)
	}
	if p.size > len(save) {
		save = append(save, make([]byte, p.size-len(save))...)
	}
	from := save
	if order == crossing {
		from = spare
	}
	if order == rightward {
		for i := len(p.moves) - 1; i >= 0; i-- {
			m := p.moves[i]
			copy(save[m.dst:m.dst+m.n], from[m.src:m.src+m.n])
		}
	} else {
		for _, m := range p.moves {
			copy(save[m.dst:m.dst+m.n], from[m.src:m.src+m.n])
		}
	}
	for _, l := range p.literals {
		if l.at == zeros {
			clear(save[l.dst : l.dst+l.n])
		} else {
			copy(save[l.dst:], p.diff[l.at:l.at+l.n])
		}
	}
	for i, a := range p.adjusts {
		save[a.dst] = p.adjusted[i]
	}
	return save[:p.size], spare
}

// verify checks the save that apply made, if the diff has a checksum.
func (p *patch) verify(save []byte) error {
	if p.summed && crc32.ChecksumIEEE(save) != p.sum {
		return errChecksum
	}
	return nil
}

// A direction says how the moves of a patch can be done within one buffer.
type direction int

const (
	leftward  direction = iota // every move goes to a smaller offset: first to last
	rightward                  // every move goes to a larger offset: last to first
	crossing                   // both: a move may overwrite what another still needs
)

func (p *patch) order() direction {
	left, right := false, false
	for _, m := range p.moves {
		left = left || m.dst < m.src
		right = right || m.dst > m.src
	}
	switch {
	case left && right:
		return crossing
	case right:
		return rightward
	}
	return leftward
}
