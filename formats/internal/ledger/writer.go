package ledger

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"sync"

	"recfs/cache"
	"recfs/formats/internal/wire"
)

// A Writer makes a list of records, which come in the order of a walk.
type Writer struct {
	sink   *Sink
	blocks []*Block
	window []Record // of the next block
	from   []Cursor // where each of them is in another list; zero: it is new
	bytes  int
	rows   int    // bytes of rows of their tables
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
	w.append(r, Cursor{})
}

func (w *Writer) append(r Record, from Cursor) {
	if !r.Inner {
		w.last = r.Path
	}
	w.window, w.from = append(w.window, r), append(w.from, from)
	w.bytes += r.size()
	w.rows += r.packed()
	if len(w.window) == blockRecords || w.bytes >= blockBytes || w.rows >= rowBytes || w.isWhole() {
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
	w.append(c.page[c.i], *c)
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
	w.same = nil
	for i, r := range o.window {
		w.append(r, o.from[i])
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
		w.blocks = append(w.blocks, w.block())
	}
	clear(w.window)
	clear(w.from)
	w.window, w.from, w.bytes, w.rows, w.same = w.window[:0], w.from[:0], 0, 0, nil
}

// block returns a block of the window.
func (w *Writer) block() *Block {
	rows := w.windowRows()
	b := &Block{about: describe(w.window)}
	w.sink.put(&b.stored, encode(w.window))
	if len(rows) > 0 {
		w.sink.put(&b.rows, rows)
	}
	return b
}

// windowRows returns the rows of all tables. A record whose rows cannot be read where they were
// kept is one to be made again.
func (w *Writer) windowRows() (rows []byte) {
	var from *Block
	var old []byte // its rows
	for i := range w.window {
		r, c := &w.window[i], &w.from[i]
		r.Tables = slices.Clone(r.Tables) // others read those of a page
		at := 0
		if c.list != nil && r.packed() > 0 {
			if b := c.list.blocks[c.block]; b != from {
				from = b
				old, _ = b.rows.unpack() // of an error there are none
			}
			for i := range c.page[:c.i] {
				at += c.page[i].packed()
			}
		}
		for j := range r.Tables {
			t := &r.Tables[j]
			if end := at + t.Packed; c.list != nil && end <= len(old) {
				t.Rows = old[at:end]
				at = end
			}
			if len(t.Rows) != t.Packed {
				r.Open, t.Pieces, t.Packed = true, nil, 0
			}
			rows = append(rows, t.Rows[:t.Packed]...)
			t.Rows = nil
		}
	}
	return rows
}

// List returns the list. The Writer is of no use afterwards.
func (w *Writer) List() *List {
	w.flush()
	return newList(w.blocks)
}

// SoFar returns a list of what the Writer was given, and the records behind it that are no block
// yet. It goes on.
func (w *Writer) SoFar() (*List, []Record) {
	return newList(slices.Clone(w.blocks)), slices.Clone(w.window)
}

// mostInMemory is how many bytes of new blocks are kept in memory before a file is begun.
const mostInMemory = 1 << 20

// A Sink takes in the new blocks of a list until that is saved: in memory, and once they are many
// in what becomes its file.
type Sink struct {
	mu   sync.Mutex
	disk *cache.Disk // nil: there is none, or it cannot be written
	name string      // of the file of a list
	held int
	blob *cache.Blob // the file so far; nil: it was not begun
}

// NewSink returns a Sink for a file of that name, which is saved unless that is "".
func NewSink(disk *cache.Disk, name string) *Sink { return &Sink{disk: disk, name: name} }

// put compresses and keeps a new part of a list.
func (s *Sink) put(b *stored, plain []byte) {
	packed := wire.Pack(plain)
	b.plain, b.size, b.sum = len(plain), len(packed), sha256.Sum256(packed)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held += len(packed)
	if s.disk != nil && s.held > mostInMemory {
		if s.begin() == nil && b.to(s.blob, packed) == nil {
			return
		}
		s.disk, b.src = nil, nil
	}
	b.packed = bytes.Clone(packed)
}
