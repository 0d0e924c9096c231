package hcrp

import (
	"context"

	"recfs/nodes"
)

// snapshotsEntry returns the directory with the snapshots; no entry if there is nothing to show.
func (rec *recording) snapshotsEntry() nodes.Entry {
	r := rec.Reader
	var flagged []int
	for i := range r.Chunks() {
		if r.Entry(i).Snapshot() {
			flagged = append(flagged, i)
		}
	}
	described := rec.schema != nil && rec.schema.describes(r.Header.Layout)
	if len(flagged) == 0 || !described && r.Header.Layout == Published {
		return nodes.Entry{}
	}
	series := func(suffix string, file func(i int) nodes.File) *nodes.Series {
		return &nodes.Series{
			Width: 6, Suffix: suffix, N: len(flagged),
			Number: func(i int) int64 { return int64(flagged[i]) },
			File:   func(n int64) nodes.File { return file(int(n)) },
		}
	}
	lines := series(".jsonl", rec.chunkFile(rec.snapshotLines))
	section := series(".bin", rec.snapshotSection)
	switch {
	case r.Header.Layout == Published:
		return nodes.Entry{Name: "snapshots", Dir: lines}
	case described:
		return nodes.Entry{Name: "snapshots", Dir: &pairs{section, lines}}
	}
	return nodes.Entry{Name: "snapshots", Dir: section}
}

func (rec *recording) snapshotLines(c *chunk) ([]byte, error) {
	if c.sectionCut || c.lost {
		return nil, stopped(&c.problems[len(c.problems)-1])
	}
	return c.SnapshotLines(rec.Header.Layout), nil
}

func (rec *recording) snapshotSection(i int) nodes.File {
	return nodes.Func(func(ctx context.Context) ([]byte, error) {
		body, err := rec.bodies.Get(ctx, i)
		if err != nil {
			return nil, err
		}
		c := rec.eventFormat(nil).decode(i, rec.Entry(i), body)
		if c.stop != nil {
			return nil, stopped(c.stop)
		}
		return body[c.section.start:c.section.end], nil
	})
}

// pairs shows two Series of the same numbers, whose suffixes sort in their order, as one directory.
type pairs struct{ a, b *nodes.Series }

// Len implements nodes.Dir.
func (p *pairs) Len(context.Context) (int, error) { return p.a.N + p.b.N, nil }

// At implements nodes.Dir.
func (p *pairs) At(ctx context.Context, i int) (nodes.Entry, error) {
	if i&1 == 1 {
		return p.b.At(ctx, i>>1)
	}
	return p.a.At(ctx, i>>1)
}

// Find implements nodes.Dir.
func (p *pairs) Find(ctx context.Context, name string) (int, error) {
	if i, err := p.a.Find(ctx, name); err == nil {
		return 2 * i, nil
	}
	i, err := p.b.Find(ctx, name)
	return 2*i + 1, err
}
