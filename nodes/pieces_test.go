package nodes_test

import (
	"bytes"
	"context"
	"testing"

	"pgregory.net/rapid"

	"recfs/nodes"
)

// Pieces lend what ReadAt copies, and learn how much of each was lent.
func TestLend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 9)).Draw(t, "pieces")
		lent := make([]int, len(pieces))
		p := nodes.NewLoans(func(_ context.Context, i int) ([]byte, func(int), error) {
			return pieces[i], func(n int) { lent[i] += n }, nil
		})
		for _, b := range pieces {
			p.Add(int64(len(b)))
		}
		all := bytes.Join(pieces, nil)
		off := rapid.IntRange(0, len(all)).Draw(t, "off")
		n := rapid.IntRange(0, len(all)-off).Draw(t, "n")
		copied := make([]byte, n)
		if _, err := p.ReadAt(t.Context(), copied, int64(off)); err != nil || !bytes.Equal(copied, all[off:off+n]) {
			t.Fatalf("read %x, %v, want %x", copied, err, all[off:off+n])
		}
		loan, err := p.Lend(t.Context(), n, int64(off))
		if err != nil || !bytes.Equal(bytes.Join(loan.Parts, nil), copied) {
			t.Fatalf("lent %x, %v, want %x", loan.Parts, err, copied)
		}
		loan.Return()
		for i, start := 0, 0; i < len(pieces); i++ {
			end := start + len(pieces[i])
			if want := max(0, min(end, off+n)-max(start, off)); lent[i] != want {
				t.Errorf("%d bytes of piece %d were lent, want %d", lent[i], i, want)
			}
			start = end
		}
	})
}
