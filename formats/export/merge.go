package export

import (
	"cmp"
	"context"
	"errors"
	iofs "io/fs"
	"maps"
	"path/filepath"
	"slices"

	"recfs/formats/columnar"
)

// A Merge writes the tables of many recordings as parts (docs/tree/tables.md section 8).
type Merge struct {
	*Exporter
	By       string
	PartSize int64
	Shard    Shard

	// Gone, if set, reports whether a recording that no Member is of is gone for sure, and its rows
	// are to go.
	Gone func(format, at string) (bool, error)

	Timeless func(format string) bool                  // its recordings have no start
	Fail     func(at *Member, table string, err error) // hears of what cannot be written; table is "" if nothing can
	Alien    func(file string, err error)              // hears of what is no part, or cannot be looked up
	Tell     func(*File)
}

// A tableMerge is one table of a Merge.
type tableMerge struct {
	*Merge
	tableDir
	members []*Member
	parts   map[string][]*part // by folder, in their order
	next    map[string]int     // number of the next part of a folder
	added   map[string][]*Member
	columns []columnar.Column // of the table
}

// Table writes the parts of one table of a format. members are all recordings of the format.
func (x *Merge) Table(ctx context.Context, format, table string, members []*Member) error {
	m := &tableMerge{
		Merge: x, tableDir: x.dirOf(format, table), members: members, added: map[string][]*Member{},
	}
	var err error
	if m.parts, m.next, err = m.findParts(m.By, m.Shard, m.Alien); err != nil {
		return err
	}
	if err := m.plan(ctx); err != nil {
		return err
	}
	return m.write(ctx)
}

// Count returns how many lines of manifests are of recordings that are gone, and how many lines
// there are.
func (x *Merge) Count(format, table string, members []*Member, isGone func(format, at string) (bool, error)) (gone, all int, err error) {
	parts, _, err := x.dirOf(format, table).findParts(x.By, x.Shard, ignoreAlien)
	if err != nil {
		return 0, 0, err
	}
	there := make(map[string]bool, len(members))
	for _, member := range members {
		there[member.Path] = true
	}
	for _, list := range parts {
		for _, p := range list {
			for i := range p.lines {
				at := p.lines[i].path()
				if all++; there[at] {
					continue
				}
				if is, err := isGone(format, at); is && err == nil {
					gone++
				}
			}
		}
	}
	return gone, all, nil
}

// ignoreAlien passes over files that are no parts, where another pass reports them.
func ignoreAlien(string, error) {}

// findParts reads the manifests of the parts that are there, by folder. next has the numbers of the
// next parts of a shard.
func (d tableDir) findParts(by string, shard Shard, alien func(string, error)) (parts map[string][]*part, next map[string]int, err error) {
	parts, next = map[string][]*part{}, map[string]int{}
	err = d.files(func(at string) {
		folder, name := filepath.Split(at)
		folder = filepath.Clean(folder)
		if folder == "." {
			folder = ""
		}
		s, n, ok := numberOf(name)
		if !ok || (folder == "") != (by == ByNone) || folder != "" && folder != filepath.Base(folder) {
			return
		}
		if s == shard {
			next[folder] = max(next[folder], n+1)
		}
		p, err := openPart(d, folder, name, by)
		if err != nil {
			alien(d.name(filepath.Join(d.path, at)), err)
			return
		}
		parts[folder] = append(parts[folder], p)
	})
	for _, list := range parts {
		slices.SortFunc(list, func(a, b *part) int { return a.number - b.number })
	}
	if errors.Is(err, iofs.ErrNotExist) {
		err = nil
	}
	return parts, next, err
}

// all returns the parts of all folders.
func (m *tableMerge) all() (list []*part) {
	for _, folder := range slices.Sorted(maps.Keys(m.parts)) {
		list = append(list, m.parts[folder]...)
	}
	return list
}

// plan finds out what becomes of each line, and which recordings are in no part.
func (m *tableMerge) plan(ctx context.Context) error {
	lines := map[string][]*entry{}
	for _, p := range m.all() {
		for _, e := range p.entries {
			at := e.line.path()
			lines[at] = append(lines[at], e)
		}
	}
	for _, member := range m.members {
		if err := ctx.Err(); err != nil {
			return err
		}
		m.planMember(ctx, member, lines[member.Path])
		delete(lines, member.Path)
	}
	for at, list := range lines {
		if !m.Shard.Has(at) {
			continue
		}
		gone := false
		if m.Gone != nil {
			var err error
			if gone, err = m.Gone(m.format, at); err != nil {
				m.Alien(at, err)
			}
		}
		for i, e := range list {
			e.drop, e.gone = gone || i < len(list)-1, gone
		}
	}
	return nil
}

// planMember finds out what becomes of the lines of a recording.
func (m *tableMerge) planMember(ctx context.Context, member *Member, lines []*entry) {
	if member.Known && !member.has(m.table) || len(lines) == 0 && m.fails(ctx, member) {
		return
	}
	keep := slices.IndexFunc(lines, func(e *entry) bool { return member.isSame(ctx, e.line) })
	if len(lines) == 1 && keep == 0 || m.fails(ctx, member) || !member.has(m.table) {
		return
	}
	if err := member.counts[m.table].err; err != nil {
		m.Fail(member, m.table, err)
		return
	}
	folder := member.folder(m.By)
	here := slices.IndexFunc(lines, func(e *entry) bool {
		return filepath.Dir(e.from.file) == filepath.Join(m.path, folder) && (keep < 0 || member.isSame(ctx, e.line))
	})
	switch {
	case here >= 0 && keep < 0:
		lines[here].to = member
		keep = here
	case here >= 0:
		keep = here
	case keep < 0:
		m.added[folder] = append(m.added[folder], member)
	}
	for i, e := range lines {
		switch {
		case i == keep:
		case keep < 0 && i == 0:
			e.moves = member
		default:
			e.drop = true
		}
	}
}

// fails opens a recording, and reports it if that fails.
func (m *Merge) fails(ctx context.Context, member *Member) bool {
	err := member.Load(ctx)
	if err != nil && ctx.Err() == nil {
		member.reported.Do(func() { m.Fail(member, "", err) })
	}
	return err != nil
}

// write writes the parts that change. Parts that recordings leave come last: by then the recordings
// are in their new parts.
func (m *tableMerge) write(ctx context.Context) error {
	m.learnColumns()
	folders := slices.Collect(maps.Keys(m.parts))
	for folder := range m.added {
		if _, ok := m.parts[folder]; !ok {
			folders = append(folders, folder)
		}
	}
	slices.Sort(folders)
	moved := map[*Member]bool{} // and any other that was written
	for _, folder := range folders {
		if err := m.writeFolder(ctx, folder, moved); err != nil {
			return err
		}
	}
	return m.takeAway(ctx, moved)
}

// takeAway removes recordings from parts once they have moved to another one.
func (m *tableMerge) takeAway(ctx context.Context, moved map[*Member]bool) error {
	for _, p := range m.all() {
		gone := map[string]bool{}
		for _, e := range p.entries {
			if e.moves != nil && moved[e.moves] {
				gone[e.moves.Path] = true
			}
		}
		if len(gone) == 0 {
			continue
		}
		from, err := openPart(p.tableDir, p.folder, p.last, m.By) // as it is by now
		if err != nil {
			return err
		}
		for _, e := range from.entries {
			e.drop = gone[e.line.path()]
		}
		if _, err := m.rewrite(ctx, from, nil, moved); err != nil {
			return err
		}
	}
	return nil
}

// writeFolder writes the parts of a folder.
func (m *tableMerge) writeFolder(ctx context.Context, folder string, moved map[*Member]bool) error {
	added := m.added[folder]
	slices.SortFunc(added, func(a, b *Member) int {
		x, y := a.line(m.table), b.line(m.table)
		return compareLines(&x, &y)
	})
	list := m.parts[folder]
	last := -1
	for i, p := range list {
		if p.shard == m.Shard {
			last = i
		}
	}
	for i, p := range list {
		var more []*Member
		if i == last && p.info.Size() < m.PartSize/2 && m.isOurs(p) {
			more, added = added, nil
		}
		changes := slices.ContainsFunc(p.entries, func(e *entry) bool { return e.drop || e.to != nil })
		switch {
		case len(more) > 0 || changes:
			left, err := m.rewrite(ctx, p, more, moved)
			if err != nil {
				return err
			}
			added = append(added, left...)
		case !slices.ContainsFunc(p.entries, func(e *entry) bool { return e.moves != nil }):
			told := p.told(len(p.lines))
			told.Same = true
			m.Tell(told)
		}
	}
	for len(added) > 0 {
		p := &part{tableDir: m.tableDir, folder: folder, last: nameOfPart(m.Shard, m.next[folder])}
		m.next[folder]++
		left, err := m.rewrite(ctx, p, added, moved)
		if err != nil {
			return err
		}
		added = left
	}
	return nil
}

// learnColumns takes the columns of the table from the recordings that are to be written, and which
// of them hold nulls also from the parts. Recordings move out of parts that have other columns.
func (m *tableMerge) learnColumns() {
	widen := func(columns []columnar.Column) {
		if m.columns == nil {
			m.columns = columns
		} else if wide, ok := columnar.Widen(m.columns, columns); ok {
			m.columns = wide
		}
	}
	parts := m.all()
	for _, member := range slices.Concat(slices.Collect(maps.Values(m.added))...) {
		widen(member.counts[m.table].columns)
	}
	for _, p := range parts {
		for _, e := range p.entries {
			if e.to != nil {
				widen(e.to.counts[m.table].columns)
			}
		}
	}
	for _, p := range parts {
		widen(p.rows.Columns[min(len(columnar.OriginColumns(m.timeless())), len(p.rows.Columns)):])
	}
	for _, p := range parts {
		if m.isOurs(p) {
			continue
		}
		for _, e := range p.entries {
			if e.to != nil {
				m.added[p.folder] = append(m.added[p.folder], e.to)
				e.to, e.moves = nil, e.to
			}
		}
	}
}

// isOurs reports whether the columns of a part are those that are written now.
func (m *tableMerge) isOurs(p *part) bool {
	return p.rows.Same(slices.Concat(columnar.OriginColumns(m.timeless()), m.columns))
}

// timeless reports whether recordings of the format have no start.
func (m *tableMerge) timeless() bool { return m.Timeless(m.format) }

// A Table is one of recordings of a format.
type Table struct{ Format, Name string }

// Tables returns the tables that recordings have, which come by format, and those that files exist
// of, sorted.
func (d *Destination) Tables(members map[string][]*Member) []Table {
	list := map[Table]bool{}
	for format, all := range members {
		for _, m := range all {
			for _, t := range m.Tables {
				list[Table{format, t}] = true
			}
		}
	}
	dirs, _, _ := d.tableDirs()
	for _, t := range dirs {
		list[Table{t.format, t.table}] = true
	}
	return slices.SortedFunc(maps.Keys(list), func(a, b Table) int {
		return cmp.Or(cmp.Compare(a.Format, b.Format), cmp.Compare(a.Name, b.Name))
	})
}
