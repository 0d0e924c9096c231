package hcrp

import (
	"context"
	"errors"
	iofs "io/fs"
	"strconv"
	"time"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/views"
	"recfs/nodes"
)

// tick returns tick n and the chunk that it belongs to, by the rules of settle. If the tick is
// unknown the error is not iofs.ErrNotExist.
func (rec *recording) tick(ctx context.Context, n int64) (of *chunk, part *tick, err error) {
	chunks := rec.Reader.chunksOf(n)
	known := len(chunks) == 0
	for _, i := range chunks {
		c, err := rec.chunks.Get(ctx, i)
		if _, damaged := formats.Coded(err); damaged {
			continue
		} else if err != nil {
			return nil, nil, err
		}
		t := c.find(n)
		switch {
		case t == nil:
			known = known || n <= c.known
		case !t.cut:
			return c, t, nil
		case part == nil:
			of, part = c, t
		}
	}
	switch {
	case part != nil:
		return of, part, nil
	case !known:
		return nil, nil, errUnknownTick
	}
	return nil, nil, &iofs.PathError{Op: "find", Path: strconv.FormatInt(n, 10), Err: iofs.ErrNotExist}
}

// ticks declares ticks/. To list it needs the index; to open a tick by its number decodes one
// chunk.
func (rec *recording) ticks() *views.Documents[index] {
	return &views.Documents[index]{
		Numbers: (*index).numbers, Clock: rec.clock, Listed: true,
		Opens: rec.unlistedTick, Early: true, Make: rec.tickDocument,
		Stretch: (*index).run, Each: rec.each((*playback).eachTick),
	}
}

// states declares states/.
func (rec *recording) states() *views.Documents[index] {
	return &views.Documents[index]{
		Numbers: (*index).numbers, Clock: rec.clock, Opens: rec.hasState,
		Make: rec.documents.Get, Made: rec.documents.Peek,
		Stretch: (*index).run, Each: rec.each((*playback).eachState),
	}
}

// numbers are the recorded ticks.
func (x *index) numbers() views.Numbers {
	return views.Numbers{
		N:      int(x.ticks.count()),
		Number: func(i int) int64 { return x.ticks.number(int64(i)) },
		Search: func(n int64) int { return int(x.ticks.search(n)) },
	}
}

// each returns a function that makes the documents of a run, and does not keep the chunks.
func (rec *recording) each(play func(*playback, context.Context, int, int, func(int, []byte) error) error,
) func(context.Context, *index, int, int, func(int, []byte) error) error {
	return func(ctx context.Context, x *index, first, end int, fn func(i int, doc []byte) error) error {
		bodies := newPass(rec.Reader, false)
		defer bodies.end()
		t := rec.playback(x)
		t.decode = bodies.decode
		var doc []byte
		return play(t, ctx, first, end, func(i int, compact []byte) error {
			doc = append(jsonenc.AppendIndented(doc[:0], compact), '\n')
			return fn(i, doc)
		})
	}
}

func (rec *recording) tickDocument(ctx context.Context, n int64) ([]byte, error) {
	c, t, err := rec.tick(ctx, n)
	if err != nil {
		return nil, err
	}
	return document(c.bytes(t.line)), nil
}

// unlistedTick reports whether tick n opens although it is not listed, as before the list is made.
// An error says why it does not open.
func (rec *recording) unlistedTick(ctx context.Context, n int64) (bool, error) {
	_, _, err := rec.tick(ctx, n)
	if errors.Is(err, iofs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (rec *recording) loadState(ctx context.Context, n int64) ([]byte, int64, error) {
	x, err := rec.Index(ctx)
	if err != nil {
		return nil, 0, err
	}
	b, err := rec.playback(x).state(ctx, n)
	if err != nil {
		return nil, 0, err
	}
	b = document(b)
	return b, int64(cap(b)), nil
}

// clock counts ticks from the moment that the recording began.
func (rec *recording) clock(*index) nodes.Clock {
	var began *time.Time
	if rec.Header.timestamp() != nil {
		began = new(time.UnixMilli(rec.Header.Timestamp))
	}
	first, last := rec.span()
	return views.SteadyClock(began, msPerTick*time.Millisecond, first, last)
}

// hasState reports whether there is a state of tick n: from the first tick to the last.
func (rec *recording) hasState(_ context.Context, n int64) (bool, error) {
	first, last := rec.span()
	return first <= n && n <= last, nil
}

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
