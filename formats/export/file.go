package export

import "recfs/formats"

// A File is a table on disk, of one recording or of many as a part, and what became of it. That is
// what export --json prints, also of a recording that does not open and of a container that is
// damaged.
type File struct {
	Path       string `json:"path,omitempty"`     // of the recording in what is exported; "": it is a part
	PathHex    string `json:"path_hex,omitempty"` // if Path is not UTF-8; so is FileHex
	Format     string `json:"format"`
	Table      string `json:"table,omitempty"`
	File       string `json:"file,omitempty"` // on disk
	FileHex    string `json:"file_hex,omitempty"`
	Recordings *int   `json:"recordings,omitempty"` // of a part
	Rows       *int64 `json:"rows,omitempty"`       // of a file that was written
	Size       *int64 `json:"size,omitempty"`       // bytes, the same
	Same       bool   `json:"unchanged"`            // it was there already, of the same bytes
	Removed    bool   `json:"removed,omitempty"`
	Error      string `json:"error,omitempty"`

	Err    error    `json:"-"` // why it could not be written or removed: what was there before still is
	Pruned []string `json:"-"` // recordings that are gone, whose rows went

	at string // in the directory
}

// of says that the file is of the recording at a path.
func (f *File) of(at string) *File {
	f.Path, f.PathHex = at, formats.HexOf(at)
	return f
}

// Failed returns the File of a table of a recording, or of all of its tables, for which there is no
// file.
func Failed(at, format, table, why string) File {
	f := File{Format: format, Table: table, Error: why}
	return *f.of(at)
}
