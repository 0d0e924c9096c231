package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"recfs/formats/catalogue"
	"recfs/fs/web/page"
	"recfs/nodes"
)

// A pageList is what the page of recfs serve lists.
type pageList struct {
	a   *archive
	dir nodes.Dir
}

const (
	defaultRows    = 100
	mostRows       = 500
	playersOfRow   = 8
	longestInPlace = 4 << 10 // of a text in a place, which goes into a URL
)

// A listQuery is what a request for the list asks for.
type listQuery struct {
	finder
	words  []string // in lower case, each of which is in path, map or a player
	sort   string
	down   bool
	limit  int
	after  *place // nil: from the beginning
	asking bool   // of anything
}

// A listPage is the answer.
type listPage struct {
	Total    int               `json:"total"`
	Matches  int               `json:"matches"`
	Unknown  int               `json:"unknown"`
	Unlisted int               `json:"unlisted"` // containers of which it is not known what they hold
	Walking  bool              `json:"walking"`  // not all were found yet
	Rows     []json.RawMessage `json:"rows"`
	Next     *string           `json:"next"`
	Prev     *string           `json:"prev"`
	Formats  []string          `json:"formats"` // that may be asked for
}

// Page implements page.List.
func (p *pageList) Page(ctx context.Context, asked *page.Query) (any, error) {
	q := p.parse(asked)
	if err := asked.Err(); err != nil {
		return nil, err
	}
	known, err := p.a.catalogue.Known(ctx, p.dir)
	if err != nil {
		return nil, err
	}
	answer, err := q.page(ctx, known)
	if err == nil && q.after != nil && q.after.Back && answer.Prev == nil { // less than a page is before
		q.after = nil
		answer, err = q.page(ctx, known)
	}
	return answer, err
}

// parse returns what a query asks for.
func (p *pageList) parse(asked *page.Query) *listQuery {
	q := &listQuery{
		finder: finder{a: p.a, mapName: asked.Get("map")}, words: strings.Fields(strings.ToLower(asked.Get("q"))), sort: "start", down: true,
	}
	for _, player := range asked.Values["player"] {
		if player != "" {
			q.players = append(q.players, player)
		}
	}
	if q.format = asked.Get("format"); q.format != "" && !slices.Contains(formatWords(), q.format) {
		asked.Refuse("format")
	}
	asked.Take("since", optional(&q.since, parseMoment))
	asked.Take("until", optional(&q.until, parseMoment))
	asked.Take("at", optional(&q.at, parseMoment))
	asked.Take("longer", optional(&q.longer, parseSpan))
	asked.Take("shorter", optional(&q.shorter, parseSpan))
	q.damaged = asked.Flag("damaged")
	if text := asked.Get("sort"); text != "" {
		q.sort, q.down = strings.CutPrefix(text, "-")
		if !slices.Contains([]string{"start", "duration", "size", "ticks", "path", "map"}, q.sort) {
			asked.Refuse("sort")
		}
	}
	q.limit = int(asked.Number("limit", defaultRows, 1, mostRows))
	asked.Take("after", func(text string) error {
		q.after = &place{}
		b, err := base64.RawURLEncoding.DecodeString(text)
		if err == nil {
			err = json.Unmarshal(b, q.after)
		}
		q.after.Path = string(q.after.Exact)
		return err
	})
	q.compile()
	q.asking = len(q.filters)+len(q.words) > 0
	return q
}

// A place is one in the order of a list. The row that was there may be gone, or others have come.
type place struct {
	None   bool   `json:"n,omitempty"` // what is sorted by is not known, which is behind all others
	Number int64  `json:"i,omitempty"`
	Text   string `json:"t,omitempty"`
	Path   string `json:"-"`
	Exact  []byte `json:"p"`           // Path, which need not be UTF-8
	Back   bool   `json:"b,omitempty"` // what is before is asked for
}

// A candidate is a recording that may be on a page.
type candidate struct {
	place
	line *catalogue.Line
}

// placeOf returns where a recording is in the order of a query.
func (q *listQuery) placeOf(l *catalogue.Line) place {
	path := l.Summary.Place()
	p := place{Path: path[:min(len(path), longestInPlace)]}
	number := func(n *int64) { p.None, p.Number = n == nil, value(n) }
	switch q.sort {
	case "start":
		p.None, p.Number = l.Start == nil, l.Began
	case "duration":
		number(l.DurationMS)
	case "ticks":
		number(l.Ticks)
	case "size":
		p.None, p.Number = l.Format == "", l.Size
	case "map":
		text := value(l.Map)
		p.None, p.Text = l.Map == nil, strings.ToValidUTF8(text[:min(len(text), longestInPlace)], "")
	}
	return p
}

// compare compares two places. What has the same goes by path.
func (q *listQuery) compare(a, b *place) int {
	if a.None != b.None {
		if a.None {
			return 1
		}
		return -1
	}
	c, by := cmp.Or(cmp.Compare(a.Number, b.Number), strings.Compare(a.Text, b.Text)), strings.Compare(a.Path, b.Path)
	if q.sort == "path" {
		c, by = by, 0
	}
	if q.down {
		c = -c
	}
	return cmp.Or(c, by)
}

// cursor is what a page is asked for by that begins behind a place, or ends before it.
func (p place) cursor(back bool) *string {
	p.Back, p.Exact = back, []byte(p.Path)
	b, _ := json.Marshal(p) // of plain values
	return new(base64.RawURLEncoding.EncodeToString(b))
}

// page answers a query.
func (q *listQuery) page(ctx context.Context, known *catalogue.Known) (*listPage, error) {
	back := q.after != nil && q.after.Back
	order := func(a, b candidate) int {
		if back {
			return q.compare(&b.place, &a.place)
		}
		return q.compare(&a.place, &b.place)
	}
	answer := &listPage{Walking: known.Walking, Rows: []json.RawMessage{}, Formats: formatList()}
	var best []candidate // one more than there is room for
	others := false      // on the other side of where the page begins
	err := known.Each(ctx, func(l *catalogue.Line) {
		if !answer.count(l, q) {
			return
		}
		c := candidate{q.placeOf(l), l}
		switch {
		case q.after != nil && order(c, candidate{place: *q.after}) <= 0:
			others = true
		case len(best) <= q.limit || order(c, best[q.limit]) < 0:
			i, _ := slices.BinarySearchFunc(best, c, order)
			best = slices.Insert(best[:min(len(best), q.limit)], i, c)
		}
	})
	if err != nil {
		return nil, err
	}
	more := len(best) > q.limit
	best = best[:min(len(best), q.limit)]
	if back {
		slices.Reverse(best)
		more, others = others, more
	}
	answer.fill(q, best, others, more)
	return answer, nil
}

// count counts a recording, and reports whether it is one of those that are asked for.
func (p *listPage) count(l *catalogue.Line, q *listQuery) bool {
	if l.Format == "" && l.Error == "" {
		p.Unlisted++
		return false
	}
	p.Total++
	switch q.judge(l) {
	case yes:
		p.Matches++
		return true
	case unknown:
		p.Unknown++
	}
	return false
}

// judge is verdict with the words.
func (q *listQuery) judge(l *catalogue.Line) verdict {
	if l.Format == "" && q.asking { // it could not be read
		return unknown
	}
	v := q.verdict(&l.Summary)
	for _, word := range q.words {
		if v != no && !strings.Contains(l.Words, word) {
			v = no
			if !l.Indexed && (l.Map == nil || l.Players == nil) {
				v = unknown
			}
		}
	}
	return v
}

// fill adds the rows, and where there are more.
func (p *listPage) fill(q *listQuery, best []candidate, before, after bool) {
	if before && len(best) == 0 {
		p.Prev = q.after.cursor(true)
		return
	}
	if before {
		p.Prev = best[0].cursor(true)
	}
	if after && len(best) > 0 {
		p.Next = best[len(best)-1].cursor(false)
	}
	var names []func(string) bool
	for _, word := range q.words {
		names = append(names, func(name string) bool { return strings.Contains(strings.ToLower(name), word) })
	}
	for _, pattern := range q.players {
		names = append(names, like(pattern))
	}
	for _, c := range best {
		p.Rows = append(p.Rows, c.line.Row(playersOfRow, func(name string) bool {
			return slices.ContainsFunc(names, func(is func(string) bool) bool { return is(name) })
		}))
	}
}
