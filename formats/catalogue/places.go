package catalogue

import (
	"context"
	iofs "io/fs"
	"slices"
	"strings"

	"recfs/formats"
	"recfs/formats/internal/ledger"
	"recfs/formats/internal/parquet"
	"recfs/formats/source"
)

// A place is a directory below tables/.
type place struct {
	format, table string // "": the formats, or the tables of one, are in it
	dir           string // of the archive
}

// placeOf returns the directory at a path below tables/.
func placeOf(at string) (p place, ok bool) {
	parts := strings.SplitN(at, "/", 3)
	p.format = parts[0]
	if len(parts) > 1 {
		p.table = parts[1]
	}
	if len(parts) < 3 {
		return p, true
	}
	names := strings.Split(parts[2], "/")
	for i, name := range names {
		if names[i], ok = parquet.UnescapeName(name, true); !ok {
			return p, false
		}
	}
	p.dir = strings.Join(names, "/")
	return p, true
}

// below returns the path in the archive of what is called name there.
func (p place) below(name string) string {
	if p.dir == "" {
		return name
	}
	return p.dir + "/" + name
}

// recording returns the path of the recording whose table is called name.
func (p place) recording(name string) (string, bool) {
	name, ok := parquet.UnescapeName(name, false)
	return p.below(name), ok && p.table != "" && name != "" && !strings.Contains(name, "/")
}

// table returns the record with the table that is called name, nil if there is none.
func (s *survey) table(ctx context.Context, p place, name string) (*ledger.Record, ledger.Table, error) {
	at, ok := p.recording(name)
	if !ok {
		return nil, ledger.Table{}, nil
	}
	r, err := s.Find(ctx, s.pages, at)
	if r == nil || err != nil {
		return nil, ledger.Table{}, err
	}
	t, ok := r.Table(p.format, p.table)
	if !ok {
		r = nil
	}
	return r, t, nil
}

// hasDir reports whether there is a directory called name, which has tables below it.
func (s *survey) hasDir(ctx context.Context, p place, name string) (found bool, err error) {
	if p.table == "" {
		return slices.Contains(s.kindsIn(p), name), nil
	}
	name, ok := parquet.UnescapeName(name, true)
	if !ok || name == "" || strings.Contains(name, "/") {
		return false, nil
	}
	err = s.Entries(ctx, s.pages, p.below(name), p.format, p.table, func(string, bool) bool {
		found = true
		return false
	})
	return found, err
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

// names returns the names in a directory. What they take is charged as it grows.
func (s *survey) names(ctx context.Context, p place) (source.Names, error) {
	var list []source.Name
	if p.table == "" {
		for _, name := range s.kindsIn(p) {
			list = append(list, source.Name{Name: name, Type: iofs.ModeDir})
		}
		return source.NewNames(list), nil
	}
	held, err := formats.Charge(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer held.Free()
	err = s.Entries(ctx, s.pages, p.dir, p.format, p.table, func(name string, isDir bool) bool {
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
		return nil, err
	}
	slices.SortFunc(list, func(a, b source.Name) int { return strings.Compare(a.Name, b.Name) })
	return source.NewNames(list), nil
}
