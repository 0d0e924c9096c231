package hcrp

import (
	"errors"
	iofs "io/fs"
	"slices"
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

// What is looked for beside a recording, and elsewhere, is told.
func TestBesideFiles(t *testing.T) {
	in := formats.Input{Name: "run.hcrp.xz"}
	schemas := []string{"run.hcrp.xz.schema.json", "run.hcrp.schema.json", "run.schema.json"}
	dictionaries := []string{"dictionaries/7.dict", "7.dict", "/7.dict"}
	for _, c := range []struct {
		id   uint16
		dir  bool
		want []string
	}{
		{want: schemas},
		{id: 7, want: slices.Concat(schemas, dictionaries)},
		{dir: true},
		{id: 7, dir: true, want: dictionaries[2:]},
	} {
		h := &head{Tables: &Tables{Header: &Header{Dictionary: c.id}, Dir: c.dir}}
		if got, ok := besideFiles(in, h); !ok || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, %v", c, got, ok)
		}
	}
	if _, ok := besideFiles(in, &lost{}); ok {
		t.Error("a recording that does not open depends on nothing else")
	}
}
