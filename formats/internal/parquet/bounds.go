package parquet

import (
	"bytes"
	"encoding/binary"

	"recfs/formats/columnar"
)

// Up to how many bytes a text is a bound, and the path of a recording.
const (
	maxBound       = 64
	maxOriginBound = 1024
)

// boundTexts sets the least and the greatest text of a column that has a dictionary or not.
func (c *chunk) boundTexts(v *columnar.Vector, d *dictionary) {
	if v.Type != columnar.Text {
		return
	}
	switch {
	case v.Words != nil:
		used := usedWords(v)
		c.bound(len(used), func(i int) []byte { return used[i] }, maxBound)
	case d != nil:
		c.boundEntries(d)
	default:
		c.bound(len(v.Ends), func(i int) []byte { return v.TextAt(i) }, maxBound)
	}
}

// boundEntries sets the least and the greatest text of a dictionary.
func (c *chunk) boundEntries(d *dictionary) {
	most := maxBound
	if c.column.Origin {
		most = maxOriginBound
	}
	c.bound(d.n, d.texts(), most)
}

// usedWords returns the words that a column of Words has.
func usedWords(v *columnar.Vector) (list [][]byte) {
	used := make([]bool, len(v.Words))
	for _, n := range v.Int32s {
		if !used[n] {
			used[n] = true
			list = append(list, []byte(v.Words[n]))
		}
	}
	return list
}

// bound sets the least and the greatest of n texts, unless there is none or one has more bytes.
func (c *chunk) bound(n int, text func(i int) []byte, bytesAtMost int) {
	var lo, hi []byte
	var least8, most8 uint64 // of their first bytes
	for i := range n {
		s := text(i)
		switch head := firstBytes(s); {
		case i == 0:
			lo, hi, least8, most8 = s, s, head, head
		case head <= least8 && bytes.Compare(s, lo) < 0:
			lo, least8 = s, head
		case head >= most8 && bytes.Compare(s, hi) > 0:
			hi, most8 = s, head
		}
	}
	if c.bounded = n > 0 && len(lo) <= bytesAtMost && len(hi) <= bytesAtMost; c.bounded {
		c.least, c.most = string(lo), string(hi)
	}
}

// firstBytes returns a number that is greater only for a greater text.
func firstBytes(s []byte) uint64 {
	if len(s) >= 8 {
		return binary.BigEndian.Uint64(s)
	}
	var b [8]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}
