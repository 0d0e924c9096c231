package formats

// A NeedsReader reads what a recording needs that it does not hold.
type NeedsReader struct {
	Document string // path in the tree of a recording; "": it needs nothing
	Read     func(document []byte) []Need
}

// A Need is a file that a recording names: one with a SHA256, or any number of one kind.
type Need struct {
	Kind      string // "map"
	Name, Ext string // of the file
	Dir       string // where it may lie beside the recording
	Hint      string // what it is good for, and where it may be put

	Size   int64
	SHA256 string // in hex; "": any file of the name will do
}
