package datafile

import (
	"io"

	"recfs/nodes"
)

// inflaterCost is about what an open zlib reader takes, with its input.
const inflaterCost = 256 << 10

// stream returns the content of data item i, for one that is too large to be held in memory. Its end is given only
// if the whole zlib stream is sound.
func (r *Reader) stream(i int) (*nodes.Forward, error) {
	d := r.Data[i]
	open := func(in io.Reader) (io.Reader, error) { return newItemReader(i, d, in) }
	return nodes.NewForward(nodes.NewCursor(r.src, d.Offset, d.Stored), open, d.Size, inflaterCost), r.checkStored(i)
}
