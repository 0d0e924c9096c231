package datafile

import (
	"recfs/formats"
	"recfs/formats/internal/indexfile"
)

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
