package catalogue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/nodes"
)

// A digest is the part of a Summary that the documents of a recording say,
// its index.json among them. It is kept on disk once that was made.
type digest struct {
	Stamp   formats.Stamp
	Summary Summary
}

// digestCost is about what a digest counts for in the cache.
const digestCost = 1 << 10

// digestName names the digest of a recording in the disk cache; "": none is
// kept.
func digestName(r archive.Recording) string {
	id := r.ID()
	if id == "" {
		return ""
	}
	f := r.Format()
	return fmt.Sprintf("%s/summary-%d-%s-%s", id, catalogueVersion, f.Name, f.Variant)
}

func loadDigest(ctx context.Context, r archive.Recording) (digest, int64, error) {
	dir, err := r.Tree(ctx)
	if err != nil {
		return digest{}, 0, err
	}
	d := digest{Stamp: r.Stamp()}
	err = d.Summary.fill(ctx, dir, r.Format().TickLength)
	return d, digestCost, err
}

func encodeDigest(d digest) []byte {
	b, err := json.Marshal(d)
	if err != nil {
		return nil
	}
	return b
}

// resumeDigest returns a saved digest. Where the file may be another one of the
// same size it is made again, for which the format compares the bytes with its
// own index.
func resumeDigest(ctx context.Context, r archive.Recording, b []byte) (digest, int64, error) {
	var d digest
	if err := json.Unmarshal(b, &d); err != nil {
		return digest{}, 0, err
	}
	if !d.sound() {
		return digest{}, 0, formats.ErrOther
	}
	switch stamp := r.Stamp(); {
	case stamp.Same(d.Stamp):
		return d, digestCost, nil
	case stamp.Size == d.Stamp.Size:
		return loadDigest(ctx, r)
	}
	return digest{}, 0, formats.ErrOther
}

// sound reports whether a saved digest says what documents say, and no more: the rest of a line is
// known of the file.
func (d *digest) sound() bool {
	s := &d.Summary
	return s.Path == "" && s.PathHex == "" && s.Format == "" && s.Size == 0 && s.Modified == "" && s.Error == "" &&
		s.Problems != nil && *s.Problems >= 0
}

// summary returns the line of a recording, and what on disk would tell more
// than the line does. If the recording could not be read this time the line
// says so, and is not one to keep.
func (s *scan) summary(ctx context.Context, at string, r archive.Recording) (line []byte, pending string, keep bool) {
	keep = true
	ctx = cache.SavedOnly(ctx)
	var sum Summary
	d, err := s.c.digests.Get(ctx, r)
	if err == nil {
		sum = d.Summary
	} else {
		if missing := (*cache.NotSavedError)(nil); errors.As(err, &missing) {
			pending = missing.Name
		}
		keep = sum.open(ctx, r, s.cache)
		if sum.Error != "" {
			pending = ""
		}
	}
	v := r.Version()
	sum.Path, sum.Format, sum.Size, sum.Modified = at, r.Format().Name, v.Size, v.Time().UTC().Format(time.RFC3339Nano)
	sum.PathHex = formats.HexOf(at)
	if sum.Players == nil {
		sum.Players = []string{}
	}
	b, err := json.Marshal(sum)
	if err != nil {
		return nil, "", false
	}
	return append(b, '\n'), pending, keep
}

// open opens a recording for itself alone and takes what its header says, or
// that it does not open. It returns false if it could not be read this time.
func (s *Summary) open(ctx context.Context, r archive.Recording, c *cache.Cache) bool {
	dir, err := r.OpenWith(ctx, c)
	missing, unread := (*cache.NotSavedError)(nil), (*archive.UnreadError)(nil)
	switch {
	case err == nil:
		s.fillHeader(ctx, dir)
	case errors.As(err, &missing): // a large one under compression: nothing is known
	case ctx.Err() != nil:
		return false
	case errors.As(err, &unread):
		s.Error, s.Problems = readReason(unread.Err), ptr(int64(1))
		return false
	default:
		s.Error = formats.OneLine(err.Error())
		s.Complete, s.Problems = ptr(false), ptr(int64(1))
	}
	return true
}

func ptr[T any](v T) *T { return &v }

// fill takes what the documents of a recording say.
func (s *Summary) fill(ctx context.Context, dir nodes.Dir, tick time.Duration) error {
	s.fillHeader(ctx, dir)
	return s.fillIndex(ctx, dir, tick)
}

// fillHeader takes what the header of a recording says, under whatever of
// the usual names.
func (s *Summary) fillHeader(ctx context.Context, dir nodes.Dir) {
	header, _ := document(ctx, dir, "header.json")
	stored := header.object("header")
	s.Start = stored.time("start_time", "timestamp", "first_time")
	s.Map = stored.text("map_name", "map", "world_id")
	s.Ticks = stored.number("tick_count", "ticks")
	players := stored.names("players")
	if stored.text("role") != nil {
		if name := stored.text("name"); name != nil {
			players = append(players, *name)
		}
	}
	s.addPlayers(players)
	if n := len(header.list("problems")); n > 0 {
		s.Problems = ptr(int64(n))
	}
}

// fillIndex takes what index.json and players.json say.
func (s *Summary) fillIndex(ctx context.Context, dir nodes.Dir, tick time.Duration) error {
	index, err := document(ctx, dir, "index.json")
	if err != nil {
		return err
	}
	totals := index.object("totals")
	if start := totals.time("start_time", "first_time"); start != nil {
		s.Start = start
	}
	if ticks := totals.number("ticks"); ticks != nil {
		s.Ticks = ticks
	}
	s.DurationMS = totals.number("duration_ms")
	if s.DurationMS == nil {
		s.DurationMS = totals.span("first_time", "last_time")
	}
	if s.DurationMS == nil && tick > 0 {
		s.DurationMS = index.played(tick)
	}
	s.Complete, s.Finished = index.flag("complete"), index.flag("finished")
	s.Problems = ptr(int64(len(index.list("problems"))))
	if players, err := document(ctx, dir, "players.json"); err == nil {
		s.addPlayers(players.names("players"))
	}
	return nil
}

// addPlayers adds those names that are new: who comes back is another player
// to some formats.
func (s *Summary) addPlayers(names []string) {
	known := map[string]bool{}
	for _, name := range s.Players {
		known[name] = true
	}
	for _, name := range names {
		if !known[name] {
			known[name] = true
			s.Players = append(s.Players, name)
		}
	}
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
		return nil, &iofs.PathError{Op: "lookup", Path: name, Err: iofs.ErrNotExist}
	}
	b, err := nodes.ReadAll(ctx, e.File)
	if err != nil {
		return nil, err
	}
	var o object
	err = json.Unmarshal(b, &o)
	return o, err
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

// played returns the milliseconds from the first tick of the first chunk to
// the end of the last tick of the last.
func (o object) played(tick time.Duration) *int64 {
	chunks := o.list("chunks")
	if len(chunks) == 0 {
		return nil
	}
	var first, last object
	if json.Unmarshal(chunks[0], &first) != nil || json.Unmarshal(chunks[len(chunks)-1], &last) != nil {
		return nil
	}
	from, to := first.number("first_tick"), last.number("last_tick")
	if from == nil || to == nil {
		return nil
	}
	return ptr((*to - *from + 1) * tick.Milliseconds())
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
