package formats

import "encoding/json"

// A PartsReader reads parts.
type PartsReader struct {
	Document string // path in the tree of a recording; "": it has no parts
	Read     func(document []byte) (Parts, error)
}

// Parts are what two recordings without ticks are compared by.
type Parts struct {
	Lists   [][]Part // as many of each recording; parts of one list are matched by their names
	Picture string   // path of a picture that has a pixel for each cell of a Grid; "": there is none
}

// A Part is a part of a recording. Its paths lead to files in the tree of that; "" to none.
type Part struct {
	Name   string          // alike in recordings that differ, and unique in its list
	Fields json.RawMessage // what the tree tells of it

	Ignored []string                   // keys of Fields and of Document that say where it lies
	Names   map[string]json.RawMessage // of other parts, in place of their numbers in Fields

	Document string   // path of a JSON file that tells more
	Keys     []string // which of it; nil: all, and Fields nothing that is compared
	Content  string   // path of bytes
	Grid     *Grid    // nil: it has none
}

// A Grid is a text of rows of cells of one width. A cell that is a dot is empty.
type Grid struct {
	Path          string
	Width, Height int // in cells

	// Name returns what a cell means without its blanks, "" if it has no name; nil: none has.
	Name func(cell string) string
}
