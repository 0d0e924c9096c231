package columnar

import (
	"math"
	"slices"
	"unicode/utf8"
)

// Add adds what was counted in other rows of a column of that type.
func (c *Counts) Add(o *Counts, t ColumnType) {
	c.Nulls, c.Bytes, c.Items, c.Empty = c.Nulls+o.Nulls, c.Bytes+o.Bytes, c.Items+o.Items, c.Empty+o.Empty
	switch {
	case !o.Bounded:
	case t == Float || t == Double:
		c.boundFloat(math.Float64frombits(uint64(o.Min)))
		c.boundFloat(math.Float64frombits(uint64(o.Max)))
	default:
		c.Bound(o.Min)
		c.Bound(o.Max)
	}
}

// Bounds returns the least and the greatest number that a column of Float or Double has in groups.
// ok is false if it has none.
func Bounds(groups []Group, column int) (low, high float64, ok bool) {
	var all Counts
	for i := range groups {
		all.Add(&groups[i].Columns[column], Double)
	}
	return math.Float64frombits(uint64(all.Min)), math.Float64frombits(uint64(all.Max)), all.Bounded
}

// boundAll takes numbers into Min and Max.
func boundAll[N int32 | int64](c *Counts, list []N) {
	if len(list) > 0 {
		c.Bound(int64(slices.Min(list)))
		c.Bound(int64(slices.Max(list)))
	}
}

// Bound takes a number into Min and Max.
func (c *Counts) Bound(x int64) {
	if !c.Bounded {
		c.Min, c.Max, c.Bounded = x, x, true
		return
	}
	c.Min, c.Max = min(c.Min, x), max(c.Max, x)
}

// boundFloat takes a number that is not NaN into Min and Max.
func (c *Counts) boundFloat(x float64) {
	if x != x {
		return
	}
	bits := int64(math.Float64bits(x))
	if !c.Bounded {
		c.Min, c.Max, c.Bounded = bits, bits, true
		return
	}
	if x < math.Float64frombits(uint64(c.Min)) {
		c.Min = bits
	}
	if x > math.Float64frombits(uint64(c.Max)) {
		c.Max = bits
	}
}

// appendValid appends s with U+FFFD for each byte that is not UTF-8.
func appendValid[S ~string | ~[]byte](dst []byte, s S) []byte {
	n := len(dst)
	dst = append(dst, s...)
	if utf8.Valid(dst[n:]) {
		return dst
	}
	dst = dst[:n]
	for _, r := range string(s) {
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// TextLen returns how many bytes of text s is in a table, where each byte that is not UTF-8 is
// U+FFFD.
func TextLen[S ~string | ~[]byte](s S) (n int64) {
	i := 0
	for ; i+8 <= len(s) && (s[i]|s[i+1]|s[i+2]|s[i+3]|s[i+4]|s[i+5]|s[i+6]|s[i+7]) < utf8.RuneSelf; i += 8 {
	}
	for ; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			for _, r := range string(s) {
				n += int64(utf8.RuneLen(r))
			}
			return n
		}
	}
	return int64(len(s))
}
