package hcrp

import (
	"cmp"
	"context"
	"slices"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes"
)

type headerDocument struct {
	Format        string             `json:"format"`
	FormatVersion int                `json:"format_version"`
	Layout        Layout             `json:"layout"`
	Form          string             `json:"form"`
	Finished      *bool              `json:"finished,omitempty"`
	Source        formats.SourceInfo `json:"source"`
	Header        headerJSON         `json:"header"`
	Problems      []formats.Problem  `json:"problems"`
}

func (rec *recording) headerDocument(context.Context) (any, error) {
	r := rec.reader
	doc := headerDocument{
		Format: formatName, FormatVersion: r.Header.Version, Layout: r.Header.Layout, Form: "compacted",
		Source: rec.src.Info(), Header: r.Header.json(), Problems: listOf(r.Problems),
	}
	if r.segmented {
		doc.Form, doc.Finished = "segmented", &r.Finished
	}
	return doc, nil
}

// listOf makes JSON show an empty list, not null.
func listOf[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

type indexDocument struct {
	Format   string            `json:"format"`
	Complete bool              `json:"complete"`
	End      string            `json:"end"`
	Schema   *string           `json:"schema"`
	Totals   totalsJSON        `json:"totals"`
	Chunks   []chunkJSON       `json:"chunks"`
	Problems []formats.Problem `json:"problems"`
}

type totalsJSON struct {
	Chunks       int              `json:"chunks"`
	Ticks        int64            `json:"ticks"`
	Stored       int64            `json:"stored"`
	Size         int64            `json:"size"`
	EmptyTicks   *int64           `json:"empty_ticks"`
	Events       *int64           `json:"events"`
	EventsByName map[string]int64 `json:"events_by_name"`
}

type chunkJSON struct {
	Chunk     int    `json:"chunk"`
	FirstTick int64  `json:"first_tick"`
	LastTick  int64  `json:"last_tick"`
	Ticks     int64  `json:"ticks"`
	Segment   *int   `json:"segment,omitempty"`
	Offset    int64  `json:"offset"`
	Stored    int64  `json:"stored"`
	Size      int64  `json:"size"`
	Snapshot  bool   `json:"snapshot"`
	Flags     uint8  `json:"flags"`
	Records   *int32 `json:"records"`
	Events    *int32 `json:"events"`
}

// indexText returns index.json.
func (rec *recording) indexText(ctx context.Context) ([]byte, error) {
	s, err := rec.scan(ctx)
	if err != nil {
		return nil, err
	}
	r := rec.reader
	doc := indexDocument{
		Format: formatName, Complete: s.scan.complete, End: r.end(),
		Chunks: make([]chunkJSON, len(r.Entries)), Problems: listOf(r.allProblems(s.scan.problems)),
	}
	t := &doc.Totals
	t.Chunks = len(r.Entries)
	var events int64
	for i := range r.Entries {
		e, p, row := &r.Entries[i], r.place(i), &s.scan.rows[i]
		c := chunkJSON{
			Chunk: i, FirstTick: e.Start, LastTick: e.Last(), Ticks: e.Ticks, Segment: p.segmentOrNil(), Offset: p.offset,
			Stored: e.Stored, Size: e.Size, Snapshot: e.Snapshot(), Flags: e.Flags,
		}
		if *row != unreadable && rec.schema != nil {
			c.Records, c.Events = &row.records, &row.events
			events += int64(row.events)
		}
		doc.Chunks[i] = c
		t.Ticks += max(e.Ticks, 0)
		t.Stored += max(e.Stored, 0)
		t.Size += max(e.Size, 0)
	}
	if rec.schema != nil {
		doc.Schema, t.EmptyTicks, t.Events, t.EventsByName = &rec.schema.Name, &s.scan.empty, &events, s.scan.names
	}
	return nodes.MarshalIndented(doc)
}

// end says how the recording ends.
func (r *Reader) end() string {
	cut := slices.ContainsFunc(r.Problems, func(p formats.Problem) bool {
		switch p.Code {
		case codeIndexTruncated, codeMetadataTruncated, codeOutOfFile, codeSegmentTruncated, codeSegmentMissing:
			return true
		}
		return false
	})
	switch {
	case cut:
		return "cut"
	case !r.segmented:
		return "compacted"
	case r.Finished:
		return "finished"
	}
	return "unfinished"
}

// allProblems returns the problems known at once and those of the scan: what
// is not about one chunk first, then chunk by chunk.
func (r *Reader) allProblems(scanned []formats.Problem) []formats.Problem {
	n := len(r.Problems) - r.chunkProblems
	chunks := slices.Concat(r.Problems[n:], scanned)
	slices.SortStableFunc(chunks, func(a, b formats.Problem) int { return cmp.Compare(*a.Chunk, *b.Chunk) })
	return append(slices.Clip(r.Problems[:n]), chunks...)
}

// A scanned is a scan and the directories that it gives.
type scanned struct {
	scan   *scan
	ticks  *nodes.Series
	states *nodes.Series
	tracks nodes.Dir
}

func (rec *recording) scan(ctx context.Context) (*scanned, error) {
	return rec.scans.Get(ctx, struct{}{})
}

func (rec *recording) newScans(c *cache.Cache) *cache.Memo[struct{}, *scanned] {
	m := cache.NewMemo(c, func(ctx context.Context, _ struct{}) (*scanned, int64, error) {
		s, err := rec.makeScan(ctx)
		if err != nil {
			return nil, 0, err
		}
		return rec.show(s), s.weight(), nil
	})
	name := func(struct{}) string {
		if rec.src.ID == "" || rec.reader.bodies() < worthSaving {
			return ""
		}
		return rec.src.ID + "-" + formatName + "-" + rec.variant()
	}
	return m.Durable(name,
		func(s *scanned) []byte { return s.scan.pack(rec.reader.byTick) },
		func(ctx context.Context, _ struct{}, b []byte) (*scanned, int64, error) {
			s, err := rec.resumeScan(ctx, b)
			if err != nil {
				return nil, 0, err
			}
			return rec.show(s), s.weight(), nil
		})
}

// worthSaving is how many bytes of bodies a recording has whose scan is worth
// a file on disk: to read one takes as long as to scan so much.
const worthSaving = 64 << 10

// bodies returns the bytes of all chunks, as far as the index can be believed.
func (r *Reader) bodies() (n int64) {
	for i := range r.Entries {
		n += max(r.Entries[i].Size, 0)
	}
	return n
}

func (rec *recording) show(s *scan) *scanned {
	v := &scanned{scan: s}
	v.ticks = tickSeries(s.ticks, rec.tickFile, rec.unlistedTick)
	v.states = tickSeries(s.ticks, rec.stateFile, rec.hasState)
	v.tracks = rec.trackList(v)
	return v
}
