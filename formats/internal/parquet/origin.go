package parquet

import (
	"encoding/binary"

	"recfs/formats/columnar"
)

// originDictionary returns the dictionary of a column of Origins, an entry for each that has a
// value; nil: none has one.
func originDictionary(c *columnar.Column, list []columnar.Origin) *dictionary {
	d := &dictionary{exact: true}
	for i := range list {
		switch o := &list[i]; {
		case c.Type == columnar.Text:
			d.page = appendText(d.page, o.Path)
		case o.Dated:
			d.page = binary.LittleEndian.AppendUint64(d.page, uint64(o.Start))
		default:
			continue
		}
		d.n++
	}
	if d.n == 0 {
		return nil
	}
	return d
}

// appendOrigins appends the content of the one data page of a column of Origins: the levels if it
// is Nullable, and the numbers of the dictionary's entries, as runs of equal values.
//
//	run: | rows<<1 uvarint | value in as many bytes as its bits take |
func appendOrigins(out []byte, c *columnar.Column, d *dictionary, list []columnar.Origin) []byte {
	if c.Nullable {
		start := len(out)
		out = append(out, 0, 0, 0, 0)
		for i := range list {
			out = appendRun(out, list[i].Rows, bit(list[i].Dated), 1)
		}
		binary.LittleEndian.PutUint32(out[start:], uint32(len(out)-start-4))
	}
	if d == nil {
		return out
	}
	out = append(out, byte(d.width()))
	n := uint64(0)
	for i := range list {
		if c.Type == columnar.Text || list[i].Dated {
			out = appendRun(out, list[i].Rows, n, d.width())
			n++
		}
	}
	return out
}

// appendRun appends a value of so many bits that so many rows have.
func appendRun(out []byte, rows int, value uint64, width int) []byte {
	out = binary.AppendUvarint(out, uint64(rows)<<1)
	for ; width > 0; width -= 8 {
		out = append(out, byte(value))
		value >>= 8
	}
	return out
}
