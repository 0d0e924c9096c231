package catalogue

import (
	"context"
	iofs "io/fs"
	"path"
	"slices"
	"strings"

	"recfs/formats"
	"recfs/formats/internal/ledger"
	"recfs/formats/internal/parquet"
	"recfs/formats/source"
)

// viewsName is the file below tables/ that names all of it in SQL. It is there in a mount.
const viewsName = "views.sql"

// A place is a directory below tables/.
type place struct {
	format, table string // "": the formats, or the tables of one, are in it
	dir           string // of the archive
}

// below returns the path in the archive of what is called name there.
func (p place) below(name string) string { return path.Join(p.dir, name) }

// in returns the directory called name, if it is no table.
func (p place) in(name string) place {
	switch {
	case p.format == "":
		p.format = name
	case p.table == "":
		p.table = name
	default:
		p.dir = p.below(name)
	}
	return p
}

// realName returns what is called name there, a folder or a recording, in the archive; "": nothing
// is.
func (s *survey) realName(ctx context.Context, p place, name string, folder bool) (found string, err error) {
	if at, ok := parquet.UnescapeName(name, folder); ok && at != "" && !strings.Contains(at, "/") {
		return at, nil
	}
	begin, ok := parquet.CutName(name)
	if !ok {
		return "", nil
	}
	err = s.Entries(ctx, s.pages, p.dir, begin, p.format, p.table, func(at string, isDir bool) bool {
		if isDir == folder && parquet.EscapeName(at, folder) == name {
			found = at
		}
		return found == "" && strings.HasPrefix(at, begin)
	})
	return found, err
}

// table returns the record with the table that is called name, or that may have it but is to be
// opened again; nil if there is none.
func (s *survey) table(ctx context.Context, p place, name string) (*ledger.Record, ledger.Table, error) {
	if p.table == "" {
		return nil, ledger.Table{}, nil
	}
	at, err := s.realName(ctx, p, name, false)
	if at == "" || err != nil {
		return nil, ledger.Table{}, err
	}
	r, err := s.Find(ctx, s.pages, p.below(at))
	if r == nil || err != nil {
		return nil, ledger.Table{}, err
	}
	t, ok := r.Table(p.format, p.table)
	if !ok && !r.Open {
		r = nil
	}
	return r, t, nil
}

// dirIn returns the directory called name, which has tables below it.
func (s *survey) dirIn(ctx context.Context, p place, name string) (in place, found bool, err error) {
	if p.table == "" {
		return p.in(name), slices.Contains(s.kindsIn(p), name), nil
	}
	at, err := s.realName(ctx, p, name, true)
	if at == "" || err != nil {
		return p, false, err
	}
	in = p.in(at)
	err = s.Entries(ctx, s.pages, in.dir, "", p.format, p.table, func(string, bool) bool {
		found = true
		return false
	})
	return in, found, err
}

// kindsIn returns the formats, or the tables of one.
func (s *survey) kindsIn(p place) (names []string) {
	for _, kind := range s.Kinds() {
		switch format, table, _ := strings.Cut(kind, "/"); {
		case p.format == "":
			names = append(names, format)
		case p.format == format:
			names = append(names, table)
		}
	}
	return slices.Compact(names)
}

// loadNames returns the names in a directory of recordings. What they take is charged as it grows.
func loadNames(ctx context.Context, k namesKey) (source.Names, int64, error) {
	held, err := formats.Charge(ctx, 0)
	if err != nil {
		return nil, 0, err
	}
	defer held.Free()
	var list []source.Name
	err = k.Entries(ctx, k.pages, k.at.dir, "", k.at.format, k.at.table, func(name string, isDir bool) bool {
		const each, atOnce = 128, 4096 // bytes of a name until all are together, and names
		if len(list)%atOnce == 0 && held.Grow(each*atOnce) != nil {
			return false // the request begins again, with more
		}
		one := source.Name{Name: parquet.EscapeName(name, isDir)}
		if isDir {
			one.Type = iofs.ModeDir
		}
		list = append(list, one)
		return true
	})
	if err != nil {
		return nil, 0, err
	}
	names := source.NewNames(list)
	return names, names.Cost(), nil
}
