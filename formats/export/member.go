package export

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
	"recfs/nodes"
)

// A Member is a recording whose rows lie in parts.
type Member struct {
	Recording
	Tables []string // that it has, if Known: else that shows when it is opened
	Known  bool

	once     sync.Once
	err      error // why it does not open
	origin   columnar.Origin
	mapName  string
	made     string
	sum      string
	counts   map[string]count
	reported sync.Once
}

// A count is how many rows a table has, and about how many bytes their values take.
type count struct {
	size
	columns []columnar.Column
	err     error // why that is not known
}

// Load opens the recording, and makes its index if there is none.
func (m *Member) Load(ctx context.Context) error {
	m.once.Do(func() { m.err = m.load(ctx) })
	return m.err
}

func (m *Member) load(ctx context.Context) error {
	o, err := m.Open(ctx)
	if err != nil {
		return err
	}
	m.Tables, m.Known, m.made, m.counts = nil, true, m.Recording.made(o), map[string]count{}
	for _, t := range o.Tables() {
		m.Tables = append(m.Tables, t.Name)
	}
	if len(m.Tables) == 0 {
		return nil
	}
	k, err := o.Summary(ctx)
	if err != nil {
		return err
	}
	m.origin = originOf(m.shownPath(), k.Start)
	if k.Map != nil {
		m.mapName = string([]rune(*k.Map))
	}
	if m.sum, err = sumOf(ctx, o); err != nil {
		return err
	}
	for _, made := range o.Tables() {
		t, err := made.Make(ctx)
		n := count{columns: t.Columns, err: err}
		for g := range t.Groups {
			n.rows += int64(t.Groups[g].Rows)
			n.bytes += parquet.ValuesSize(&t, g)
		}
		m.counts[made.Name] = n
	}
	return nil
}

// Told says that others know why the recording does not open.
func (m *Member) Told() { m.reported.Do(func() {}) }

// has reports whether the recording has a table, as far as that is known.
func (m *Member) has(table string) bool { return slices.Contains(m.Tables, table) }

// fill adds the rows of a table from one to another.
func (m *Member) fill(ctx context.Context, b *columnar.Batch, table string, from, to int64) error {
	o, err := m.Open(ctx)
	if err != nil {
		return err
	}
	of := o.Table(table)
	if of == nil {
		return nodes.ErrStale
	}
	t, err := of.Make(ctx)
	if err != nil {
		return err
	}
	want, row := b.Rows()+int(to-from), int64(0)
	for i := range t.Groups {
		g := &t.Groups[i]
		first, end := max(from, row), min(to, row+int64(g.Rows))
		if first < end {
			b.Next(int(end-first), g.Skip+int(first-row))
			if err := t.Fill(ctx, b, i); err != nil {
				return err
			}
		}
		row += int64(g.Rows)
	}
	if b.Rows() != want {
		return nodes.SizeError(int64(want), int64(b.Rows()))
	}
	return nil
}

// line returns the line of the manifest of a part that has rows of a table.
func (m *Member) line(table string) line {
	return line{m.shownPath(), formats.HexOf(m.Path), m.counts[table].rows, m.stamp(), m.sum, m.made}
}

// isSame reports whether a line is of the recording as it is now, which is opened only where its
// stamp does not tell that.
func (m *Member) isSame(ctx context.Context, l *line) bool {
	made := m.madeBeside("")
	if m.Format().Beside != nil {
		if m.Load(ctx) != nil {
			return false
		}
		made = m.made
	}
	same, err := m.Recording.isSame(*l, made, func() (string, error) {
		err := m.Load(ctx)
		return m.sum, err
	})
	return same && err == nil
}

// noFolder is the value of recordings without one.
const noFolder = "__HIVE_DEFAULT_PARTITION__"

// maxFolder is how many bytes the value of a folder has at most.
const maxFolder = 200

// folder returns the folder that the parts with its rows lie in, "" for none.
func (m *Member) folder(by string) string {
	value := noFolder
	switch {
	case by == ByMonth && m.origin.Dated:
		value = time.UnixMicro(m.origin.Start).UTC().Format("2006-01")
	case by == ByMap && m.mapName != "":
		if name := escapeValue(m.mapName); len(name) <= maxFolder {
			value = name
		}
	case by == ByNone:
		return ""
	}
	return by + "=" + value
}

// escapeValue puts % and two hex digits in place of what engines take for something else in the
// name of a folder.
func escapeValue(value string) string {
	var b strings.Builder
	for i := range len(value) {
		if c := value[i]; c < 0x20 || c == 0x7f || strings.IndexByte(`"#%'*/:=?\{[]^`, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
