package teehistorian

import (
	"context"
	"fmt"
	"io"
	"sort"

	"recfs/nodes"
)

// parts is a content that is made piece by piece, while it is read: a piece is what one chunk holds of it.
type parts struct {
	ends []int64 // of each piece
	load func(ctx context.Context, i int) ([]byte, error)
}

// add adds a piece of that size.
func (p *parts) add(size int64) { p.ends = append(p.ends, p.Size()+size) }

func (p *parts) Size() int64 {
	if len(p.ends) == 0 {
		return 0
	}
	return p.ends[len(p.ends)-1]
}

func (p *parts) ReadAt(b []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("negative offset %d", off)
	}
	n := 0
	i := sort.Search(len(p.ends), func(i int) bool { return p.ends[i] > off })
	for ; i < len(p.ends) && n < len(b); i++ {
		start := int64(0)
		if i > 0 {
			start = p.ends[i-1]
		}
		if p.ends[i] == start {
			continue
		}
		piece, err := p.load(context.Background(), i)
		if err != nil {
			return n, err
		}
		if int64(len(piece)) != p.ends[i]-start {
			return n, nodes.SizeError(p.ends[i]-start, int64(len(piece)))
		}
		n += copy(b[n:], piece[off+int64(n)-start:])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}
