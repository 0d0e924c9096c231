package archive

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"sort"

	"recfs/formats"
	"recfs/formats/unpack"
	"recfs/nodes"
)

// A container that is damaged shows what is whole of it, and beside that a file that names what is
// not (docs/tree/README.md section 1).

// withDamage returns the problems of a container, by offset, with that of the compression around
// it.
func withDamage(ctx context.Context, problems []formats.Problem, hurt unpack.DamageFunc) ([]formats.Problem, error) {
	problems = slices.Clone(problems)
	if hurt != nil {
		d, err := hurt(ctx)
		if err != nil {
			return nil, err
		}
		if d != nil {
			problems = append(problems, d.Problem())
		}
	}
	slices.SortStableFunc(problems, func(a, b formats.Problem) int { return cmp.Compare(a.Offset, b.Offset) })
	return problems, nil
}

// problemCost is about what a problem takes in memory, with its part of error.txt.
const problemCost = 512

// containerErrorText returns the error.txt of a container that opens: for each problem its format,
// offset, reason and, if it is one of a member, path, one fact a line, and an empty line between
// two.
func containerErrorText(format string, problems []formats.Problem) []byte {
	var b bytes.Buffer
	for i, p := range problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "format: %s\noffset: %d\nreason: %s\n", format, p.Offset, p.Message)
		if p.Path != "" {
			fmt.Fprintf(&b, "path: %s\n", formats.OneLine(p.Path))
		}
	}
	return b.Bytes()
}

// A damagedDir is the directory of a damaged container: what it holds and one file more.
type damagedDir struct {
	nodes.Namer
	at   int // the place of the file
	file nodes.Entry
}

// newDamagedDir adds a file with that text to dir. It is called error.txt unless dir has one.
func newDamagedDir(ctx context.Context, dir nodes.Namer, text []byte) (*damagedDir, error) {
	name := "error.txt"
	for n := 2; ; n++ {
		_, err := dir.Find(ctx, name)
		if errors.Is(err, iofs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, err
		}
		name = fmt.Sprintf("error-%d.txt", n)
	}
	n, err := dir.Len(ctx)
	if err != nil {
		return nil, err
	}
	at := sort.Search(n, func(i int) bool {
		b, _, failed := dir.AppendName(ctx, nil, i)
		err = cmp.Or(err, failed)
		return string(b) > name
	})
	return &damagedDir{Namer: dir, at: at, file: nodes.Entry{Name: name, File: nodes.Bytes(text)}}, err
}

// Len returns how many entries there are with the file.
func (d *damagedDir) Len(ctx context.Context) (int, error) {
	n, err := d.Namer.Len(ctx)
	return n + 1, err
}

// Find returns the index of the entry called name.
func (d *damagedDir) Find(ctx context.Context, name string) (int, error) {
	if name == d.file.Name {
		return d.at, nil
	}
	i, err := d.Namer.Find(ctx, name)
	if err == nil && i >= d.at {
		i++
	}
	return i, err
}

// At returns entry i.
func (d *damagedDir) At(ctx context.Context, i int) (nodes.Entry, error) {
	if i == d.at {
		return d.file, nil
	}
	return d.Namer.At(ctx, d.inside(i))
}

// AppendName implements nodes.Namer.
func (d *damagedDir) AppendName(ctx context.Context, b []byte, i int) ([]byte, iofs.FileMode, error) {
	if i == d.at {
		return append(b, d.file.Name...), 0, nil
	}
	return d.Namer.AppendName(ctx, b, d.inside(i))
}

// inside returns the index that entry i, which is not the file, has without the file.
func (d *damagedDir) inside(i int) int {
	if i > d.at {
		return i - 1
	}
	return i
}

var _ nodes.Namer = (*damagedDir)(nil)
