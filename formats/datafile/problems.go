package datafile

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"sort"

	"recfs/formats"
)

// sizeCheck says what a size field of the header is worth.
type sizeCheck string

const (
	sizeExact sizeCheck = "exact"
	sizeShort sizeCheck = "short_by_data_sizes" // old writers forgot the data size table
	sizeWrong sizeCheck = "wrong"
)

// sizeFields are the names and values of size and swaplen, and what they should be.
func (h *Header) sizeFields() [2]sizeField {
	const notCounted = 16 // magic, version and the two fields
	return [2]sizeField{{"size", h.Size, h.Total() - notCounted}, {"swaplen", h.Swaplen, h.dataAt() - notCounted}}
}

type sizeField struct {
	name string
	got  int32
	want int64
}

// check judges a field of a file whose data size table has so many bytes.
func (f *sizeField) check(table int64) sizeCheck {
	switch {
	case int64(f.got) == f.want:
		return sizeExact
	case table > 0 && int64(f.got) == f.want-table:
		return sizeShort
	}
	return sizeWrong
}

// A problemList collects what is odd or damaged.
type problemList []formats.Problem

// add adds a problem; to nil it adds none.
func (l *problemList) add(code, path string, offset int64, msg string, args ...any) {
	if l == nil {
		return
	}
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

// cost is roughly what the list keeps alive.
func (l problemList) cost() int64 {
	const problem = 96
	n := int64(0)
	for _, p := range l {
		n += problem + int64(len(p.Path)+len(p.Message))
	}
	return n
}

// places counts where header and tables show their problems, in the order of offsets: the header,
// the entries of the type table, of the data tables and of the items, and the end of the file.
func (t *Tables) places() int { return 2 + len(t.Types) + len(t.Data) + len(t.Items) }

// placesAtOnce is how many places make a part: a file may have a million.
const placesAtOnce = 512

// problemParts is into how many parts the problems of all places are divided.
func (t *Tables) problemParts() int { return (t.places() + placesAtOnce - 1) / placesAtOnce }

// problemsIn returns the problems of a part with those of others that lie there. others are in
// order.
func (t *Tables) problemsIn(part int, others problemList) problemList {
	l := problemList{}
	first, end := part*placesAtOnce, min((part+1)*placesAtOnce, t.places())
	for i := first; i < end; i++ {
		t.place(i, &l)
	}
	after := func(place int) int {
		if place == t.places() {
			return len(others)
		}
		from := t.place(place, nil)
		return sort.Search(len(others), func(i int) bool { return others[i].Offset >= from })
	}
	l = append(l, others[after(first):after(end)]...)
	slices.SortStableFunc(l, byOffset)
	return l
}

func byOffset(a, b formats.Problem) int { return cmp.Compare(a.Offset, b.Offset) }

// problems are those of all places, and others.
func (t *Tables) problems(others problemList) iter.Seq[formats.Problem] {
	return func(yield func(formats.Problem) bool) {
		for part := range t.problemParts() {
			for _, p := range t.problemsIn(part, others) {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// place adds the problems of a place to l, and returns where it is.
func (t *Tables) place(i int, l *problemList) (offset int64) {
	if i == 0 {
		t.headerProblems(l)
		return 0
	}
	if i--; i < len(t.Types) {
		return t.typeProblems(i, l)
	}
	if i -= len(t.Types); i < len(t.Data) {
		return t.dataProblems(i, l)
	}
	if i -= len(t.Data); i < len(t.Items) {
		return t.itemProblems(i, l)
	}
	if n := t.Missing(); n > 0 {
		l.add("truncated", "", t.size, "the file has %d bytes, %d of %d are missing", t.size, n, t.Header.Total())
	}
	if n := t.Trailing(); n > 0 {
		l.add("trailing_bytes", "", t.Header.Total(), "%d bytes follow the end at %d", n, t.Header.Total())
	}
	return t.Header.dataAt()
}

func (t *Tables) headerProblems(l *problemList) {
	table := t.Header.dataSizesLen()
	for i, f := range t.Header.sizeFields() {
		switch code, at := f.check(table), 8+4*int64(i); code {
		case sizeShort:
			l.add(f.name+"_"+string(code), "", at, "%s is %d, %d short: the data size table is left out", f.name, f.got, table)
		case sizeWrong:
			l.add(f.name+"_"+string(code), "", at, "%s is %d, expected %d", f.name, f.got, f.want)
		}
	}
}

func (t *Tables) typeProblems(k int, l *problemList) (offset int64) {
	typ, at := t.Types[k], headerSize+typeSize*int64(k)
	if k > 0 && typ.ID < t.Types[k-1].ID {
		l.add("types_not_ascending", "", at, "item type %d has type_id %d, behind %d", k, typ.ID, t.Types[k-1].ID)
	}
	if typ.Num == 0 {
		l.add("empty_item_type", "", at+8, "item type %d (type_id %d) has no items", k, typ.ID)
	}
	return at
}

func (t *Tables) dataProblems(i int, l *problemList) (offset int64) {
	h, at := &t.Header, t.Header.sizeEntry(i)
	if i == 0 {
		if at = h.dataOffsetsAt(); t.Data[0].Offset > h.dataAt() {
			l.add("data_gap", "", at, "data 0 has offset %d, expected 0", t.Data[0].Offset-h.dataAt())
		}
	}
	if t.Data[i].Size == 0 {
		l.add("data_size_zero", dataPath(i), h.sizeEntry(i), "data %d is empty", i)
	}
	return at
}

func (t *Tables) itemProblems(i int, l *problemList) (offset int64) {
	it := t.Items[i]
	index := it.Type == typeUUIDIndex
	if it.before > 0 {
		code := "duplicate_item_id"
		if index {
			code = "duplicate_uuid_index"
		}
		l.add(code, t.itemPath(i), it.Offset, "items %d and %d are both type %d, id %d", it.first, i, it.Type, it.ID)
	}
	if index && it.Size < uuidIndexSize {
		l.add("uuid_index_short", t.itemPath(i), it.Offset, "item %d of the type index has %d bytes, %d are needed", i, it.Size, uuidIndexSize)
	}
	return it.Offset
}
