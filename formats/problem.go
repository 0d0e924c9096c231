package formats

import "slices"

// A Problem is an element of "problems" in header.json and index.json.
type Problem struct {
	Code    string `json:"code"`
	Chunk   *int   `json:"chunk,omitempty"`
	Segment *int   `json:"segment,omitempty"`
	Path    string `json:"path,omitempty"`
	Offset  int64  `json:"offset"`
	Message string `json:"message"`
}

// InsertProblem returns a list of problems with one more, before the last ones if they have a
// higher offset. The list is changed.
func InsertProblem(list []Problem, p Problem) []Problem {
	at := len(list)
	for at > 0 && list[at-1].Offset > p.Offset {
		at--
	}
	return slices.Insert(list, at, p)
}
