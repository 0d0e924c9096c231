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
// format has the rule.
type IndexHead struct {
	Format   string `json:"format"`
	Complete bool   `json:"complete"` // nothing that belongs to the recording is missing or unreadable
	Finished bool   `json:"finished"` // whoever wrote it came to its end
	End      string `json:"end"`      // how the bytes end, in a word of the format
}
