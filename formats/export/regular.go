package export

import (
	"bytes"
	"errors"
	iofs "io/fs"
	"os"
	"strings"
	"syscall"

	"recfs/formats/internal/parquet"
	"recfs/formats/source"
)

// unread returns why the system could not read a file that is there, nil if err does not say that.
func unread(err error) error {
	if why, ok := errors.AsType[syscall.Errno](err); ok && !errors.Is(why, iofs.ErrNotExist) {
		return why
	}
	return nil
}

// mayReplace returns why a file may not be replaced, if there is one: no export wrote it, or that
// cannot be told. A file that is damaged counts as ours, and so does one of zeros, which a crash of
// the system leaves.
func (d directory) mayReplace(at string) error {
	begin, err := d.begin(at, int64(len(parquet.ViewsBegin)))
	switch {
	case unread(err) != nil:
		return unread(err)
	case err != nil, len(begin) == 0, begin[0] == 0, string(begin) == parquet.ViewsBegin:
		return nil
	case !bytes.HasPrefix(begin, []byte(parquet.Magic)):
		return errAlien
	}
	m := d.metadata(at)
	if m == nil { // it is damaged
		return nil
	}
	for key := range m {
		if strings.HasPrefix(key, "recfs.") {
			return nil
		}
	}
	return errAlien
}

// changed returns when a file was written, renamed or the like last, in nanoseconds since 1970.
func changed(info os.FileInfo) int64 {
	return max(source.InfoOf(info).Changed, info.ModTime().UnixNano())
}
