package parquet

import (
	"encoding/binary"
	"unsafe"

	"recfs/formats/columnar"
)

// A dictionary is the values of a column in a row group, each once, for data pages that have their
// numbers.
type dictionary struct {
	page  []byte // the values, in the encoding PLAIN
	n     int    // how many
	index []int32
	exact bool // numbers have no more bits in data pages than they need
}

// orElse returns the encoding of data pages with this dictionary, or with none.
func (d *dictionary) orElse(encoding int) int {
	if d == nil {
		return encoding
	}
	return dictionaryEncoding
}

// width returns how many bits the number of a value takes in data pages: whole bytes if it is more
// than one, as zstd finds only those again.
func (d *dictionary) width() int {
	n := indexWidth(d.n)
	if n > 8 && !d.exact {
		return (n + 7) &^ 7
	}
	return n
}

// texts returns the values of a dictionary of texts, which are to be asked for in their order.
func (d *dictionary) texts() func(int) []byte {
	rest := d.page
	return func(int) []byte {
		n := binary.LittleEndian.Uint32(rest)
		text := rest[4:][:n]
		rest = rest[4+n:]
		return text
	}
}

// ifSmaller returns d if it and its indexes take less than the values as they are, else nil.
func (d *dictionary) ifSmaller(plain int64) *dictionary {
	if d.n == 0 || int64(len(d.page)+len(d.index)*d.width()/8) >= plain {
		return nil
	}
	return d
}

// wordsOf returns the dictionary of a column with Words, else nil.
func wordsOf(v *columnar.Vector, exact bool) *dictionary {
	if v.Words == nil {
		return nil
	}
	d := &dictionary{page: make([]byte, 0, wordsSize(v.Words)), n: len(v.Words), index: v.Int32s, exact: exact}
	for _, w := range v.Words {
		d.page = appendText(d.page, w)
	}
	return d
}

// wordsSize returns how many bytes a dictionary takes.
func wordsSize(words []string) int64 {
	n := int64(0)
	for _, w := range words {
		n += 4 + int64(len(w))
	}
	return n
}

// dictionaries make one dictionary after the other.
type dictionaries struct {
	numbers numberSet
	texts   textSet
}

// size returns how many bytes of memory they have for the next.
func (m *dictionaries) size() int {
	const text = 40 // in the map
	return 8*cap(m.numbers.known) + 4*(cap(m.numbers.index)+cap(m.texts.index)) + (4+text)*cap(m.texts.rows)
}

// of returns the dictionary of the values of a column, nil if they hardly come again. It is good
// until the next one.
func (m *dictionaries) of(v *columnar.Vector) *dictionary {
	switch {
	case v.Origin:
		return originDictionary(&v.Column, v.Origins)
	case v.Words != nil:
		return wordsOf(v, false)
	case v.Type == columnar.Text:
		return m.texts.dictionary(v)
	case v.Type == columnar.Int32:
		return numbersOf[uint32](&m.numbers, v.Int32s)
	case v.Type == columnar.Float:
		return numbersOf[uint32](&m.numbers, v.Floats)
	case v.Type == columnar.Int64 || v.Type == columnar.Time:
		return numbersOf[uint64](&m.numbers, v.Int64s)
	case v.Type == columnar.Double:
		return numbersOf[uint64](&m.numbers, v.Doubles)
	}
	return nil
}

// Numbers whose numbers take more than a byte compress well as they are, too: they have a
// dictionary where they come again often.
const (
	maxNumbers   = 1 << 12 // in a dictionary
	freelyNumber = 1 << 8  // so many need not come again
	often        = 16
	slotBits     = 13 // twice as many slots as numbers, that few lie beside their place
)

// A numberSet numbers the bits of numbers in the order in which they come.
type numberSet struct {
	slots [1 << slotBits]uint16 // 1 and a number
	known []uint64
	index []int32
}

// number returns the number of x, and maxNumbers if it is one too many.
func (s *numberSet) number(x uint64) int32 {
	for at := x * 0x9e37_79b9_7f4a_7c15 >> (64 - slotBits); ; at = (at + 1) % (1 << slotBits) {
		switch n := s.slots[at]; {
		case n == 0:
			if len(s.known) == maxNumbers {
				return maxNumbers
			}
			s.known = append(s.known, x)
			s.slots[at] = uint16(len(s.known))
			return int32(len(s.known) - 1)
		case s.known[n-1] == x:
			return int32(n - 1)
		}
	}
}

// numbersOf returns the dictionary of numbers, nil if there are too many of them.
func numbersOf[U uint32 | uint64, N int32 | int64 | float32 | float64](s *numberSet, list []N) *dictionary {
	clear(s.slots[:])
	s.known, s.index = s.known[:0], s.index[:0]
	for _, x := range unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(list))), len(list)) {
		n := s.number(uint64(x))
		if n == maxNumbers {
			return nil
		}
		s.index = append(s.index, n)
	}
	d := &dictionary{n: len(s.known), index: s.index}
	if d.n > freelyNumber && d.n*often > len(list) {
		return nil
	}
	size := int(unsafe.Sizeof(U(0)))
	var b [8]byte
	for _, x := range s.known {
		binary.LittleEndian.PutUint64(b[:], x)
		d.page = append(d.page, b[:size]...)
	}
	return d.ifSmaller(int64(len(list) * size))
}

const (
	maxDictionary = 1 << 20 // bytes of a dictionary
	firstTexts    = 1 << 10 // so many texts may all be different
)

// A textSet numbers the texts of a column in the order in which they come.
type textSet struct {
	numbers map[string]int32 // empty between two columns: the texts lie in that of the column
	rows    []int32          // of each text, where it comes first
	index   []int32
}

// dictionary returns the dictionary of texts. It is given up when more than half of them are new.
func (s *textSet) dictionary(v *columnar.Vector) *dictionary {
	if s.numbers == nil {
		s.numbers = map[string]int32{}
	}
	defer clear(s.numbers)
	s.rows, s.index = s.rows[:0], s.index[:0]
	size := 0
	for i := range v.Ends {
		text := v.TextAt(i)
		n, known := s.numbers[string(text)]
		if !known {
			n = int32(len(s.rows))
			s.numbers[unsafe.String(unsafe.SliceData(text), len(text))] = n
			s.rows = append(s.rows, int32(i))
			size += 4 + len(text)
			if len(s.rows) > max(firstTexts, i/2+1) || size > maxDictionary {
				return nil
			}
		}
		s.index = append(s.index, n)
	}
	d := &dictionary{n: len(s.rows), index: s.index, page: make([]byte, 0, size)}
	for _, row := range s.rows {
		d.page = appendText(d.page, v.TextAt(int(row)))
	}
	return d.ifSmaller(int64(4*len(v.Ends) + len(v.Text)))
}

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
