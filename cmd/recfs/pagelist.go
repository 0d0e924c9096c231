package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"recfs/formats/container"
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
func (p *pageList) Page(ctx context.Context, values url.Values) (any, error) {
	q, bad := p.parse(values)
	if bad != "" {
		return nil, page.BadParameter(bad)
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

// parse returns what a query asks for, or the first parameter that is bad.
func (p *pageList) parse(values url.Values) (q *listQuery, bad string) {
	q = &listQuery{
		finder: finder{a: p.a, format: values.Get("format"), mapName: values.Get("map")},
		words:  strings.Fields(strings.ToLower(values.Get("q"))), sort: "start", down: true, limit: defaultRows,
	}
	take := func(name string, set func(string) error) {
		if text := values.Get(name); text != "" && set(text) != nil && bad == "" {
			bad = name
		}
	}
	check := func(name string, ok bool) {
		if !ok && bad == "" {
			bad = name
		}
	}
	for _, player := range values["player"] {
		if player != "" {
			q.players = append(q.players, player)
		}
	}
	check("format", q.format == "" || slices.Contains(slices.Concat(formatList(), calledList(), container.Formats()), q.format))
	take("since", optional(&q.since, parseMoment))
	take("until", optional(&q.until, parseMoment))
	take("at", optional(&q.at, parseMoment))
	take("longer", optional(&q.longer, parseSpan))
	take("shorter", optional(&q.shorter, parseSpan))
	damaged := values.Get("damaged")
	q.damaged = damaged == "1"
	check("damaged", q.damaged || damaged == "" || damaged == "0")
	if text := values.Get("sort"); text != "" {
		q.sort, q.down = strings.CutPrefix(text, "-")
		check("sort", slices.Contains([]string{"start", "duration", "size", "ticks", "path", "map"}, q.sort))
	}
	take("limit", func(text string) (err error) {
		q.limit, err = strconv.Atoi(text)
		check("limit", q.limit >= 1 && q.limit <= mostRows)
		return err
	})
	take("after", func(text string) error {
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
	return q, bad
}
