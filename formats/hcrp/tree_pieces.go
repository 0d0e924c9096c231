package hcrp

import (
	"fmt"
	"io"
	"sort"
	"sync"

	"recfs/nodes"
)

// maxPiece bounds how many bytes one piece may have.
const maxPiece = 256 << 20

// A pieces is a content that is made piece by piece as it is read.
type pieces struct {
	ends []int64 // offset behind each piece
	make func(i int) ([]byte, error)

	mu   sync.Mutex
	last int // the piece that was made last; -1: none
	text []byte
}

func newPieces() *pieces { return &pieces{last: -1} }

// add says that a piece of n bytes follows.
func (p *pieces) add(n int64) { p.ends = append(p.ends, p.Size()+n) }

// start returns where piece i begins.
func (p *pieces) start(i int) int64 {
	if i == 0 {
		return 0
	}
	return p.ends[i-1]
}

// Size returns the number of bytes.
func (p *pieces) Size() int64 { return p.start(len(p.ends)) }

// ReadAt implements io.ReaderAt.
func (p *pieces) ReadAt(b []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("negative offset %d", off)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := sort.Search(len(p.ends), func(i int) bool { return p.ends[i] > off })
	for ; n < len(b) && i < len(p.ends); i++ {
		text, err := p.piece(i)
		if err != nil {
			return n, err
		}
		n += copy(b[n:], text[off+int64(n)-p.start(i):])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (p *pieces) piece(i int) ([]byte, error) {
	if p.last == i {
		return p.text, nil
	}
	size := p.ends[i] - p.start(i)
	if size > maxPiece {
		return nil, fmt.Errorf("a piece of %d bytes, %d are the limit", size, maxPiece)
	}
	text, err := p.make(i)
	if err == nil && int64(len(text)) != size {
		err = nodes.SizeError(size, int64(len(text)))
	}
	p.last, p.text = i, text
	if err != nil {
		p.last = -1
	}
	return text, err
}
