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
	run    run
	last   string // path that is in no container
}

// A run is the first n records of a block of another list, which came without any between them.
type run struct {
	block *Block
	page  []Record
	n     int
}

// NewWriter returns a Writer whose blocks go to a Sink.
func NewWriter(sink *Sink) *Writer { return &Writer{sink: sink} }

// Beside returns a Writer for what is to [Writer.Join] this one.
func (w *Writer) Beside() *Writer { return NewWriter(w.sink) }

// Append adds a record.
func (w *Writer) Append(r Record) {
	w.endRun()
	w.append(r)
}

func (w *Writer) append(r Record) {
	w.came(&r)
	w.window = append(w.window, r)
	if w.bytes += r.size(); len(w.window) == blockRecords || w.bytes >= blockBytes {
		w.flush()
	}
}

// Keep adds the record where a cursor is in another list. Where all of a block is kept, so is the block.
func (w *Writer) Keep(c *Cursor) {
	block := c.list.blocks[c.block]
	w.came(&c.page[c.i])
	switch {
	case w.run.block == block && w.run.n == c.i:
		w.run.n++
	case c.i == 0 && (len(w.window) == 0 && w.run.n == 0 || len(w.window) >= leastRecords):
		w.endRun()
		w.flush()
		w.run = run{block, c.page, 1}
	default:
		w.Append(c.page[c.i])
		return
	}
	if w.run.n == block.records {
		w.blocks = append(w.blocks, block)
		w.run = run{}
	}
}

// came notes the last record.
func (w *Writer) came(r *Record) {
	if !r.Inner {
		w.last = r.Path
	}
}

// KeepRest adds what a cursor has not come to, without reading more. What was in a container that is another
// one now is left out, with what is in the same block.
func (w *Writer) KeepRest(c *Cursor) {
	next, last := c.block, w.last
	inLast := func(path string) bool { return last != "" && Within(path, last) }
	if c.page != nil {
		for ; c.i < len(c.page); c.i++ {
			if path := c.page[c.i].Path; Order(path, last) > 0 && !(c.page[c.i].Inner && inLast(path)) {
				w.Keep(c)
			}
		}
		next++
	}
	w.endRun()
	w.flush()
	rest := c.list.blocks[min(next, len(c.list.blocks)):]
	for len(rest) > 0 && (Order(rest[0].first, last) <= 0 || inLast(rest[0].first)) {
		rest = rest[1:]
	}
	w.blocks = append(w.blocks, rest...)
}

// Join adds what another Writer was given, which is of no use afterwards.
func (w *Writer) Join(o *Writer) {
	o.endRun()
	if w.endRun(); len(o.blocks) > 0 {
		w.flush()
		w.blocks = append(w.blocks, o.blocks...)
	}
	for _, r := range o.window {
		w.append(r)
	}
}

// endRun puts the records of a block that is not kept as a whole where those of the next block are.
func (w *Writer) endRun() {
	r := w.run
	w.run = run{}
	for _, r := range r.page[:r.n] {
		w.append(r)
	}
}

// flush ends a block.
func (w *Writer) flush() {
	if len(w.window) == 0 {
		return
	}
	plain := encode(w.window)
	b := &Block{about: describe(w.window)}
	packed := wire.Pack(plain)
	b.plain, b.size, b.sum = len(plain), len(packed), sha256.Sum256(packed)
	w.sink.put(b, packed)
	w.blocks = append(w.blocks, b)
	clear(w.window)
	w.window, w.bytes = w.window[:0], 0
}

// List returns the list. The Writer is of no use afterwards.
func (w *Writer) List() *List {
	w.endRun()
	w.flush()
	return newList(w.blocks)
}
