package datafile

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"recfs/formats"
)

var _ io.Writer = (*opusHead)(nil)

// sizeCheck says what a size field of the header is worth.
type sizeCheck string

const (
	sizeExact sizeCheck = "exact"
	sizeShort sizeCheck = "short_by_data_sizes" // old writers forgot the data size table
	sizeWrong sizeCheck = "wrong"
)

// sizeFields returns what size and swaplen should be.
func (h *Header) sizeFields() (size, swaplen int64) {
	const notCounted = 16 // magic, version and the two fields
	return h.Total() - notCounted, h.dataAt() - notCounted
}

// sizeChecks judges the fields size and swaplen.
func (h *Header) sizeChecks() (size, swaplen sizeCheck) {
	wantSize, wantSwaplen := h.sizeFields()
	return h.sizeCheck(h.Size, wantSize), h.sizeCheck(h.Swaplen, wantSwaplen)
}

func (h *Header) sizeCheck(got int32, want int64) sizeCheck {
	short := h.dataSizesLen()
	switch {
	case int64(got) == want:
		return sizeExact
	case short > 0 && int64(got) == want-short:
		return sizeShort
	}
	return sizeWrong
}

// A problemList collects what is odd or damaged.
type problemList []formats.Problem

func (l *problemList) add(code, path string, offset int64, msg string, args ...any) {
	*l = append(*l, formats.Problem{Code: code, Path: path, Offset: offset, Message: fmt.Sprintf(msg, args...)})
}

// addFault adds err if it is a fault. Any other error is returned: it says nothing about the file.
func (l *problemList) addFault(path string, err error) error {
	f, ok := formats.Coded(err)
	if !ok {
		return err
	}
	p := f.Problem()
	p.Path = path
	*l = append(*l, p)
	return nil
}

// sorted returns the list in the order of offsets.
func (l problemList) sorted() problemList {
	slices.SortStableFunc(l, func(a, b formats.Problem) int { return cmp.Compare(a.Offset, b.Offset) })
	return l
}

// cost is roughly what the list keeps alive.
func (l problemList) cost() int64 {
	const problem = 96
	n := int64(0)
	for _, p := range l {
		n += problem + int64(len(p.Path)+len(p.Message))
	}
	return n
}

// headerProblems are those of the header and the type table.
func (r *Reader) headerProblems() problemList {
	l, h := problemList{}, &r.Header
	size, swaplen := h.sizeFields()
	h.addSizeProblem(&l, "size", 8, h.Size, size)
	h.addSizeProblem(&l, "swaplen", 12, h.Swaplen, swaplen)
	for k, typ := range r.Types {
		at := headerSize + typeSize*int64(k)
		if k > 0 && typ.ID < r.Types[k-1].ID {
			l.add("types_not_ascending", "", at, "item type %d has type_id %d, behind %d", k, typ.ID, r.Types[k-1].ID)
		}
		if typ.Num == 0 {
			l.add("empty_item_type", "", at+8, "item type %d (type_id %d) has no items", k, typ.ID)
		}
	}
	if n := r.Missing(); n > 0 {
		l.add("truncated", "", r.size, "the file has %d bytes, %d of %d are missing", r.size, n, h.Total())
	}
	if n := r.Trailing(); n > 0 {
		l.add("trailing_bytes", "", h.Total(), "%d bytes follow the end at %d", n, h.Total())
	}
	return l
}

func (h *Header) addSizeProblem(l *problemList, name string, offset int64, got int32, want int64) {
	switch check := h.sizeCheck(got, want); check {
	case sizeShort:
		l.add(name+"_"+string(check), "", offset, "%s is %d, %d short: the data size table is left out", name, got, h.dataSizesLen())
	case sizeWrong:
		l.add(name+"_"+string(check), "", offset, "%s is %d, expected %d", name, got, want)
	}
}

// hasMapItems reports whether there are items of a map besides its version.
func (r *Reader) hasMapItems() bool {
	for typ := uint16(typeInfo); typ <= typeSound; typ++ {
		if start, end := r.ItemsOf(typ); start < end {
			return true
		}
	}
	return false
}

// checkSound finds what the item and the tables alone say about whether an embedded sound can be
// shown.
func (r *Reader) checkSound(o medium) error {
	return r.checkRef(o.Data, r.Items[o.Item].Offset, "sound "+itoa(o.Index))
}

// An opusHead keeps enough of what is written to it to tell an Ogg Opus file.
type opusHead struct{ b []byte }

// Where an Ogg Opus file says that it is one: after the header of the first page.
const (
	opusAt    = 28
	opusMagic = "OpusHead"
)

// Write implements io.Writer.
func (h *opusHead) Write(p []byte) (int, error) {
	h.b = append(h.b, p[:min(len(p), opusAt+len(opusMagic)-len(h.b))]...)
	return len(p), nil
}

func (h *opusHead) isOpus() bool {
	return bytes.HasPrefix(h.b, []byte("OggS")) && len(h.b) >= opusAt && bytes.HasPrefix(h.b[opusAt:], []byte(opusMagic))
}
