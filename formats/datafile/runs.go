package datafile

import (
	"bytes"
	"io"
)

var _ io.Writer = (*runCounter)(nil)

// runs reports whether the tiles are stored as run lengths. The physics layers of DDNet never are,
// nor are images, which have no layer.
func (l *Layer) runs() bool {
	return l != nil && l.Tiles != nil && *l.Tiles.Version >= tilesRuns && !l.Kind.physics()
}

// recordsIn cuts records out of their data item: those of a layer that passed checkContent, or of
// an image if l is nil. Run lengths are expanded.
func (r *Reader) recordsIn(data []byte, records *Tiles, l *Layer) ([]byte, error) {
	if !l.runs() {
		return data[:records.length()], nil
	}
	var runs runCounter
	_, _ = runs.Write(data)
	if err := r.checkRuns(l, runs.tiles()); err != nil {
		return nil, err
	}
	b := make([]byte, records.length())
	_, err := io.ReadFull(&runReader{in: bytes.NewReader(data)}, b)
	return b, err
}

// checkRuns checks that run lengths of n tiles end exactly with the last tile of a layer.
func (r *Reader) checkRuns(l *Layer, n int64) error {
	w, h := l.dimensions()
	if n == w*h {
		return nil
	}
	return fault("tiles_run_length", r.Items[l.Item].Offset,
		"layer %d has %dx%d tiles, its %d bytes of run lengths make %d", l.Index, w, h, r.Data[*l.Data].Size, max(n, 0))
}

// A runCounter counts the tiles that the run lengths written to it make.
type runCounter struct{ bytes, repeats int64 }

// Write implements io.Writer. The third byte of a tile is how often it is repeated.
func (c *runCounter) Write(p []byte) (int, error) {
	for i := (6 - c.bytes%4) % 4; i < int64(len(p)); i += 4 {
		c.repeats += int64(p[i])
	}
	c.bytes += int64(len(p))
	return len(p), nil
}

// tiles returns how many there are, -1 if the run lengths do not end with a whole one.
func (c *runCounter) tiles() int64 {
	if c.bytes%4 != 0 {
		return -1
	}
	return c.bytes/4 + c.repeats
}

// A runReader gives the tiles that run lengths stand for.
type runReader struct {
	in   io.Reader
	tile [4]byte
	left int // bytes of the run
}

// Read implements io.Reader.
func (r *runReader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if r.left == 0 {
			if _, err := io.ReadFull(r.in, r.tile[:]); err != nil {
				return n, err
			}
			r.left, r.tile[2] = 4*(int(r.tile[2])+1), 0
		}
		k := copy(p[n:], r.tile[(4-r.left%4)%4:])
		n, r.left = n+k, r.left-k
	}
	return n, nil
}
