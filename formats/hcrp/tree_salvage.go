package hcrp

import (
	"context"
	"errors"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/views"
	"recfs/nodes"
)

// A salvage shows the chunks that no index names.
type salvage struct {
	*salvageSource
	frames *cache.Memo[struct{}, []frame]
	chunks *cache.Memo[int, *rescue]
}

// newSalvage prepares salvage/.
func newSalvage(src *salvageSource, c *cache.Cache) *salvage {
	s := &salvage{salvageSource: src}
	s.frames = cache.NewMemo(c, func(ctx context.Context, _ struct{}) ([]frame, int64, error) {
		list, err := s.find(ctx, maxSalvaged)
		return list, 24 * int64(cap(list)), err
	})
	s.chunks = cache.NewMemo(c, func(ctx context.Context, i int) (*rescue, int64, error) {
		list, err := s.frames.Get(ctx, struct{}{})
		if err != nil {
			return nil, 0, err
		}
		r, err := s.rescue(ctx, list[i], i)
		if err != nil {
			return nil, 0, err
		}
		n := int64(cap(r.body))
		if r.chunk != nil {
			n += r.chunk.weight()
		}
		return r, n, nil
	})
	return s
}

// salvageEntry returns salvage/.
func salvageEntry(src *salvageSource, c *cache.Cache) nodes.Entry {
	return nodes.Entry{Name: "salvage", Dir: newSalvage(src, c).dir()}
}

func (s *salvage) dir() nodes.Dir {
	entries := []nodes.Entry{
		{Name: "index.json", File: views.JSON(s.document)},
		{Name: "chunks", Dir: s.series("", func(r *rescue) []byte { return r.body })},
	}
	if s.formats[0].layout == Published {
		entries = append(entries, nodes.Entry{Name: "lines", Dir: s.series(".jsonl", func(r *rescue) []byte { return r.chunk.Lines() })})
	}
	return nodes.List(entries...)
}

func (s *salvage) series(suffix string, content func(*rescue) []byte) nodes.Dir {
	return nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) {
		list, err := s.frames.Get(ctx, struct{}{})
		if err != nil {
			return nil, err
		}
		return &nodes.Series{Width: 6, Suffix: suffix, N: len(list), File: func(n int64) nodes.File {
			return nodes.Func(func(ctx context.Context) ([]byte, error) {
				r, err := s.chunks.Get(ctx, int(n))
				if err != nil {
					return nil, err
				}
				return content(r), nil
			})
		}}, nil
	})
}

type salvageDocument struct {
	Format string       `json:"format"`
	Chunks []salvageRow `json:"chunks"`
}

type salvageRow struct {
	Chunk     int    `json:"chunk"`
	FirstTick *int64 `json:"first_tick"`
	LastTick  *int64 `json:"last_tick"`
	Ticks     *int   `json:"ticks"`
	Segment   *int   `json:"segment,omitempty"`
	Offset    int64  `json:"offset"`
	Stored    int64  `json:"stored"`
	Size      *int   `json:"size"`
}

func (s *salvage) document(ctx context.Context) (any, error) {
	list, err := s.frames.Get(ctx, struct{}{})
	if err != nil {
		return nil, err
	}
	doc := salvageDocument{Format: formatName, Chunks: make([]salvageRow, len(list))}
	for i, f := range list {
		row := salvageRow{Chunk: i, Segment: f.segmentOrNil(), Offset: f.offset, Stored: f.stored}
		r, err := s.chunks.Get(ctx, i)
		switch {
		case errors.Is(err, formats.ErrCorrupt): // what cannot be decompressed has no size
		case err != nil:
			return nil, err
		default:
			row.Size = new(len(r.body))
			if c := r.chunk; c != nil && c.records > 0 {
				row.FirstTick, row.LastTick, row.Ticks = &c.entry.Start, &c.final, &c.records
			}
		}
		doc.Chunks[i] = row
	}
	return doc, nil
}
