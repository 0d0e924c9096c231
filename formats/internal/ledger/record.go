// Package ledger keeps what is known of very many files: records sorted by path, in compressed
// blocks of a few hundred. Of a list only its directory is in memory, about 200 bytes a block; the
// blocks are in a file of the disk cache, or in memory if there is none. What is read of them
// counts in the budget of the cache.
//
// A list does not change. The next one is written beside a walk through what it is of, and has the
// blocks in common in which nothing changed.
package ledger

import (
	"cmp"
	"math"
	"strings"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
)

// A Record is what is known of a path.
type Record struct {
	Path     string
	Stamp    formats.Stamp
	Inner    bool   // it lies in the container whose record is before it
	Open     bool   // it is still to be made, or says what may pass
	Unlisted bool   // a container of which it is not known what it holds
	Indexed  bool   // nothing is unknown for want of an index
	Pending  string // the name of what on disk would tell more; "": nothing would
	Line     string // of recordings.jsonl; "": there is none
	Outcome  string // JSON; "": it is not known
	Beside   string // on what beside the recording all of this depends; "": on nothing, or that is not known
	Format   string // of the recording; "": it is none that opens
	Tables   []Table
}

// A Table is one of a recording.
type Table struct {
	Name   string
	Size   int64 // in bytes, without the path of the recording; [Unknown]: only the recording tells
	Groups int   // of rows, if the size is known

	// Of a table of which there is one file for all recordings, if the recording has an index:
	Pieces []byte // what the rows are, as whoever has made the record knows
	Packed int    // bytes of the rows
	Rows   []byte // the rows themselves, until the record is in a block, which has them
}

// Unknown is the size of a table of which it is not known.
const Unknown = -1

// maxRows bounds the bytes of rows of one table.
const maxRows = 256 << 20

// Table returns the table of that format and name.
func (r *Record) Table(format, name string) (Table, bool) {
	if r.Format == format {
		for _, t := range r.Tables {
			if t.Name == name {
				return t, true
			}
		}
	}
	return Table{}, false
}

// packed returns how many bytes of rows the tables have.
func (r *Record) packed() (n int) {
	for i := range r.Tables {
		n += r.Tables[i].Packed
	}
	return n
}

// size is about how many bytes the record has in memory.
func (r *Record) size() int {
	const fixed, table = 200, 96
	n := fixed + len(r.Path) + len(r.Pending) + len(r.Line) + len(r.Outcome) + len(r.Beside) + table*len(r.Tables)
	for i := range r.Tables {
		n += len(r.Tables[i].Pieces)
	}
	return n
}

// Order compares two paths by which a walk comes to first.
func Order(a, b string) int {
	for i := range min(len(a), len(b)) {
		switch {
		case a[i] == b[i]:
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		default:
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

// Within reports whether a path lies below dir, "" for the root.
func Within(path, dir string) bool {
	return dir == "" || len(path) > len(dir) && path[len(dir)] == '/' && strings.HasPrefix(path, dir)
}

// code writes or reads a record. What is read has texts that are parts of text, which is what R
// reads.
//
//	| path text | size, modified, nanos, changed, born: zigzag | inode varint | flags u8 |
//	| pending text | line text | outcome text | beside text | format text | count | table … |
//
// table: | name text | size zigzag | groups varint | pieces text | bytes of rows varint |
func (r *Record) code(c indexfile.Codec, text func(...*string)) {
	text(&r.Path)
	for _, n := range [...]*int64{&r.Stamp.Size, &r.Stamp.Modified, &r.Stamp.Nanos, &r.Stamp.Changed, &r.Stamp.Born} {
		c.Int(n)
	}
	indexfile.Uint(c, &r.Stamp.Inode, math.MaxUint64)
	bits, flags := [...]*bool{&r.Inner, &r.Open, &r.Unlisted, &r.Indexed}, uint8(0)
	for i, set := range bits {
		if *set {
			flags |= 1 << i
		}
	}
	if c.Values(&flags); flags >= 1<<len(bits) {
		c.R.Fail("flags %#x", flags)
	}
	for i, set := range bits {
		if c.R != nil {
			*set = flags>>i&1 > 0
		}
	}
	text(&r.Pending, &r.Line, &r.Outcome, &r.Beside, &r.Format)
	indexfile.List(c, &r.Tables, 5, func(t *Table) {
		text(&t.Name)
		c.Int(&t.Size)
		indexfile.Uint(c, &t.Groups, math.MaxInt32)
		c.Blob(&t.Pieces)
		indexfile.Uint(c, &t.Packed, maxRows)
	})
}

// minRecord is the least bytes that a record takes.
const minRecord = 14

// encode returns a block before compression.
//
//	| count | record … |
func encode(records []Record) []byte {
	return indexfile.Append(nil, func(c indexfile.Codec) {
		text := func(list ...*string) {
			for _, s := range list {
				c.W.Text(*s)
			}
		}
		indexfile.List(c, &records, minRecord, func(r *Record) { r.code(c, text) })
	})
}

// decode returns the records of a block. Their texts are parts of one copy of it.
func decode(b []byte) (records []Record, err error) {
	err = indexfile.Read("catalogue", b, func(c indexfile.Codec) {
		all := string(b)
		text := func(list ...*string) {
			for _, s := range list {
				n := c.R.Count(1)
				at := len(all) - c.R.Len()
				c.R.Bytes(n)
				*s = all[at : at+n]
			}
		}
		indexfile.List(c, &records, minRecord, func(r *Record) { r.code(c, text) })
	})
	return records, err
}
