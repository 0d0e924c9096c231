package page

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode"

	"recfs/nodes"
	"recfs/nodes/play"
)

// maxAbout is how many bytes an answer to about has at most.
const maxAbout = 64 << 10

// An aboutAnswer is the answer to about.
type aboutAnswer struct {
	Path string `json:"path"`
	*play.About
	Unit *string       `json:"unit"` // null: nothing has a place
	Map  *groundAnswer `json:"map"`
}

// A groundAnswer is the map of a recording, with URLs of its pictures from that of about.
type groundAnswer struct {
	play.Ground
	Solid   string `json:"solid"`
	Picture string `json:"picture"`
}

// about answers with what there is to know before the first frame.
func about(ctx context.Context, t *Tree, q *Query) (any, error) {
	rec, err := t.recording(ctx, q.name)
	if mute, ok := errors.AsType[*muteError](err); ok {
		no := &play.About{Status: play.Status{Error: &mute.reason}, Lanes: []play.Lane{}, Marks: []play.Mark{}}
		return aboutAnswer{Path: q.name, About: no}, nil
	}
	if err != nil {
		return nil, err
	}
	a, err := rec.About(ctx)
	if err != nil {
		return nil, err
	}
	answer := aboutAnswer{Path: q.name, About: a}
	if a.Unit != "" {
		answer.Unit = &a.Unit
	}
	if a.Map != nil {
		if answer.Map, err = t.ground(ctx, q.name, a.Map); err != nil {
			return nil, err
		}
	}
	return answer.short()
}

// short returns an answer with fewer marks if its JSON is too long.
func (a aboutAnswer) short() (any, error) {
	for {
		body, err := encode(a)
		if n := len(a.Marks); err != nil || len(body) <= maxAbout || n == 0 {
			return a, err
		}
		fewer := *a.About
		fewer.Marks = play.Spread(len(a.Marks), len(a.Marks)*3/4, func(i int) play.Mark { return a.Marks[i] })
		fewer.More += int64(len(a.Marks) - len(fewer.Marks))
		a.About = &fewer
	}
}

// ground returns the map of the recording called name, nil if it is not in the tree.
func (t *Tree) ground(ctx context.Context, name string, m *play.Ground) (*groundAnswer, error) {
	way, err := t.Find(ctx, name)
	if err != nil || len(way.Entries) == 1 { // what lies beside the source is not served
		return nil, err
	}
	g := &groundAnswer{Ground: *m}
	g.Path = path.Join(path.Dir(way.Path()), m.Path)
	if way, err = t.Find(ctx, g.Path); err != nil || !nodes.IsRecording(way.Last()) {
		if err != nil && t.Status(err) != http.StatusNotFound {
			return nil, err
		}
		return nil, nil
	}
	root := strings.Repeat("../", strings.Count(name, "/")+3) // from .view/1/about/NAME
	at := root + (&url.URL{Path: g.Path}).EscapedPath() + "/"
	g.Solid, g.Picture = at+"collision.png", at+"preview.png"
	return g, nil
}

// A playersAnswer is the answer to players.
type playersAnswer struct {
	Total int           `json:"total"`
	Rows  []play.Player `json:"rows"`
	Next  *int          `json:"next"`
}

// players answers with those who took part and have a name that fits.
func players(ctx context.Context, t *Tree, q *Query) (any, error) {
	after, limit := int(q.Number("after", 0, 0, math.MaxInt32)), int(q.Number("limit", 100, 1, 1000))
	rec, err := t.playing(ctx, q)
	if err != nil {
		return nil, err
	}
	rows, total, err := rec.Players(ctx, q.Get("q"), after, limit)
	if err != nil {
		return nil, err
	}
	answer := playersAnswer{Total: total, Rows: rows}
	if end := after + len(rows); end < total && len(rows) > 0 {
		answer.Next = &end
	}
	return answer, nil
}

// An eventsAnswer is the answer to events.
type eventsAnswer struct {
	Rows     []play.Event `json:"rows"`
	Searched int64        `json:"searched"`
	Next     *int64       `json:"next"`
}

// events answers with the events that fit, from a tick on.
func events(ctx context.Context, t *Tree, q *Query) (any, error) {
	ask := play.Query{
		Back: q.Number("dir", 1, -1, 1) < 0, Words: q.Get("q"), ID: play.ID(q.Get("id")),
		Limit: int(q.Number("limit", 100, 1, 1000)), Told: q.Flag("secrets"),
	}
	if q.Get("dir") == "0" {
		q.Refuse("dir")
	}
	without := int64(math.MinInt64)
	if ask.Back {
		without = math.MaxInt64
	}
	ask.From = q.Number("from", without, math.MinInt64, math.MaxInt64)
	if kinds := q.Get("kind"); kinds != "" {
		ask.Kinds = strings.Split(kinds, ",")
	}
	rec, err := t.playing(ctx, q)
	if err != nil {
		return nil, err
	}
	found, err := rec.Events(ctx, ask)
	if err != nil {
		return nil, err
	}
	return eventsAnswer{shownEvents(found.Rows, ask.Told), found.Searched, found.Next}, nil
}

// shownEvents returns events with what is secret in them, if that is asked for.
func shownEvents(list []play.Event, told bool) []play.Event {
	if !told {
		return list
	}
	shown := make([]play.Event, len(list))
	for i, e := range list {
		shown[i] = e.Told()
	}
	return shown
}

// A DiffMaps returns how two maps differ, whose directories it gets; nil: one of them is no map.
type DiffMaps func(ctx context.Context, a, b nodes.Dir) (*play.MapDiff, error)

// mapDiff answers with how two maps differ.
func mapDiff(ctx context.Context, t *Tree, q *Query) (any, error) {
	other, _, err := t.Path("/" + (&url.URL{Path: q.Get("with")}).EscapedPath())
	if err != nil || q.Get("with") == "" {
		return nil, badParameter("with")
	}
	a, err := t.dir(ctx, q.name)
	if err != nil {
		return nil, err
	}
	b, err := t.dir(ctx, other)
	if err != nil {
		if t.Status(err) == http.StatusNotFound {
			err = badParameter("with")
		}
		return nil, err
	}
	diff, err := t.DiffMaps(ctx, a, b)
	if diff == nil && err == nil {
		err = NewRefusal(http.StatusBadRequest, "these are not two maps")
	}
	return diff, err
}

// A List is what is known of all recordings.
type List interface {
	// Page returns a page of the list (docs/tree/page.md section 3).
	Page(ctx context.Context, q *Query) (any, error)
}

// list answers with a page of the list.
func list(ctx context.Context, t *Tree, q *Query) (any, error) { return t.List.Page(ctx, q) }

// Shown is a name as text of a page.
func Shown(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(name, string(unicode.ReplacementChar)))
}
