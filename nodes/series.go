package nodes

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// unlisted is the index of number 0 where entries open without being listed, and the bound of their
// numbers: 1<<38, so that every index stays below 1<<39, or 1<<30 where an int has 32 bits. It does
// not depend on how many entries are listed, so an index is good before that is known.
const unlisted = 1 << (30 + 8*(^uint(0)>>63))

// maxDigits is how many digits a number has at most.
const maxDigits = 19

// A Series is a directory of numbered files, dense or sparse. Names are
// Prefix, the number zero-padded to Width, and Suffix; a file also opens
// under its number with fewer zeros. Use it through a pointer.
type Series struct {
	Prefix, Suffix string
	Width          int

	N      int               // entries listed
	Number func(i int) int64 // number of entry i, ascending and not negative; nil: i itself
	Search func(n int64) int // the first entry whose number is n or greater, N if none is; nil: asks Number
	File   func(n int64) File

	Grows func(n int64) bool // which files do (see Entry); nil: none

	// Clock tells which number is that of a time: @TIME and Suffix opens the file of it, or of the
	// last number before it that is listed if AsListed is set (docs/tree/README.md section 2). Without
	// functions no time opens.
	Clock    Clock
	AsListed bool

	// Extra reports whether number n, which is not listed, opens all the same; nil: none does. Numbers
	// from 1<<38 on never do. An error other than io/fs.ErrNotExist says why it cannot be known.
	Extra func(ctx context.Context, n int64) (bool, error)

	once sync.Once
	perm []int32 // listing order to number order; nil while both are the same
}

// Len implements Dir.
func (s *Series) Len(context.Context) (int, error) { return s.N, nil }

// At implements Dir.
func (s *Series) At(_ context.Context, i int) (Entry, error) {
	n, err := s.numberAt(i)
	if err != nil {
		return Entry{}, err
	}
	return Entry{Name: s.name(n), File: s.File(n), Grows: s.Grows != nil && s.Grows(n)}, nil
}

// AppendName implements Namer.
func (s *Series) AppendName(_ context.Context, b []byte, i int) ([]byte, fs.FileMode, error) {
	n, err := s.numberAt(i)
	if err != nil {
		return b, 0, err
	}
	return s.appendName(b, n), 0, nil
}

// numberAt returns the number of entry i, listed or not.
func (s *Series) numberAt(i int) (int64, error) {
	switch {
	case i >= unlisted && i-unlisted < unlisted && s.Extra != nil:
		return int64(i - unlisted), nil
	case i < 0 || i >= s.N:
		return 0, NotExist("find", strconv.Itoa(i))
	}
	if perm := s.order(); perm != nil {
		i = int(perm[i])
	}
	return s.number(i), nil
}

// Find implements Dir. A name is decimal digits with at most as many leading zeros as that which is
// listed, or a time.
func (s *Series) Find(ctx context.Context, name string) (int, error) {
	text, begins := strings.CutPrefix(name, s.Prefix)
	text, ends := strings.CutSuffix(text, s.Suffix)
	n, ok := ParseNumber(text, s.Width)
	if moment, isTime := strings.CutPrefix(text, timeMark); isTime && begins && ends && s.Clock.Start != nil {
		var err error
		if n, err = s.Clock.at(ctx, moment); err != nil {
			return 0, err
		}
		if s.AsListed {
			return s.floor(n)
		}
		ok = true
	}
	if !begins || !ends || !ok {
		return 0, NotExist("find", name)
	}
	if i := s.Index(n); i >= 0 {
		return s.position(i), nil
	}
	if s.Extra == nil || n >= unlisted {
		return 0, NotExist("find", name)
	}
	ok, err := s.Extra(ctx, n)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, NotExist("find", name)
	}
	return unlisted + int(n), nil
}

// timeMark is what stands before a time in a name.
const timeMark = "@"

// floor returns the index of the last listed entry whose number is n or less.
func (s *Series) floor(n int64) (int, error) {
	i := s.search(n+1) - 1
	if i < 0 {
		return 0, NotExist("find", s.name(n))
	}
	return s.position(i), nil
}

// Index returns which of the listed numbers n is, -1 if it is none.
func (s *Series) Index(n int64) int {
	if i := s.search(n); i < s.N && s.number(i) == n {
		return i
	}
	return -1
}

func (s *Series) name(n int64) string { return string(s.appendName(make([]byte, 0, 64), n)) }

func (s *Series) appendName(b []byte, n int64) []byte {
	var digits [20]byte
	number := strconv.AppendInt(digits[:0], n, 10)
	b = append(b, s.Prefix...)
	for range s.Width - len(number) {
		b = append(b, '0')
	}
	b = append(b, number...)
	return append(b, s.Suffix...)
}

func (s *Series) number(i int) int64 {
	if s.Number == nil {
		return int64(i)
	}
	return s.Number(i)
}

// ParseNumber reads a number as it stands in the name of an entry: decimal
// digits only, zero-padded to at most width digits.
func ParseNumber(digits string, width int) (int64, bool) {
	if digits == "" || len(digits) > width && digits[0] == '0' && digits != "0" {
		return 0, false
	}
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil
}

// search returns the least i with number(i) >= n.
func (s *Series) search(n int64) int {
	if s.Search != nil {
		return s.Search(n)
	}
	if s.Number == nil {
		return int(min(n, int64(s.N)))
	}
	return sort.Search(s.N, func(i int) bool { return s.Number(i) >= n })
}

// position returns where the entry with the i-th number stands in the listing.
func (s *Series) position(i int) int {
	perm := s.order()
	if perm == nil {
		return i
	}
	name := s.name(s.number(i))
	return sort.Search(len(perm), func(j int) bool { return s.name(s.number(int(perm[j]))) >= name })
}

// order returns the listing order where names do not sort like numbers:
// where some numbers need more digits than others.
func (s *Series) order() []int32 {
	s.once.Do(func() {
		if s.N > 0 && s.number(s.N-1) >= int64(math.Pow10(s.Width)) {
			s.perm = s.merge()
		}
	})
	return s.perm
}

// merge returns the listing order. Names of one length sort like their
// numbers, so that it is enough to merge the runs of each length.
func (s *Series) merge() []int32 {
	type run struct {
		next, end int
		name      string // of next
	}
	var runs []run
	for start, digits := 0, s.Width+1; start < s.N; digits++ {
		end := s.N
		if digits <= maxDigits {
			end = s.search(int64(math.Pow10(digits - 1)))
		}
		if start < end {
			runs = append(runs, run{start, end, s.name(s.number(start))})
		}
		start = end
	}
	if len(runs) == 1 {
		return nil
	}
	perm := make([]int32, 0, s.N)
	for len(perm) < s.N {
		least := -1
		for i, r := range runs {
			if r.next < r.end && (least < 0 || r.name < runs[least].name) {
				least = i
			}
		}
		r := &runs[least]
		perm = append(perm, int32(r.next))
		if r.next++; r.next < r.end {
			r.name = s.name(s.number(r.next))
		}
	}
	return perm
}

// A LazySeries is a directory whose entries open by number although its list is not made yet, or
// although the list does not have them. Use it through a pointer.
//
// The index of an entry is its place in the list, or one that only depends on its number; which of
// the two Find returns may change once the list is made, and both stay good.
type LazySeries struct {
	// Unlisted has N 0: its File and Extra open entries by number.
	Unlisted *Series

	// List returns the list, which may be of other entries than numbered ones. Like the function of
	// [Lazy] it is called for every operation that needs the list.
	List func(context.Context) (Dir, error)

	// Made returns the list if it is made, so that finding an entry by its number need not make it;
	// nil: it is made for that, too.
	Made func() (Dir, bool)
}

// Len implements Dir.
func (s *LazySeries) Len(ctx context.Context) (int, error) {
	list, err := s.List(ctx)
	if err != nil {
		return 0, err
	}
	return list.Len(ctx)
}

// At implements Dir.
func (s *LazySeries) At(ctx context.Context, i int) (Entry, error) {
	if i >= unlisted {
		return s.Unlisted.At(ctx, i)
	}
	list, err := s.List(ctx)
	if err != nil {
		return Entry{}, err
	}
	return list.At(ctx, i)
}

// AppendName implements Namer.
func (s *LazySeries) AppendName(ctx context.Context, b []byte, i int) ([]byte, fs.FileMode, error) {
	if i >= unlisted {
		return s.Unlisted.AppendName(ctx, b, i)
	}
	list, err := s.List(ctx)
	if err != nil {
		return b, 0, err
	}
	return AppendName(ctx, list, b, i)
}

// Find implements Dir. A name that the list does not have is looked for among the unlisted numbers.
func (s *LazySeries) Find(ctx context.Context, name string) (int, error) {
	list, err := s.made(ctx, name)
	if err != nil {
		return 0, err
	}
	if list != nil {
		i, err := list.Find(ctx, name)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return i, err
		}
	}
	return s.Unlisted.Find(ctx, name)
}

// made returns the list to find a name, or nil if it is not made and need not be. Which entry a
// time opens the list alone tells.
func (s *LazySeries) made(ctx context.Context, name string) (Dir, error) {
	if s.Made == nil || strings.HasPrefix(name, timeMark) {
		return s.List(ctx)
	}
	if list, ok := s.Made(); ok {
		return list, nil
	}
	return nil, nil
}
