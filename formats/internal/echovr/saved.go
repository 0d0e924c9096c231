package echovr

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
)

// SavedVersion is raised whenever the index of the same recording would be saved as other bytes: with its shape, with what a
// pass finds, and with everything it has lengths of. Tests of the formats hold it to that.
const SavedVersion = 6

// Marshal returns the index as it is kept on disk.
func (x *Index) Marshal() []byte {
	problems, err := json.Marshal(x.Problems)
	if err != nil {
		return nil
	}
	var w saver
	w.ints(SavedVersion)
	w.bytes([]byte(x.End))
	w.bytes(problems)
	w.ints(x.Ticks, x.BonesTicks, x.First, x.Last, int64(x.CRC))
	w.bytes(x.Events)
	w.bytes(x.Scores)
	w.ints(int64(len(x.Chunks)))
	for i := range x.Chunks {
		c := &x.Chunks[i]
		damaged := int64(0)
		if c.Damaged {
			damaged = 1
		}
		w.ints(c.FirstTick, c.Offset, c.Stored, c.Size, damaged)
		w.bytes(c.State)
		w.lengths(c.Lines)
		w.lengths(c.TickSizes)
		for _, p := range c.Pieces {
			w.ints(p.Text, p.Disc, p.Players)
		}
	}
	return w.b
}

// Unmarshal reads what Marshal returned.
func Unmarshal(b []byte) (*Index, error) {
	r := loader{b: b}
	if r.int() != SavedVersion {
		return nil, errSaved
	}
	x := &Index{End: string(r.bytes())}
	problems := r.bytes()
	x.Ticks, x.BonesTicks, x.First, x.Last, x.CRC = r.int(), r.int(), r.int(), r.int(), uint32(r.int())
	x.Events, x.Scores = r.bytes(), r.bytes()
	x.Chunks = make([]ChunkInfo, r.count())
	for i := range x.Chunks {
		c := &x.Chunks[i]
		c.FirstTick, c.Offset, c.Stored, c.Size, c.Damaged = r.int(), r.int(), r.int(), r.int(), r.int() != 0
		c.State = r.bytes()
		c.Lines, c.TickSizes = r.lengths(), r.lengths()
		c.Pieces = make([]PieceSizes, (len(c.Lines)+PieceFrames-1)/PieceFrames)
		for j := range c.Pieces {
			c.Pieces[j] = PieceSizes{r.int(), r.int(), r.int()}
		}
	}
	if r.failed || len(r.b) > 0 {
		return nil, errSaved
	}
	return x, json.Unmarshal(problems, &x.Problems)
}

var errSaved = errors.New("not an index of this version")

type saver struct{ b []byte }

func (w *saver) ints(list ...int64) {
	for _, n := range list {
		w.b = binary.AppendVarint(w.b, n)
	}
}

func (w *saver) bytes(b []byte) {
	w.ints(int64(len(b)))
	w.b = append(w.b, b...)
}

// lengths writes differences: neighbours are of about the same length.
func (w *saver) lengths(list []uint32) {
	w.ints(int64(len(list)))
	last := int64(0)
	for _, n := range list {
		w.ints(int64(n) - last)
		last = int64(n)
	}
}

type loader struct {
	b      []byte
	failed bool
}

func (r *loader) int() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.b, r.failed = nil, true
		return 0
	}
	r.b = r.b[size:]
	return n
}

// count reads how many values follow, each of a byte or more.
func (r *loader) count() int {
	n := r.int()
	if n < 0 || n > int64(len(r.b)) {
		r.b, r.failed = nil, true
		return 0
	}
	return int(n)
}

func (r *loader) bytes() []byte {
	n := r.count()
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *loader) lengths() []uint32 {
	list := make([]uint32, r.count())
	last := int64(0)
	for i := range list {
		last += r.int()
		if last < 0 || last > math.MaxUint32 {
			r.b, r.failed, last = nil, true, 0
		}
		list[i] = uint32(last)
	}
	return list
}
