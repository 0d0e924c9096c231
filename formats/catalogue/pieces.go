package catalogue

import (
	"context"

	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/ledger"
	"recfs/formats/internal/rowcount"
	"recfs/nodes"
)

// Of a table of which there is one file for all recordings, records have the rows, in pieces of
// [columnar.GroupRows] and what is left, and what is known of each:
//
//	| count | piece … |
//
// piece: | bytes varint | counts, as [rowcount.CodeCounts] writes them |

// A piece is rows of a table of a recording.
type piece struct {
	bytes int
	columnar.Group
}

// maxRowBytes is how many bytes of rows a table has at most of which they are kept.
const maxRowBytes = 64 << 20

// keepRows puts the rows of a table into what is known of it.
func keepRows(ctx context.Context, t *columnar.Table, columns []columnar.Column, to *ledger.Table) error {
	held, err := formats.Charge(ctx, 0)
	if err != nil {
		return err
	}
	defer held.Free()
	w, pieces := &indexfile.Writer{}, []piece{}
	start, rows := 0, 0 // of the piece that is being written
	end := func() {
		if rows > 0 {
			pieces = append(pieces, pieceOf(w.Bytes()[start:], columns, rows))
		}
		start, rows = len(w.Bytes()), 0
	}
	for i := range t.Groups {
		b, err := t.Rows(ctx, i)
		if err != nil {
			return err
		}
		if b.Rows() != t.Groups[i].Rows {
			return nodes.SizeError(int64(t.Groups[i].Rows), int64(b.Rows()))
		}
		if err := held.Grow(2 * b.Size()); err != nil {
			return err
		}
		rowcount.WriteRows(w, b, func() {
			if rows++; rows == columnar.GroupRows {
				end()
			}
		})
	}
	if end(); len(w.Bytes()) > maxRowBytes {
		return nil
	}
	to.Rows, to.Packed = w.Bytes(), len(w.Bytes())
	to.Pieces = indexfile.Append(nil, func(c indexfile.Codec) { codePieces(c, &pieces, columns) })
	return nil
}

// pieceOf returns what is known of rows as they were written.
func pieceOf(b []byte, columns []columnar.Column, rows int) piece {
	count := columnar.NewCounter(columns)
	rowcount.ReadRows(indexfile.NewReader("rows", b), count, rows)
	return piece{len(b), columnar.Group{Rows: rows, Columns: count.Counts()}}
}

func codePieces(c indexfile.Codec, list *[]piece, columns []columnar.Column) {
	indexfile.List(c, list, 1+len(columns), func(p *piece) {
		indexfile.Uint(c, &p.bytes, maxRowBytes)
		rowcount.CodeCounts(c, columns, &p.Group)
	})
}

// piecesOf returns the pieces of a table, whose record may say anything; ok is false if it has
// none that are kept.
func piecesOf(t *ledger.Table, columns []columnar.Column) (list []piece, ok bool) {
	if len(t.Pieces) == 0 {
		return nil, false
	}
	ok = indexfile.Read("rows", t.Pieces, func(c indexfile.Codec) { codePieces(c, &list, columns) }) == nil
	sum := 0
	for i := range list {
		p := &list[i]
		ok = ok && p.Rows > 0 && p.Rows <= columnar.GroupRows && (i == 0 || list[i-1].Rows == columnar.GroupRows)
		sum += p.bytes
	}
	return list, ok && sum == t.Packed
}
