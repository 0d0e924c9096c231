package example

import (
	"context"

	"recfs/formats"
	"recfs/formats/internal/rowcount"
)

// scan is the Scan of the format. It goes on from an earlier index.
func scan(ctx context.Context, in formats.Input, h formats.Head, earlier formats.Index) (formats.Index, error) {
	x, ok := earlier.(*index)
	if !ok {
		x = &index{reach: int64(len(h.(*header).raw)), rows: rowcount.New(changesColumns)}
	}
	held, err := formats.Charge(ctx, x.Memory())
	if err != nil {
		return nil, err
	}
	defer held.Free()
	head := make([]byte, frameHead)
	for !x.ended && !x.broken && x.reach+frameHead <= in.Size { // the head of a frame counts only when it is whole
		if err := readFull(ctx, in, head, x.reach); err != nil {
			return nil, err
		}
		f := parseFrame(head, len(x.chunks), x.reach)
		switch {
		case f.ends():
			x.ended, x.reach = true, x.reach+frameHead
		case !f.possible():
			x.stop(f.fault(codeFrame, "no chunk of %d bytes is stored in %d", f.size, f.stored))
		case len(x.chunks) == maxChunks || len(x.ticks) > maxTicks:
			x.stop(f.fault(codeMany, "what follows %d chunks and %d ticks is not read", len(x.chunks), len(x.ticks)))
		case f.end() > in.Size:
			return x, nil // it is still being written
		default:
			if err := x.add(ctx, in, f); err != nil {
				return nil, err
			}
			x.reach = f.end()
		}
		if err := held.Grow(max(x.Memory()-held.Size(), 0)); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// add adds the next chunk. What is wrong with it is a problem; the error is that of a read.
func (x *index) add(ctx context.Context, in formats.Input, f frame) error {
	held, err := formats.Charge(ctx, f.cost())
	if err != nil {
		return err
	}
	defer held.Free()
	b, err := f.chunk(ctx, in)
	if err != nil {
		return err
	}
	c := chunk{frame: f, first: len(x.ticks)}
	if f.number > 0 {
		x.rows.EndChunk()
	}
	r := newRecords(f, b, x.least(c.first))
	x.take(&c, r)
	if bad, damaged := formats.Coded(r.fault()); damaged {
		c.damaged = true
		x.problem(bad.Problem())
	}
	x.chunks = append(x.chunks, c)
	return nil
}

// take takes in the records of a chunk.
func (x *index) take(c *chunk, r *records) {
	var line []byte
	for r.ok {
		x.ticks = append(x.ticks, r.now.Tick)
		r.play(r.now.Tick, func() {
			line = r.append(line[:0])
			c.records++
			c.lines += int64(len(line) + 1)
			r.row(x.rows.Batch)
			x.rows.EndRow()
		})
	}
	if c.records > 0 {
		x.scores = r.standings()
	}
}

// stop ends the pass with a frame, whose problem is listed whatever else is.
func (x *index) stop(e *formats.Error) {
	x.broken, x.reach = true, x.reach+frameHead
	x.problems = append(x.problems, e.Problem())
}

// problem lists what is wrong with a chunk. The last one that has room says that it is the last.
func (x *index) problem(p formats.Problem) {
	n := len(x.problems)
	if n == maxProblems-1 {
		p.Message += " (more like this are not listed)"
	}
	if n < maxProblems {
		x.problems = append(x.problems, p)
	}
}
