package parquet

import (
	"context"
	"fmt"
	"io"
	"path"

	"recfs/formats/columnar"
	"recfs/nodes"
)

// A named file is of one recording. Each of its rows tells the path of that, and its metadata the
// last name of the path. Its size follows from the size for an empty path: zeros before the footer
// fill what a path does not need.

// BareSize returns the size of a named file for an empty path, with what it may need more for any
// path.
func BareSize(t columnar.Table, format string, timeless bool, o columnar.Origin) (int64, error) {
	o.Path = ""
	l, err := NewLayout(t.WithOrigin(timeless, o), Metadata(format, t.Name, "")...)
	if err != nil {
		return 0, err
	}
	// Offsets of pages and dictionaries, and what is told of the two columns, take longer numbers.
	const column, both = 4, 32
	return l.Size() + int64(len(t.Groups)*(column*len(t.Columns)+both)), nil
}

// NamedSize returns how many bytes a file has for a path, from its BareSize.
func NamedSize(bare int64, groups int, at string) int64 {
	more := len(at)
	if more <= maxOriginBound {
		more *= 3 // with both bounds
	}
	var source thrift
	source.text(path.Base(at))
	const empty = 1 // bytes of the name in bare
	size := bare + int64(len(source.b)-empty+groups*more)
	if size > block { // what follows a group may lie a block later
		size += int64(groups) * block
	}
	return size
}

// newNamedLayout returns the layout of a named file.
func newNamedLayout(t columnar.Table, format string, timeless bool, o columnar.Origin) (*Layout, error) {
	bare, err := BareSize(t, format, timeless, o)
	if err != nil {
		return nil, err
	}
	l, err := NewLayout(t.WithOrigin(timeless, o), Metadata(format, t.Name, path.Base(o.Path))...)
	if err != nil {
		return nil, err
	}
	more := NamedSize(bare, len(t.Groups), o.Path) - l.Size()
	if more < 0 {
		return nil, fmt.Errorf("%s takes %d bytes more than its size", t.Name, -more)
	}
	l.zeros += more
	return l, nil
}

// A Named is a table of a recording whose rows tell of which they are.
type Named struct {
	Table    *columnar.Maker
	Format   string
	Timeless bool
	Origin   func(ctx context.Context) (columnar.Origin, error)
}

// layout returns the layout of the table, which Table has made.
func (n *Named) layout(ctx context.Context, t columnar.Table) (*Layout, error) {
	o, err := n.Origin(ctx)
	if err != nil {
		return nil, err
	}
	return newNamedLayout(t, n.Format, n.Timeless, o)
}

// Bytes returns the whole file, of which nothing else is kept.
func (n *Named) Bytes(ctx context.Context) ([]byte, error) {
	t, err := n.Table.Make(ctx)
	if err != nil {
		return nil, err
	}
	l, err := n.layout(ctx, t)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(nodes.Reader(ctx, l.Content(func(ctx context.Context, i int) ([]byte, func(int), error) {
		b, err := l.Make(ctx, i, nil)
		return b, stays, err
	})))
}
