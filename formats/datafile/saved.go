package datafile

import (
	"context"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
)

var (
	_ formats.Head  = (*Tables)(nil)
	_ formats.Index = (*index)(nil)
)

// open is the Open of the format.
func (o Options) open(ctx context.Context, in formats.Input) (formats.Head, error) {
	r, err := NewReader(ctx, in, in.Size)
	if err != nil {
		return nil, err
	}
	return o.limit(r.Tables), nil
}

// limit sets the limit of data items.
func (o Options) limit(t *Tables) *Tables {
	if o.MaxData > 0 {
		t.MaxData = o.MaxData
	}
	return t
}

// Append appends the tables as they are kept on disk.
//
//	| size of the file | the file up to the data part |
func (t *Tables) Append(b []byte) []byte {
	w := indexfile.Append(b)
	w.Size(t.size)
	w.Blob(t.stored)
	return w.Bytes()
}

// readHead reads what Append of the tables wrote.
func (o Options) readHead(_ context.Context, _ formats.Input, saved []byte) (formats.Head, error) {
	r := indexfile.NewReader(formatName, saved)
	size, stored := r.Size(), r.Blob()
	if err := r.Close(); err != nil {
		return nil, err
	}
	h, err := parseHeader(stored)
	if err != nil {
		return nil, err
	}
	if h.dataAt() != int64(len(stored)) || h.dataAt() > min(size, maxTables) {
		return nil, formats.ErrOther
	}
	t, err := parseTables(h, stored, size)
	if err != nil {
		return nil, err
	}
	return o.limit(t), nil
}

// Memory is about what the tables keep alive, and the Map that a tree makes of them.
func (t *Tables) Memory() int64 {
	const entry, part, again = 24, 192, 64 // of the tables, of a Map, of an id that comes again
	parts := 0
	for typ := uint16(typeVersion); typ <= typeSound; typ++ {
		start, end := t.ItemsOf(typ)
		parts += end - start
	}
	return int64(len(t.stored) + entry*(len(t.Items)+len(t.Data)+3*len(t.Types)) + part*parts + again*len(t.repeats))
}

// An index is what a pass over the data finds.
type index struct {
	size     int64     // of the file
	credits  [4]string // who made the map: the texts of Info.Strings, "" where there is none
	problems problemList
}

// Append appends the index as it is kept on disk.
//
//	| size of the file | credits: 4 × text | count | problem … |
func (x *index) Append(b []byte) []byte {
	w := indexfile.Append(b)
	w.Size(x.size)
	for _, text := range x.credits {
		w.Text(text)
	}
	w.Count(len(x.problems))
	for i := range x.problems {
		w.Problem(&x.problems[i])
	}
	return w.Bytes()
}

// decodeIndex reads what Append of an index wrote.
func decodeIndex(saved []byte) (*index, error) {
	r := indexfile.NewReader(formatName, saved)
	x := &index{size: r.Size()}
	for i := range x.credits {
		x.credits[i] = r.Text()
	}
	x.problems = make(problemList, r.Count(indexfile.MinProblem))
	for i := range x.problems {
		x.problems[i] = r.Problem()
	}
	return x, r.Close()
}

// readIndex reads what Append of an index wrote, if the file has the size that it had.
func readIndex(_ formats.Input, h formats.Head, saved []byte) (formats.Index, error) {
	x, err := decodeIndex(saved)
	if err != nil {
		return nil, err
	}
	if x.size != h.(*Tables).size {
		return nil, formats.ErrOther
	}
	return x, nil
}

// Memory is about what the index keeps alive.
func (x *index) Memory() int64 {
	n := x.problems.cost()
	for _, text := range x.credits {
		n += int64(len(text))
	}
	return n
}

// Reach is the end of the file.
func (x *index) Reach(string) int64 { return x.size }

// smallIndex is how much data a file must announce for its index to be kept on disk: less is inflated
// as fast as a file is opened.
const smallIndex = 8 << 20

// keep is the Keep of the format.
func keep(h formats.Head) bool {
	size := int64(0)
	for _, d := range h.(*Tables).Data {
		size += d.Size
	}
	return size >= smallIndex
}
