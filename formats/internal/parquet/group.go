package parquet

import (
	"context"
	"slices"

	"recfs/formats/columnar"
	"recfs/nodes"
)

// Make returns the bytes of row group i, in place of those of b if there is room. If it has other
// rows than were counted, or more or fewer nulls or text, the error is [nodes.ErrStale]: they are
// of another version of the source.
func (l *Layout) Make(ctx context.Context, i int, b []byte) ([]byte, error) {
	g := &l.table.Groups[i]
	out := slices.Grow(b[:0], int(l.groupSize(i)))[:l.groupSize(i)]
	plans, rest := make([]plan, len(l.table.Columns)), out
	batch := columnar.NewPlacedBatch(l.table.Columns, *g, func(v *columnar.Vector, c int) {
		plans[c] = planOf(&v.Column, g, c)
		end := plans[c].total()
		place(v, rest[end-plans[c].stored:end])
		rest = rest[end:]
	})
	if err := l.table.Fill(ctx, batch, i); err != nil {
		return nil, err
	}
	if batch.Rows() != g.Rows {
		return nil, nodes.SizeError(int64(g.Rows), int64(batch.Rows()))
	}
	rest = out
	for c := range plans {
		size := plans[c].total()
		if n := len(appendPlain(rest[:0:size], &batch.Columns[c], &plans[c], g.Rows)); int64(n) != size {
			return nil, nodes.SizeError(size, int64(n))
		}
		rest = rest[size:]
	}
	return out, nil
}

// appendPlain appends the chunk of a column as it was planned, unless its values take other bytes.
func appendPlain(out []byte, v *columnar.Vector, p *plan, rows int) []byte {
	d := wordsOf(v, true)
	if v.Origin {
		d = originDictionary(&v.Column, v.Origins)
	}
	if d != nil {
		out = append(dictionaryHeader(out, p.dictionary, p.dictionary, d.n), d.page...)
	}
	out = dataHeader(out, p.page, p.page, p.values, d.orElse(plainEncoding))
	return appendPage(out, v, d, plainEncoding, whole(v, rows))
}
