package formats

// A HeaderHead is what the header.json of every format begins with
// (docs/tree/README.md section 2).
type HeaderHead struct {
	Format        string `json:"format"`
	FormatVersion string `json:"format_version"` // text also where the format stores a number
	Layout        string `json:"layout,omitempty"`
}

// An IndexHead is what the index.json of every format begins with: three
// answers to three questions (docs/tree/README.md section 2). The page of each
// format has the rule. What a recorder has not written yet is not missing, and a problem that takes
// nothing away leaves an index complete.
type IndexHead struct {
	Format   string `json:"format"`
	Complete bool   `json:"complete"` // nothing that belongs to the recording is missing or unreadable
	Finished bool   `json:"finished"` // whoever wrote it came to its end
	End      string `json:"end"`      // how the bytes end, in a word of the format
}

// A HeaderDocument is header.json: H is what the format stores.
type HeaderDocument[H any] struct {
	HeaderHead
	Source   SourceInfo `json:"source"`
	Header   H          `json:"header"`
	Problems []Problem  `json:"problems"`
}

// An IndexDocument is the index.json of a format with time: T are its totals, C is an element of
// its chunk table.
type IndexDocument[T, C any] struct {
	IndexHead
	Totals   T         `json:"totals"`
	Chunks   []C       `json:"chunks"`
	Problems []Problem `json:"problems"`
}

// Damaged makes the document that of a recording whose compressed stream is damaged, unless d is
// nil: it has one more problem and is not complete.
func (d *IndexDocument[T, C]) Damaged(damage *Problem) {
	d.Problems = d.IndexHead.Damaged(d.Problems, damage)
}

// Damaged is for an index.json of another shape: it returns the problems with that of the stream,
// and the index is not complete, unless damage is nil.
func (h *IndexHead) Damaged(problems []Problem, damage *Problem) []Problem {
	if damage == nil {
		return problems
	}
	h.Complete = false
	return InsertProblem(problems, *damage)
}

// A LongList stands for a long list in the value of a document.
type LongList struct{}

// MarshalJSON implements json.Marshaler.
func (LongList) MarshalJSON() ([]byte, error) { return []byte("[]"), nil }
