package export

import (
	"path/filepath"

	"recfs/formats"
)

// A tableDir is the directory of the files of a table.
type tableDir struct {
	directory
	format, table string
	path          string // in the directory
}

// files calls fn for the paths of the files of the table, see [directory.each].
func (d tableDir) files(fn func(name string)) error { return d.each(d.path, fn) }

// file returns the File of a path below the table.
func (d tableDir) file(name string) *File {
	at := filepath.Join(d.path, name)
	file := d.name(at)
	return &File{Format: d.format, Table: d.table, File: file, FileHex: formats.HexOf(file), at: at}
}

// isOf reports whether the metadata of a file is of the table.
func isOf(m map[string]string, d tableDir) bool {
	return m["recfs.format"] == d.format && m["recfs.table"] == d.table
}
