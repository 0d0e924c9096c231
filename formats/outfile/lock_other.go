//go:build !unix

package outfile

import (
	"errors"
	"os"
)

// Lock is not known here. What a process left that was killed stays.
func Lock(*os.File, bool) error { return errors.ErrUnsupported }

// flush closes the file: no open file can be renamed.
func flush(f *os.File) error { return f.Close() }

// keepOwner does nothing: a file belongs to the user who makes it.
func keepOwner(*os.File, os.FileInfo) {}
