//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"recfs/bench/internal/pieces"
)

// maxInput is how long bytes are that are changed once more.
const maxInput = 8 << 20

// A mutator changes bytes as damage and malice do. What it does depends on its seed alone.
type mutator struct {
	*rand.Rand
	others [][]byte // of which pieces are taken
}

// Changes of one piece of bytes, from the most common one.
var changes = []func(*mutator, []byte) []byte{
	(*mutator).flip, (*mutator).flip, (*mutator).extreme, (*mutator).extreme, (*mutator).digits,
	(*mutator).cut, (*mutator).remove, (*mutator).repeat, (*mutator).fill, (*mutator).swap,
	(*mutator).insert, (*mutator).splice, (*mutator).append, (*mutator).swell,
}

// mutate returns b after one to four changes. A change is of the whole, or of what one of the
// compressed pieces in it holds.
func (m *mutator) mutate(b []byte) []byte {
	b = slices.Clone(b)
	for range 1 + m.IntN(4) {
		if len(b) > maxInput {
			return b
		}
		found := pieces.Find(b)
		if len(found) == 0 || m.IntN(2) == 0 {
			b = m.change(b)
			continue
		}
		i := m.IntN(len(found))
		b = pieces.Replace(b, found, i, m.change(found[i].Content))
	}
	return b
}

func (m *mutator) change(b []byte) []byte {
	if len(b) == 0 {
		return m.append(b)
	}
	return changes[m.IntN(len(changes))](m, b)
}

// at returns a place in b. Half of them are near its begin, where headers and tables are.
func (m *mutator) at(b []byte) int {
	n := len(b)
	if m.IntN(2) == 0 {
		n = min(n, 8<<m.IntN(10))
	}
	return m.IntN(n)
}

// span returns a piece of b, most often a short one.
func (m *mutator) span(b []byte) (from, to int) {
	from = m.at(b)
	return from, min(len(b), from+1+m.IntN(1<<m.IntN(16)))
}

func (m *mutator) flip(b []byte) []byte {
	for range 1 << m.IntN(4) {
		b[m.at(b)] ^= 1 << m.IntN(8)
	}
	return b
}

// extreme writes a number that a reader may not expect: fixed-width ones in both byte orders, and
// varints.
func (m *mutator) extreme(b []byte) []byte {
	numbers := []uint64{
		0, 1, 0x7f, 0x80, 0xff, 1<<15 - 1, 1<<16 - 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<63 - 1, 1 << 63, 1<<64 - 1,
		uint64(len(b)), uint64(len(b)) + 1, uint64(len(b)) - 1, m.Uint64(), uint64(m.at(b)),
	}
	n := numbers[m.IntN(len(numbers))]
	var code []byte
	switch m.IntN(7) {
	case 0:
		code = binary.LittleEndian.AppendUint16(nil, uint16(n))
	case 1:
		code = binary.BigEndian.AppendUint16(nil, uint16(n))
	case 2:
		code = binary.LittleEndian.AppendUint32(nil, uint32(n))
	case 3:
		code = binary.BigEndian.AppendUint32(nil, uint32(n))
	case 4:
		code = binary.LittleEndian.AppendUint64(nil, n)
	case 5:
		code = binary.BigEndian.AppendUint64(nil, n)
	case 6:
		code = binary.AppendUvarint(nil, n)
	}
	at := m.at(b)
	if m.IntN(2) == 0 {
		at &^= 3
	}
	copy(b[at:], code)
	return b
}

// digits replaces a decimal number of a text by another.
func (m *mutator) digits(b []byte) []byte {
	isDigit := func(r rune) bool { return r >= '0' && r <= '9' }
	at := m.at(b)
	from := bytes.IndexFunc(b[at:], isDigit)
	if from < 0 {
		return m.flip(b)
	}
	from += at
	to := from
	for to < len(b) && isDigit(rune(b[to])) {
		to++
	}
	texts := []string{
		"", "-1", "0", "9223372036854775808", "-9223372036854775808", "4294967296", "1e999", "NaN", "null", `"`,
		"[[[[[[[[", "0.0000000000000000000001", "99999999999999999999999999",
	}
	return slices.Replace(b, from, to, []byte(texts[m.IntN(len(texts))])...)
}

func (m *mutator) cut(b []byte) []byte { return b[:m.IntN(len(b))] }

func (m *mutator) remove(b []byte) []byte {
	from, to := m.span(b)
	return slices.Delete(b, from, to)
}

func (m *mutator) repeat(b []byte) []byte {
	from, to := m.span(b)
	return slices.Insert(b, from, bytes.Repeat(b[from:to], 1+m.IntN(8))...)
}

func (m *mutator) fill(b []byte) []byte {
	from, to := m.span(b)
	with := []byte{0, 0xff, ' ', byte(m.Uint32())}[m.IntN(4)]
	for i := range b[from:to] {
		b[from+i] = with
	}
	return b
}

func (m *mutator) swap(b []byte) []byte {
	from, to := m.span(b)
	other := m.IntN(len(b) - (to - from) + 1)
	for i := range to - from {
		b[from+i], b[other+i] = b[other+i], b[from+i]
	}
	return b
}

func (m *mutator) insert(b []byte) []byte {
	noise := make([]byte, 1<<m.IntN(12))
	for i := range noise {
		noise[i] = byte(m.Uint32())
	}
	return slices.Insert(b, m.at(b), noise...)
}

// splice goes on with another recording.
func (m *mutator) splice(b []byte) []byte {
	other := m.others[m.IntN(len(m.others))]
	if len(other) == 0 {
		return b
	}
	return append(b[:m.IntN(len(b))], other[m.IntN(len(other)):]...)
}

func (m *mutator) append(b []byte) []byte { return append(b, make([]byte, 1<<m.IntN(16))...) }

// swell puts in so much of one byte that a reader must not hold it: up to 64 MiB, most often less.
func (m *mutator) swell(b []byte) []byte {
	with := []byte{0, 'A', ' ', '['}[m.IntN(4)]
	return slices.Insert(b, m.at(b), bytes.Repeat([]byte{with}, 1<<(10+m.IntN(17)))...)
}

func newRand(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }
