package page

import (
	"cmp"
	"context"
	"net/http"
	"strings"
)

// A handler makes the answer to a request for data. The answer is a struct or a map; its JSON gets
// "v":1 before it.
type handler struct {
	make func(ctx context.Context, t *Tree, q *Query) (any, error)
	// versioned says that the answer follows from the query and the version of what is at its path, so
	// that it need not be made to tell whether it is another one.
	versioned bool
}

// handlers are those of /.view/1/NAME/PATH (docs/tree/page.md section 3), each in a file of its
// name.
var handlers = map[string]handler{
	"list":    {make: list},
	"about":   {make: about},
	"frames":  {make: frames, versioned: true},
	"events":  {make: events, versioned: true},
	"players": {make: players, versioned: true},
	"mapdiff": {make: mapDiff},
}

// data answers a request for NAME/PATH.
func (s *Site) data(w Writer, r *http.Request, rest string) error {
	if from := r.Header.Get("Sec-Fetch-Site"); from == "cross-site" || from == "same-site" {
		return errSite
	}
	kind, escaped, _ := strings.Cut(rest, "/")
	h, ok := handlers[kind]
	if !ok {
		return ErrMissing
	}
	name, _, err := s.Path("/" + escaped)
	if err != nil {
		return err
	}
	values, err := ParseQuery(r)
	if err != nil {
		return err
	}
	q := &Query{Values: values, name: name}
	tag := ""
	if h.versioned {
		if tag, err = s.tag(r, q); err != nil {
			return err
		}
		if tag != "" && isKnown(w, r, tag) {
			return nil
		}
	}
	body, err := s.body(r.Context(), h, q)
	if err != nil {
		return err
	}
	if tag == "" && isKnown(w, r, sumTag(string(body))) {
		return nil
	}
	packed := body
	if takesGzip(r) {
		packed = pack(body)
	}
	answerPacked(w, r, "application/json", body, packed)
	return nil
}

// body returns the JSON of an answer.
func (s *Site) body(ctx context.Context, h handler, q *Query) (body []byte, err error) {
	err = s.Within(ctx, func(ctx context.Context) error {
		value, err := h.make(ctx, &s.Tree, q)
		if err = cmp.Or(err, q.Err()); err != nil {
			return refused(err)
		}
		body, err = encode(value)
		return err
	})
	return body, err
}

// tag returns the ETag of an answer by the version of what is at its path; "": nothing tells it.
func (s *Site) tag(r *http.Request, q *Query) (tag string, err error) {
	err = s.Within(r.Context(), func(ctx context.Context) error {
		way, err := s.Find(ctx, q.name)
		if err == nil {
			tag, err = s.Tag(ctx, way)
		}
		return err
	})
	if err != nil || tag == "" {
		return "", err
	}
	return sumTag(r.URL.EscapedPath() + "?" + r.URL.RawQuery + tag), nil
}
