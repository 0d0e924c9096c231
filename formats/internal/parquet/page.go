package parquet

import (
	"encoding/binary"
	"unsafe"

	"recfs/formats/columnar"
)

// dataHeader appends the PageHeader of a data page of so many bytes, before compression and as they
// are stored, and values.
func dataHeader(b []byte, plain, stored int64, values, encoding int) []byte {
	const dataPageHeader, levels = 5, rleEncoding // of definitions and repetitions
	return pageHeader(b, dataPage, plain, stored, dataPageHeader, values, encoding, levels, levels)
}

// dictionaryHeader appends the PageHeader of a dictionary of so many bytes, before compression and
// as they are stored, and values.
func dictionaryHeader(b []byte, plain, stored int64, values int) []byte {
	const dictionaryPageHeader = 7
	return pageHeader(b, dictionaryPage, plain, stored, dictionaryPageHeader, values, plainEncoding)
}

// pageHeader appends the PageHeader of a page of a type, and the numbers of its kind in a field.
func pageHeader(b []byte, typ int, plain, stored int64, field int, numbers ...int) []byte {
	t := &thrift{b: b}
	t.begin(0)
	t.i32(1, typ)
	t.i32(2, int(plain))
	t.i32(3, int(stored))
	t.begin(field)
	for i, n := range numbers {
		t.i32(i+1, n)
	}
	t.end()
	t.end()
	return t.b
}

// A part is rows of a column and the values that they have.
type part struct {
	row, endRow     int
	value, endValue int
}

// whole returns all rows of a column.
func whole(v *columnar.Vector, rows int) part {
	if v.Type == columnar.Texts {
		return part{0, rows, 0, len(v.Ends)}
	}
	return part{0, rows, 0, rows - int(v.Nulls)}
}

// beginIndexes begins the numbers of values in a dictionary, before which stands how many bits they
// have.
func beginIndexes(out []byte, n, width int) bitRun {
	return beginRun(append(out, byte(width)), n, width)
}

// appendValues appends the values of a column from one to another, in the encoding PLAIN.
func appendValues(out []byte, v *columnar.Vector, from, to int) []byte {
	switch v.Type {
	case columnar.Bool:
		w := bitRun{b: out, width: 1, start: len(out)}
		w.flags(v.Bools[from:to])
		w.fill((to - from + 7) / 8)
		return w.b
	case columnar.Int32:
		return appendNumbers(out, v.Int32s[from:to])
	case columnar.Int64, columnar.Time:
		return appendNumbers(out, v.Int64s[from:to])
	case columnar.Float:
		return appendNumbers(out, v.Floats[from:to])
	case columnar.Double:
		return appendNumbers(out, v.Doubles[from:to])
	}
	for i := from; i < to; i++ {
		out = appendText(out, v.TextAt(i))
	}
	return out
}

// littleEndian says that numbers lie in memory as they do in a file.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// appendNumbers appends numbers, the least significant byte of each first.
func appendNumbers[N int32 | int64 | float32 | float64](out []byte, list []N) []byte {
	if littleEndian {
		b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), len(list)*int(unsafe.Sizeof(N(0))))
		if n := len(out) + len(b); n <= cap(out) && unsafe.SliceData(b) == unsafe.SliceData(out[len(out):n]) {
			return out[:n] // they lie there
		}
		return append(out, b...)
	}
	out, _ = binary.Append(out, binary.LittleEndian, list) // no error, as the size of each is fixed
	return out
}

// place makes the numbers of a column lie in room as they do in a file, where memory has them so.
// There is room for as many as were counted, and others go elsewhere.
func place(v *columnar.Vector, room []byte) {
	if !littleEndian || v.Words != nil || v.Origin {
		return
	}
	switch v.Type {
	case columnar.Int32:
		v.Int32s = numbersIn[int32](room)
	case columnar.Int64, columnar.Time:
		v.Int64s = numbersIn[int64](room)
	case columnar.Float:
		v.Floats = numbersIn[float32](room)
	case columnar.Double:
		v.Doubles = numbersIn[float64](room)
	default:
		return
	}
	v.Placed = true
}

// numbersIn returns room as room for numbers, nil if it has none for any: behind it there may be no
// memory of ours.
func numbersIn[N int32 | int64 | float32 | float64](room []byte) []N {
	n := len(room) / int(unsafe.Sizeof(N(0)))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*N)(unsafe.Pointer(unsafe.SliceData(room))), n)[:0]
}

func appendText[S ~string | ~[]byte](out []byte, s S) []byte {
	out = binary.LittleEndian.AppendUint32(out, uint32(len(s)))
	return append(out, s...)
}

// appendLevels appends the definition levels of a column: 1 where there is a value.
func appendLevels(out []byte, valid []bool) []byte {
	w := beginLevels(out, len(valid), 1)
	w.flags(valid)
	return w.end()
}

// appendListLevels appends the levels of a list of texts.
func appendListLevels(out []byte, v *columnar.Vector) []byte {
	first, defined := listLevels(v)
	for i, levels := range [][]int32{first, defined} {
		w := beginLevels(out, len(levels), i+1)
		w.numbers(levels)
		out = w.end()
	}
	return out
}

// listLevels returns the levels of a list of texts. A repetition level is 0 for the first item of a
// row. A definition level is 0 for a list that is null, 1 for an empty one, 2 for a null in one,
// and 3 for a text.
func listLevels(v *columnar.Vector) (first, defined []int32) {
	start := 0
	for row, end := range v.ItemEnds {
		if start == end {
			level := int32(0)
			if v.Valid[row] {
				level = 1
			}
			first, defined = append(first, 0), append(defined, level)
		}
		for i := start; i < end; i++ {
			level := int32(2)
			if v.ValidItems[i] {
				level = 3
			}
			first, defined = append(first, min(int32(i-start), 1)), append(defined, level)
		}
		start = end
	}
	return first, defined
}
