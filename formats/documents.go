package formats

// A HeaderHead is what the header.json of every format begins with
// (docs/tree/README.md section 2).
type HeaderHead struct {
	Format        string `json:"format"`
	FormatVersion string `json:"format_version"` // text also where the format stores a number
	Layout        string `json:"layout,omitempty"`
}
