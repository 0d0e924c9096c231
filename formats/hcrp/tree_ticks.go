package hcrp

import (
	"cmp"
	"context"
	"errors"
	iofs "io/fs"
	"strconv"
	"time"

	"recfs/formats"
	"recfs/nodes"
)

func (rec *recording) linesFile(i int) nodes.File {
	return nodes.Func(func(ctx context.Context) ([]byte, error) {
		c, err := rec.chunks.Get(ctx, i)
		if err != nil {
			return nil, err
		}
		return c.Lines(), nil
	})
}

// tick returns tick n and the chunk to which it belongs, as settle has it. What is unknown is an error that is no
// iofs.ErrNotExist.
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

func (rec *recording) tickFile(n int64) nodes.File {
	size := func(ctx context.Context) (int64, error) { return rec.tickSize(ctx, n) }
	return nodes.Computed(size, func(ctx context.Context) ([]byte, error) {
		c, t, err := rec.tick(ctx, n)
		if err != nil {
			return nil, err
		}
		return document(c.bytes(t.line)), nil
	})
}

// ticksDir returns ticks/. To list it needs the index; to open a tick by its number decodes one
// chunk.
func (rec *recording) ticksDir() nodes.Dir {
	return &nodes.LazySeries{
		Unlisted: tickSeries(nil, rec.tickFile, rec.unlistedTick),
		List: func(ctx context.Context) (nodes.Dir, error) {
			s, err := rec.index(ctx)
			if err != nil {
				return nil, err
			}
			return s.ticks, nil
		},
		Made: func() (nodes.Dir, bool) {
			s, ok := rec.indexes.Peek(struct{}{})
			if !ok {
				return nil, false
			}
			return s.ticks, true
		},
	}
}

// tickSeries returns the listing of ticks/ or states/; extra reports whether a tick that is not
// listed opens.
func tickSeries(ticks runs, file func(int64) nodes.File, extra func(context.Context, int64) (bool, error)) *nodes.Series {
	return &nodes.Series{
		Width: 8, Suffix: ".json", N: int(ticks.count()),
		Number: func(i int) int64 { return ticks.number(int64(i)) },
		Search: func(n int64) int { return int(ticks.search(n)) },
		File:   file, Extra: extra,
	}
}

// unlistedTick reports whether tick n opens although it is not listed: before the list is made, or
// why it does not.
func (rec *recording) unlistedTick(ctx context.Context, n int64) (bool, error) {
	_, _, err := rec.tick(ctx, n)
	if errors.Is(err, iofs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (rec *recording) stateFile(n int64) nodes.File {
	return nodes.Computed(
		func(ctx context.Context) (int64, error) { return rec.stateSize(ctx, n) },
		func(ctx context.Context) ([]byte, error) { return rec.states.Get(ctx, n) },
	)
}

func (rec *recording) loadState(ctx context.Context, n int64) ([]byte, int64, error) {
	s, err := rec.index(ctx)
	if err != nil {
		return nil, 0, err
	}
	b, err := rec.playback(s).state(ctx, n)
	if err != nil {
		return nil, 0, err
	}
	b = document(b)
	return b, int64(cap(b)), nil
}

// clock counts ticks from the moment that the recording began.
func (rec *recording) clock() nodes.Clock {
	r := rec.Reader
	const tick = msPerTick * time.Millisecond
	began := time.UnixMilli(rec.Header.Timestamp)
	return nodes.Clock{
		Start: func(context.Context) (time.Time, error) {
			if rec.Header.timestamp() == nil || len(r.byTick) == 0 {
				return time.Time{}, nil
			}
			return began.Add(time.Duration(r.Entry(int(r.byTick[0])).Start) * tick), nil
		},
		Tick: func(ctx context.Context, at time.Time) (int64, error) {
			n := int64(at.Sub(began) / tick)
			if ok, err := rec.hasState(ctx, n); err != nil || !ok {
				return 0, cmp.Or(err, iofs.ErrNotExist)
			}
			return n, nil
		},
	}
}

// hasState reports whether there is a state of tick n: from the first tick of the first chunk to
// the last of all.
func (rec *recording) hasState(_ context.Context, n int64) (bool, error) {
	r := rec.Reader
	order := r.byTick
	return len(order) > 0 && n >= r.Entry(int(order[0])).Start && n <= int64(r.lasts[len(order)-1]), nil
}
