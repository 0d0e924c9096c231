package hcrp

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"sort"
	"strconv"

	"recfs/nodes"
)

// eventEntries returns what is only there if a schema fits.
func (rec *recording) eventEntries() []nodes.Entry {
	return []nodes.Entry{
		{Name: "lines", Dir: rec.numbered(".jsonl", rec.linesFile)},
		{Name: "ticks", Dir: rec.ticksDir()},
		{Name: "states", Dir: rec.indexedDir(func(s *indexed) nodes.Dir { return s.states })},
		{Name: "tracks", Dir: rec.indexedDir(func(s *indexed) nodes.Dir { return s.tracks })},
		{Name: markersName, File: rec.textFile(markersName)},
	}
}

func (rec *recording) loadChunk(ctx context.Context, i int) (*chunk, int64, error) {
	c, err := rec.decode(ctx, i)
	if err != nil {
		return nil, 0, err
	}
	return c, c.weight(), nil
}

// decode decodes a chunk without remembering it.
func (rec *recording) decode(ctx context.Context, i int) (*chunk, error) {
	body, err := rec.reader.Body(ctx, i)
	if err != nil {
		return nil, err
	}
	return decodeChunk(rec.reader.Header, rec.schema, rec.reader.limits, i, rec.reader.Entry(i), body), nil
}

func (rec *recording) linesFile(i int) nodes.File {
	return nodes.Func(func(ctx context.Context) ([]byte, error) {
		c, err := rec.chunks.Get(ctx, i)
		if err != nil {
			return nil, err
		}
		return c.Lines(), nil
	})
}

// line returns the JSON object of tick n. What is unknown is an error that
// is no iofs.ErrNotExist.
func (rec *recording) line(ctx context.Context, n int64) ([]byte, error) {
	unknown := false
	for _, i := range rec.reader.chunksOf(n) {
		c, err := rec.chunks.Get(ctx, i)
		var bad *damage
		switch {
		case errors.As(err, &bad):
			unknown = true
			continue
		case err != nil:
			return nil, err
		}
		if line := c.Line(n); line != nil {
			return line, nil
		}
		unknown = unknown || n > c.known
	}
	if unknown {
		return nil, errUnknownTick
	}
	return nil, &iofs.PathError{Op: "find", Path: strconv.FormatInt(n, 10), Err: iofs.ErrNotExist}
}

func (rec *recording) tickFile(n int64) nodes.File {
	return nodes.Func(func(ctx context.Context) ([]byte, error) {
		line, err := rec.line(ctx, n)
		if err != nil {
			return nil, err
		}
		return document(line), nil
	})
}

// ticksDir returns ticks/. To list it needs the index; to open a tick by its number decodes one chunk.
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

// tickSeries returns the listing of ticks/ or states/; extra reports whether a tick that is not listed
// opens.
func tickSeries(ticks runs, file func(int64) nodes.File, extra func(context.Context, int64) (bool, error)) *nodes.Series {
	return &nodes.Series{
		Width: 8, Suffix: ".json", N: int(ticks.count()),
		Number: func(i int) int64 { return ticks.number(int64(i)) },
		File:   file, Extra: extra,
	}
}

// unlistedTick reports whether tick n opens although it is not listed: before the list is made, or why
// it does not.
func (rec *recording) unlistedTick(ctx context.Context, n int64) (bool, error) {
	_, err := rec.line(ctx, n)
	if errors.Is(err, iofs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (rec *recording) stateFile(n int64) nodes.File {
	return nodes.Func(func(ctx context.Context) ([]byte, error) { return rec.states.Get(ctx, n) })
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

// playback plays chunks that are remembered.
func (rec *recording) playback(s *indexed) *playback {
	return &playback{layout: rec.reader.Header.Layout, index: s.index, decode: rec.chunks.Get}
}

// hasState tells whether there is a state of tick n: from the first tick of
// the first chunk to the last of all.
func (rec *recording) hasState(_ context.Context, n int64) (bool, error) {
	r := rec.reader
	order := r.byTick
	return len(order) > 0 && n >= r.Entry(int(order[0])).Start && n <= int64(r.lasts[len(order)-1]), nil
}

// trackList returns tracks/.
func (rec *recording) trackList(s *indexed) nodes.Dir {
	var entries []nodes.Entry
	for i := range s.index.tracks {
		t := &s.index.tracks[i]
		name := fmt.Sprintf("entity-%d.csv", t.Entity)
		if t.Life > 1 {
			name = fmt.Sprintf("entity-%d-%d.csv", t.Entity, t.Life)
		}
		entries = append(entries, nodes.Entry{Name: name, File: rec.rowsFile(t.Bytes()+int64(len(trackHead)), func(th *playback) nodes.Content { return th.track(t) })})
	}
	return nodes.List(entries...)
}

// rowsFile is a CSV file of rows made from the index.
func (rec *recording) rowsFile(size int64, content func(*playback) nodes.Content) nodes.File {
	return nodes.Stream(size, func(ctx context.Context) (nodes.Content, error) {
		s, err := rec.index(ctx)
		if err != nil {
			return nil, err
		}
		return content(rec.playback(s)), nil
	})
}

// openGhost opens export/ghost.csv, whose size is in the index.
func (rec *recording) openGhost(ctx context.Context) (nodes.Content, error) {
	s, err := rec.index(ctx)
	if err != nil {
		return nil, err
	}
	return rec.playback(s).ghost(), nil
}

// markersText returns markers.json.
func (rec *recording) markersText(ctx context.Context) ([]byte, error) {
	s, err := rec.index(ctx)
	if err != nil {
		return nil, err
	}
	if limit := rec.reader.limits.Text; len(s.index.markers) > limit {
		return nil, fmt.Errorf("the markers are more than %d bytes long", limit)
	}
	b := append([]byte(`{"markers":[`), s.index.markers...)
	return document(append(b, ']', '}')), nil
}

// indexedDir is a directory that is made by the index.
func (rec *recording) indexedDir(dir func(*indexed) nodes.Dir) nodes.Dir {
	return nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) {
		s, err := rec.index(ctx)
		if err != nil {
			return nil, err
		}
		return dir(s), nil
	})
}

// chunksOf returns the chunks whose range has tick n, those that start
// first in front.
func (r *Reader) chunksOf(n int64) (list []int) {
	k := sort.Search(len(r.byTick), func(k int) bool { return r.Entry(int(r.byTick[k])).Start > n })
	for k--; k >= 0 && int64(r.lasts[k]) >= n; k-- {
		if i := int(r.byTick[k]); r.Entry(i).Last() >= n {
			list = append(list, i)
		}
	}
	for a, b := 0, len(list)-1; a < b; a, b = a+1, b-1 {
		list[a], list[b] = list[b], list[a]
	}
	return list
}
