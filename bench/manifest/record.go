package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kinds of entries of a tree.
const (
	kindDir  = "dir"
	kindFile = "file"
	kindLink = "link"
)

// unknown is the text of a field that the way of looking does not tell.
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
	colError // errno, or what the command said; none is unknown
	columns
)

var columnNames = [columns]string{"kind", "mode", "size", "mtime", "inode", "sum", "error"}

// A record is one line of a manifest: what is known of one path.
type record struct {
	path   string
	fields [columns]string
}

func newRecord(path, kind string) record {
	r := record{path: path}
	for i := range r.fields {
		r.fields[i] = unknown
	}
	r.fields[colKind] = kind
	return r
}

func (r *record) setSize(n int64)      { r.fields[colSize] = strconv.FormatInt(n, 10) }
func (r *record) setMtime(t time.Time) { r.fields[colMtime] = t.UTC().Format(time.RFC3339Nano) }
func (r *record) setSum(sum []byte)    { r.fields[colSum] = fmt.Sprintf("%x", sum) }
func (r record) kind() string          { return r.fields[colKind] }
func compareRecords(a, b record) int   { return strings.Compare(a.path, b.path) }

// differing returns the columns that both know and that differ, but those in ignored. Whether there
// is an error is known always.
func (r record) differing(o record, ignored []int) (which []int) {
	for i, a := range r.fields {
		b := o.fields[i]
		if a == b || slices.Contains(ignored, i) || i != colError && (a == unknown || b == unknown) {
			continue
		}
		which = append(which, i)
	}
	return which
}

// A manifest is the records of a tree, sorted by path.
type manifest struct {
	rule    string // how the files of large directories were chosen
	records []record
}

// magic is how a manifest begins. The number changes when a line means something else.
const magic = "# manifest 1: path " // and the names of the columns

func (m *manifest) sort() { slices.SortFunc(m.records, compareRecords) }

func (m *manifest) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s%s\n# %s\n", magic, strings.Join(columnNames[:], " "), m.rule)
	for _, r := range m.records {
		fmt.Fprint(out, quote(r.path))
		for _, field := range r.fields {
			fmt.Fprint(out, "\t", quote(field))
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

// parseManifest reads what write has written.
func parseManifest(b []byte) (*manifest, error) {
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), magic) || !lines.Scan() {
		return nil, errors.New("not a manifest")
	}
	m := &manifest{rule: strings.TrimPrefix(lines.Text(), "# ")}
	for n := 3; lines.Scan(); n++ {
		r, err := parseRecord(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		m.records = append(m.records, r)
	}
	return m, lines.Err()
}

func parseRecord(line string) (r record, err error) {
	fields := strings.Split(line, "\t")
	if len(fields) != 1+columns {
		return r, fmt.Errorf("%d fields, want %d", len(fields), 1+columns)
	}
	if r.path, err = unquote(fields[0]); err != nil {
		return r, err
	}
	for i := range r.fields {
		if r.fields[i], err = unquote(fields[1+i]); err != nil {
			return r, err
		}
	}
	return r, nil
}

// quote is s as one field of a line: as it is, or a Go string where it would not be one.
func quote(s string) string {
	if quoted := strconv.Quote(s); quoted[1:len(quoted)-1] != s {
		return quoted
	}
	return s
}

func unquote(field string) (string, error) {
	if !strings.HasPrefix(field, `"`) {
		return field, nil
	}
	return strconv.Unquote(field)
}
