//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Kinds of entries of a tree.
const (
	kindDir  = "dir"
	kindFile = "file"
	kindLink = "link"
)

// unknown is the text of a field of which nothing is told.
const unknown = "-"

// The columns of a manifest. A record holds their text, so that whatever a line says can be
// compared.
const (
	colKind  = iota
	colMode  // permission bits, octal
	colSize  // bytes
	colMtime // RFC 3339, UTC
	colInode
	colSum   // SHA-256 of a file's content, of a directory's names; the target of a link
	colError // errno; none is unknown
	columns
)

var columnNames = [columns]string{"kind", "mode", "size", "mtime", "inode", "sum", "error"}

// A record is what is known of one path.
type record [columns]string

func newRecord(kind string) (r record) {
	for i := range r {
		r[i] = unknown
	}
	r[colKind] = kind
	return r
}

// A manifest is the records of a tree by their paths.
type manifest struct {
	rule    string // how the files of large directories were chosen
	records map[string]record
}

// magic is how a manifest begins. The number changes when a line means something else.
const magic = "# manifest 1: path " // and the names of the columns

func (m *manifest) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s%s\n# %s\n", magic, strings.Join(columnNames[:], " "), m.rule)
	for _, path := range slices.Sorted(maps.Keys(m.records)) {
		fmt.Fprint(out, quote(path))
		for _, field := range m.records[path] {
			fmt.Fprint(out, "\t", quote(field))
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

// parseManifest reads what write has written.
func parseManifest(text string) (*manifest, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 2 || !strings.HasPrefix(lines[0], magic) {
		return nil, errors.New("not a manifest")
	}
	m := &manifest{strings.TrimPrefix(lines[1], "# "), map[string]record{}}
	for n, line := range lines[2:] {
		fields := strings.Split(line, "\t")
		if len(fields) != 1+columns {
			return nil, fmt.Errorf("line %d: %d fields, want %d", n+3, len(fields), 1+columns)
		}
		for i, field := range fields {
			if !strings.HasPrefix(field, `"`) {
				continue
			}
			var err error
			if fields[i], err = strconv.Unquote(field); err != nil {
				return nil, fmt.Errorf("line %d: %w", n+3, err)
			}
		}
		m.records[fields[0]] = record(fields[1:])
	}
	return m, nil
}

// quote is s as one field of a line: as it is, or a Go string where it would not be one.
func quote(s string) string {
	if quoted := strconv.Quote(s); quoted[1:len(quoted)-1] != s {
		return quoted
	}
	return s
}

// A tally counts what changed.
type tally struct {
	same, added, removed, changed int
	columns                       [columns]int
}

// compare prints what changed from a to b, but in the ignored columns, a line for each path, and
// reports how much.
func compare(w io.Writer, a, b *manifest, ignored []int) (t tally) {
	both := maps.Clone(a.records)
	maps.Copy(both, b.records)
	for _, path := range slices.Sorted(maps.Keys(both)) {
		before, was := a.records[path]
		after, is := b.records[path]
		switch {
		case !was:
			t.added++
			fmt.Fprintf(w, "+ %s\t%s\n", quote(path), after[colKind])
		case !is:
			t.removed++
			fmt.Fprintf(w, "- %s\t%s\n", quote(path), before[colKind])
		default:
			var text string
			for i := range columns {
				if i == colSize && before[colKind] == kindDir && (before[i] == unknown || after[i] == unknown) {
					continue // a server tells it of files alone
				}
				if before[i] != after[i] && !slices.Contains(ignored, i) {
					t.columns[i]++
					text += fmt.Sprintf("\t%s %s, was %s", columnNames[i], quote(after[i]), quote(before[i]))
				}
			}
			if text == "" {
				t.same++
				continue
			}
			t.changed++
			fmt.Fprintf(w, "! %s%s\n", quote(path), text)
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
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		i := slices.Index(columnNames[:], name)
		if i < 0 {
			return nil, fmt.Errorf("no column %q; there are %s", name, strings.Join(columnNames[:], ", "))
		}
		which = append(which, i)
	}
	return which, nil
}
