package main

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
)

// paired yields every path of a and b in order, with its records: nil where there is none.
func paired(a, b *manifest) iter.Seq2[string, [2]*record] {
	return func(yield func(string, [2]*record) bool) {
		for i, j := 0, 0; i < len(a.records) || j < len(b.records); {
			var pair [2]*record
			order := 0
			switch {
			case i == len(a.records):
				order = 1
			case j == len(b.records):
				order = -1
			default:
				order = compareRecords(a.records[i], b.records[j])
			}
			var path string
			if order <= 0 {
				pair[0] = &a.records[i]
				path = pair[0].path
				i++
			}
			if order >= 0 {
				pair[1] = &b.records[j]
				path = pair[1].path
				j++
			}
			if !yield(path, pair) {
				return
			}
		}
	}
}

// A tally counts what changed.
type tally struct {
	same, added, removed, changed int
	columns                       [columns]int
}

// compare prints what changed from a to b, but in the ignored columns, a line for each path, and
// reports how much.
func compare(w io.Writer, a, b *manifest, ignored []int) (t tally) {
	for path, pair := range paired(a, b) {
		switch {
		case pair[0] == nil:
			t.added++
			fmt.Fprintf(w, "+ %s\t%s\n", quote(path), pair[1].kind())
		case pair[1] == nil:
			t.removed++
			fmt.Fprintf(w, "- %s\t%s\n", quote(path), pair[0].kind())
		default:
			which := pair[0].differing(*pair[1], ignored)
			if len(which) == 0 {
				t.same++
				continue
			}
			t.changed++
			fmt.Fprintf(w, "! %s", quote(path))
			for _, column := range which {
				t.columns[column]++
				fmt.Fprintf(w, "\t%s %s, was %s", columnNames[column], quote(pair[1].fields[column]), quote(pair[0].fields[column]))
			}
			fmt.Fprintln(w)
		}
	}
	return t
}

func (t tally) differ() bool { return t.added+t.removed+t.changed > 0 }

func (t tally) String() string {
	s := fmt.Sprintf("%d same, %d added, %d removed, %d changed", t.same, t.added, t.removed, t.changed)
	separator := ": "
	for i, n := range t.columns {
		if n > 0 {
			s += fmt.Sprintf("%s%s of %d", separator, columnNames[i], n)
			separator = ", "
		}
	}
	return s
}

// parseColumns returns the numbers of the columns named in list, with commas between.
func parseColumns(list string) (which []int, err error) {
	for name := range strings.SplitSeq(list, ",") {
		i := slices.Index(columnNames[:], name)
		if name == "" {
			continue
		}
		if i < 0 {
			return nil, fmt.Errorf("no column %q; there are %s", name, strings.Join(columnNames[:], ", "))
		}
		which = append(which, i)
	}
	return which, nil
}
