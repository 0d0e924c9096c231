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
		case !f.possible() || len(x.chunks) == maxChunks || len(x.ticks) > maxTicks:
			x.broken, x.reach = true, x.reach+frameHead
			x.problem(f.fault(codeFrame, "no chunk of %d bytes is stored in %d after %d chunks and %d ticks", f.size, f.stored, len(x.chunks), len(x.ticks)))
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
	bad, damaged := formats.Coded(err)
	if err != nil && !damaged {
		return err
	}
	c := chunk{frame: f, first: len(x.ticks)}
	if f.number > 0 {
		x.rows.EndChunk()
	}
	if !damaged {
		r := newRecords(f, b, x.least(c.first))
		x.take(&c, r)
		bad, damaged = formats.Coded(r.fault())
	}
	if damaged {
		c.damaged = true
		x.problem(bad)
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

// problem lists what is wrong with a chunk.
func (x *index) problem(e *formats.Error) {
	if len(x.problems) < maxProblems {
		x.problems = append(x.problems, e.Problem())
	}
}
