package page

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"

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
func about(ctx context.Context, t *Tree, q *query) (any, error) {
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

// short returns the JSON of an answer, with fewer marks if that is too long.
func (a aboutAnswer) short() (any, error) {
	for {
		body, err := encode(a)
		if n := len(a.Marks); err != nil || len(body) <= maxAbout || n == 0 {
			return encoded(body), err
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
