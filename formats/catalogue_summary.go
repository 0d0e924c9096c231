package formats

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"recfs/cache"
	"recfs/nodes"
)

// frugalBytes is how much of a source may be read to learn what its saved
// index says: enough to see that the index is of this source.
const frugalBytes = 64 << 10

var errFrugal = errors.New("more would have to be read")

// A frugal is a source of which only so much may be read.
type frugal struct {
	r    io.ReaderAt
	left *atomic.Int64
}

func (f frugal) ReadAt(p []byte, off int64) (int, error) {
	if f.left.Add(-int64(len(p))) < 0 {
		return 0, errFrugal
	}
	return f.r.ReadAt(p, off)
}

// summary returns the line of a recording, and what on disk would tell more
// than the line does. The line is empty if the recording could not be read
// this time.
func (a *archive) summary(ctx context.Context, at string, k recordingKey, c *cache.Cache) (line []byte, pending string) {
	ctx = cache.SavedOnly(ctx)
	f := a.list[k.format]
	s := Summary{Path: at, Format: f.Name, Size: k.v.size, Modified: k.v.time().UTC().Format(time.RFC3339Nano), Players: []string{}}
	if !utf8.ValidString(at) {
		s.PathHex = hex.EncodeToString([]byte(at))
	}
	left := new(atomic.Int64)
	left.Store(math.MaxInt64)
	dir, reads, err := a.openFrugal(ctx, k, c, left)
	missing := (*cache.NotSavedError)(nil)
	switch {
	case err == nil:
		pending = s.fill(ctx, dir, left)
	case errors.As(err, &missing): // a large one under compression: nothing is known
		pending = missing.Name
	case ctx.Err() != nil || reads.failure() != nil:
		return nil, ""
	default:
		s.Error = oneLine(err.Error())
		s.Complete, s.Problems = ptr(false), ptr(int64(1))
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil, ""
	}
	return append(b, '\n'), pending
}

// openFrugal opens a recording for itself alone, with a source of which left
// says how much may still be read.
func (a *archive) openFrugal(ctx context.Context, k recordingKey, c *cache.Cache, left *atomic.Int64) (nodes.Dir, *watch, error) {
	src, reads := a.source(k, func(r io.ReaderAt) io.ReaderAt { return frugal{r, left} })
	if k.packed {
		if _, err := a.unpack(ctx, k, &src, reads); err != nil {
			return nil, reads, err
		}
		src.ReaderAt = frugal{src.ReaderAt, left}
	}
	dir, err := a.openFormat(ctx, a.list[k.format], src, c)
	return dir, reads, err
}

func ptr[T any](v T) *T { return &v }

// fill takes from the documents of a recording what they say, under whatever
// of the usual names. It returns what on disk would tell more.
func (s *Summary) fill(ctx context.Context, dir nodes.Dir, left *atomic.Int64) (pending string) {
	header, _ := document(ctx, dir, "header.json")
	stored := header.object("header")
	s.Start = stored.time("start_time", "timestamp", "first_time")
	s.Map = stored.text("map_name", "map", "world_id")
	s.Ticks = stored.number("tick_count", "ticks")
	s.Players = append(s.Players, stored.names("players")...)
	if stored.text("role") != nil {
		if name := stored.text("name"); name != nil {
			s.Players = append(s.Players, *name)
		}
	}
	if n := len(header.list("problems")); n > 0 {
		s.Problems = ptr(int64(n))
	}

	left.Store(frugalBytes)
	index, err := document(ctx, dir, "index.json")
	if err != nil {
		if missing := (*cache.NotSavedError)(nil); errors.As(err, &missing) {
			pending = missing.Name
		}
		return pending
	}
	totals := index.object("totals")
	if start := totals.time("start_time", "first_time"); start != nil {
		s.Start = start
	}
	if ticks := totals.number("ticks"); ticks != nil {
		s.Ticks = ticks
	}
	s.LengthMS = totals.number("duration_ms")
	if s.LengthMS == nil {
		s.LengthMS = totals.span("first_time", "last_time")
	}
	s.Complete = index.flag("complete")
	s.Problems = ptr(int64(len(index.list("problems"))))
	if players, err := document(ctx, dir, "players.json"); err == nil {
		s.Players = append(s.Players, players.names("players")...)
	}
	return ""
}

// An object is a JSON object.
type object map[string]json.RawMessage

// document reads a JSON document of a recording.
func document(ctx context.Context, dir nodes.Dir, name string) (object, error) {
	e, err := nodes.Child(ctx, dir, name)
	if err != nil {
		return nil, err
	}
	if e.File == nil {
		return nil, notExist(name)
	}
	b, err := nodes.ReadAll(ctx, e.File)
	if err != nil {
		return nil, err
	}
	var o object
	return o, json.Unmarshal(b, &o)
}

// get returns the value of the first of the keys whose value is of type T.
func get[T any](o object, keys ...string) *T {
	for _, key := range keys {
		var v *T
		if json.Unmarshal(o[key], &v) == nil && v != nil {
			return v
		}
	}
	return nil
}

func (o object) object(key string) object {
	if v := get[object](o, key); v != nil {
		return *v
	}
	return nil
}

func (o object) list(key string) []json.RawMessage {
	if v := get[[]json.RawMessage](o, key); v != nil {
		return *v
	}
	return nil
}

func (o object) flag(key string) *bool        { return get[bool](o, key) }
func (o object) text(keys ...string) *string  { return get[string](o, keys...) }
func (o object) number(keys ...string) *int64 { return get[int64](o, keys...) }

// timeLayouts are how recordings write a time.
var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05 -0700"}

func (o object) time(keys ...string) *string {
	if t := o.moment(keys...); t != nil {
		return ptr(t.UTC().Format(time.RFC3339Nano))
	}
	return nil
}

func (o object) moment(keys ...string) *time.Time {
	for _, key := range keys {
		if s := o.text(key); s != nil {
			for _, layout := range timeLayouts {
				if t, err := time.Parse(layout, *s); err == nil {
					return &t
				}
			}
		}
	}
	return nil
}

// span returns the milliseconds between two times.
func (o object) span(from, to string) *int64 {
	a, b := o.moment(from), o.moment(to)
	if a == nil || b == nil {
		return nil
	}
	return ptr(b.Sub(*a).Milliseconds())
}

// names returns the names in a list of objects.
func (o object) names(key string) []string {
	var names []string
	for _, item := range o.list(key) {
		var v object
		if json.Unmarshal(item, &v) != nil {
			continue
		}
		if all := get[[]string](v, "names"); all != nil && len(*all) > 0 {
			names = append(names, *all...)
		} else if name := v.text("name"); name != nil {
			names = append(names, *name)
		}
	}
	return names
}
