package ledger

import (
	"crypto/sha256"

	"recfs/formats/internal/wire"
)

// A Writer makes a list of records, which come in the order of a walk.
type Writer struct {
	sink   *Sink
	blocks []*Block
	window []Record // of the next block
	bytes  int
	same   *Block // of another list, whose first records are the window; nil: there is none
	last   string // path that is in no container
}

// NewWriter returns a Writer whose blocks go to a Sink.
func NewWriter(sink *Sink) *Writer { return &Writer{sink: sink} }

// Beside returns a Writer for what is to [Writer.Join] this one.
func (w *Writer) Beside() *Writer { return NewWriter(w.sink) }

// Append adds a record.
func (w *Writer) Append(r Record) {
	w.same = nil
	w.append(r)
}

func (w *Writer) append(r Record) {
	if !r.Inner {
		w.last = r.Path
	}
	w.window = append(w.window, r)
	w.bytes += r.size()
	if len(w.window) == blockRecords || w.bytes >= blockBytes || w.isWhole() {
		w.flush()
	}
}

// isWhole reports whether the window is a block of another list.
func (w *Writer) isWhole() bool { return w.same != nil && len(w.window) == w.same.records }

// Keep adds the record where a cursor is in another list. Where all of a block is kept, so is the
// block.
func (w *Writer) Keep(c *Cursor) {
	block := c.list.blocks[c.block]
	if c.i == 0 && len(w.window) >= leastRecords {
		w.flush()
	}
	switch {
	case c.i == 0 && len(w.window) == 0:
		w.same = block
	case w.same != block || c.i != len(w.window):
		w.same = nil
	}
	w.append(c.page[c.i])
}

// KeepRest adds what a cursor has not come to, without reading more. What was in a container that
// is another one now is left out, with what is in the same block.
func (w *Writer) KeepRest(c *Cursor) {
	last := w.last
	isNext := func(path string) bool {
		return last == "" || Order(path, last) > 0 && !Within(path, last)
	}
	next := c.block
	if c.page != nil {
		for ; c.i < len(c.page); c.i++ {
			if isNext(c.page[c.i].Path) {
				w.Keep(c)
			}
		}
		next++
	}
	w.flush()
	for _, b := range c.list.blocks[min(next, len(c.list.blocks)):] {
		if isNext(b.first) {
			w.blocks = append(w.blocks, b)
		}
	}
}

// Join adds what another Writer was given, which is of no use afterwards.
func (w *Writer) Join(o *Writer) {
	if len(o.blocks) > 0 {
		w.flush()
		w.blocks = append(w.blocks, o.blocks...)
	}
	for _, r := range o.window {
		w.Append(r)
	}
}

// flush ends a block.
func (w *Writer) flush() {
	if len(w.window) == 0 {
		return
	}
	if w.isWhole() {
		w.blocks = append(w.blocks, w.same)
	} else {
		plain := encode(w.window)
		packed := wire.Pack(plain)
		b := &Block{about: describe(w.window)}
		b.plain, b.size, b.sum = len(plain), len(packed), sha256.Sum256(packed)
		w.sink.put(b, packed)
		w.blocks = append(w.blocks, b)
	}
	clear(w.window)
	w.window, w.bytes, w.same = w.window[:0], 0, nil
}

// List returns the list. The Writer is of no use afterwards.
func (w *Writer) List() *List {
	w.flush()
	return newList(w.blocks)
}
