package archive

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"recfs/formats"
	"recfs/formats/unpack"
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
