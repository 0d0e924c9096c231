package catalogue

import (
	"context"
	"encoding/json"
	"errors"
	iofs "io/fs"
	"strconv"
	"strings"
	"time"

	"recfs/formats"
	"recfs/formats/archive"
	"recfs/nodes"
)

// guess returns what the documents of a recording say whose format has no Summary yet, under whatever of
// the usual names.
func guess(ctx context.Context, r archive.Recording) (formats.Summary, error) {
	dir, err := r.Tree(ctx)
	if err != nil {
		return formats.Summary{}, err
	}
	s := guessHeader(ctx, dir)
	index, err := document(ctx, dir, "index.json")
	if errors.Is(err, iofs.ErrNotExist) {
		if e, err := nodes.Child(ctx, dir, "error.txt"); err == nil && e.File != nil {
			text, err := nodes.ReadAll(ctx, e.File)
			s.Problems = []formats.Problem{errorProblem(string(text))}
			return s, err
		}
	}
	if err != nil {
		return s, err
	}
	totals := index.object("totals")
	if start := totals.moment("start_time", "first_time"); start != nil {
		s.Start = start
	}
	if ticks := totals.number("ticks"); ticks != nil {
		s.Ticks = ticks
	}
	if ms := totals.number("duration_ms"); ms != nil {
		s.Duration = ptr(time.Duration(*ms) * time.Millisecond)
	}
	if s.Duration == nil {
		s.Duration = totals.span("first_time", "last_time")
	}
	if tick := r.Format().TickLength; s.Duration == nil && tick > 0 {
		s.Duration = index.played(tick)
	}
	is := func(v *bool) bool { return v != nil && *v }
	s.Complete, s.Finished = is(index.flag("complete")), is(index.flag("finished"))
	s.Problems, s.Chunks = index.problems(), len(index.list("chunks"))
	if end := index.text("end"); end != nil {
		s.End = *end
	}
	s.Details.Add("hint", index.plain("hint"))
	if players, err := document(ctx, dir, "players.json"); err == nil {
		s.AddPlayers(players.names("players"))
	}
	return s, nil
}

// guessHeader returns what the header of a recording says.
func guessHeader(ctx context.Context, dir nodes.Dir) (s formats.Summary) {
	header, _ := document(ctx, dir, "header.json")
	stored := header.object("header")
	s.Version, s.Layout = header.plain("format_version"), header.plain("layout")
	s.Start = stored.moment("start_time", "timestamp", "first_time")
	s.Map = stored.text("map_name", "map", "world_id")
	s.Ticks = stored.number("tick_count", "ticks")
	players := stored.names("players")
	if stored.text("role") != nil {
		if name := stored.text("name"); name != nil {
			players = append(players, *name)
		}
	}
	s.AddPlayers(players)
	s.HeaderProblems = header.problems()
	for _, key := range []string{"server_name", "server_version", "game_type", "match_type", "client_name", "description", "mode"} {
		s.Details.Add(key, stored.plain(key))
	}
	if stored.plain("role") == "" {
		return s
	}
	hero := formats.Details{}
	var words []string
	for _, key := range []string{"role", "race", "gender", "alignment"} {
		hero.Add(key, stored.plain(key))
		words = append(words, stored.plain(key))
	}
	s.Details = append(s.Details, formats.Detail{Key: "hero", Value: hero, Text: strings.Join(words, " ")})
	return s
}

// errorProblem reads error.txt, one fact a line.
func errorProblem(text string) (p formats.Problem) {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch key {
		case "reason":
			p.Message = value
		case "code":
			p.Code = value
		case "offset":
			p.Offset, _ = strconv.ParseInt(value, 10, 64)
		}
	}
	return p
}

// plain returns a text or a number as it stands, else "".
func (o object) plain(key string) string {
	if s := o.text(key); s != nil {
		return *s
	}
	if n := get[json.Number](o, key); n != nil {
		return n.String()
	}
	return ""
}

// problems returns the list of problems.
func (o object) problems() []formats.Problem {
	if v := get[[]formats.Problem](o, "problems"); v != nil {
		return *v
	}
	return nil
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

// span returns how long it is from one time to another.
func (o object) span(from, to string) *time.Duration {
	a, b := o.moment(from), o.moment(to)
	if a == nil || b == nil {
		return nil
	}
	return ptr(b.Sub(*a))
}

// played returns how long it is from the first tick of the first chunk to
// the end of the last tick of the last.
func (o object) played(tick time.Duration) *time.Duration {
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
	return ptr(time.Duration(*to-*from+1) * tick)
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

func ptr[T any](v T) *T { return &v }
