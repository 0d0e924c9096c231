package hcrp

import (
	"errors"
	iofs "io/fs"
	"syscall"
	"testing"

	"recfs/formats"
)

// An errorFS fails to open anything.
type errorFS struct{ err error }

func (f errorFS) Open(name string) (iofs.File, error) {
	return nil, &iofs.PathError{Op: "open", Path: name, Err: f.err}
}

// TestUnreadableSidecar takes a failed read for no answer: without its schema or dictionary a recording would show
// other files.
func TestUnreadableSidecar(t *testing.T) {
	for err, fails := range map[error]bool{
		iofs.ErrNotExist: false, iofs.ErrPermission: false, syscall.ENAMETOOLONG: false, syscall.EIO: true,
	} {
		s, got := sidecar(t.Context(), &Tables{}, formats.Input{Name: "run.hcrp", FS: errorFS{err}})
		if s != nil || errors.Is(got, err) != fails || isUnread(got) != fails {
			t.Errorf("%v: %v, %v", err, s, got)
		}
		for _, dirs := range [][]iofs.FS{nil, {errorFS{err}}} {
			d, got := findDictionary(7, dirs, errorFS{err}, Limits{}.withDefaults())
			if d != nil || got == nil || isUnread(got) != fails {
				t.Errorf("%v: %v, %v", err, d, got)
			}
		}
	}
}
