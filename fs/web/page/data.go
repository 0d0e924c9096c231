package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	iofs "io/fs"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"recfs/nodes"
	"recfs/nodes/play"
)

// A handler makes the answer to a request for data. The answer is a struct or a map; its JSON gets
// "v":1 before it.
type handler struct {
	make func(ctx context.Context, s *Site, q *query) (any, error)
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

// A query is what a request for data asks for.
type query struct {
	name   string // the path from the root
	values url.Values
	bad    string // the first parameter that is none
}

// text returns a parameter as it is; "": it is not there.
func (q *query) text(name string) string { return q.values.Get(name) }

// refuse notes that a parameter is bad, which err then tells.
func (q *query) refuse(name string) {
	if q.bad == "" {
		q.bad = name
	}
}

// number returns a parameter that is a number from low to high, or what is meant without it.
func (q *query) number(name string, without, low, high int64) int64 {
	text := q.values.Get(name)
	if text == "" {
		return without
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < low || n > high {
		q.refuse(name)
	}
	return n
}

// flag returns a parameter that is 0 or 1.
func (q *query) flag(name string) bool { return q.number(name, 0, 0, 1) == 1 }

// err returns why the query is bad.
func (q *query) err() error {
	if q.bad != "" {
		return BadParameter(q.bad)
	}
	return nil
}

// data answers a request for NAME/PATH.
func (s *Site) data(w Writer, r *http.Request, rest string) error {
	if from := r.Header.Get("Sec-Fetch-Site"); from == "cross-site" || from == "same-site" {
		return errSite
	}
	kind, escaped, _ := strings.Cut(rest, "/")
	h, ok := handlers[kind]
	if !ok {
		return errMissing
	}
	name, err := s.Path("/" + escaped)
	if err != nil {
		return err
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return &Refusal{http.StatusBadRequest, "bad query"}
	}
	q := &query{name: name, values: values}
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
func (s *Site) body(ctx context.Context, h handler, q *query) (body []byte, err error) {
	err = s.Within(ctx, func(ctx context.Context) error {
		value, err := h.make(ctx, s, q)
		if err == nil {
			err = q.err()
		}
		if err != nil {
			return err
		}
		body, err = encode(value)
		return err
	})
	return body, err
}

// encoded is the JSON of an answer with all that is in it.
type encoded []byte

// encode returns the compact JSON of a value, which is an object there, with the version before it.
func encode(value any) ([]byte, error) {
	if done, ok := value.(encoded); ok {
		return done, nil
	}
	out := bytes.NewBufferString(`{"v":1,`)
	begin := out.Len()
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	b := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	b = slices.Delete(b, begin, begin+1) // the brace
	if b[begin] == '}' {
		b = slices.Delete(b, begin-1, begin)
	}
	return b, nil
}

// tag returns the ETag of an answer by the version of what is at its path; "": nothing tells it.
func (s *Site) tag(r *http.Request, q *query) (tag string, err error) {
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

func sumTag(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// isKnown sets the ETag and reports whether the client has what has it, and was told so. That of a
// compressed body is another one.
func isKnown(w Writer, r *http.Request, tag string) bool {
	if takesGzip(r) {
		tag += "-gzip"
	}
	tag = `"` + tag + `"`
	w.Header().Set("ETag", tag)
	for one := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		if one = strings.TrimSpace(one); strings.TrimPrefix(one, "W/") == tag || one == "*" {
			w.Header().Add("Vary", "Accept-Encoding")
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

// packers are the compressors, each of which takes a megabyte.
var packers = func() chan *gzip.Writer {
	c := make(chan *gzip.Writer, runtime.GOMAXPROCS(0))
	for range cap(c) {
		c <- nil
	}
	return c
}()

// pack returns compressed bytes.
func pack(plain []byte) []byte {
	z := <-packers
	defer func() { packers <- z }()
	out := bytes.NewBuffer(make([]byte, 0, len(plain)/4+64))
	if z == nil {
		z = gzip.NewWriter(out)
	}
	z.Reset(out)
	_, _ = z.Write(plain) // to memory
	_ = z.Close()
	return out.Bytes()
}

// A muteError says why a recording is not shown over time.
type muteError struct{ reason string }

func (e *muteError) Error() string { return e.reason }

// dir returns the directory that the format made of the recording at a path.
func (s *Site) dir(ctx context.Context, name string) (nodes.Dir, error) {
	way, err := s.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	e := way.Last()
	if v, ok := e.Dir.(nodes.Volatile); ok && len(way.Entries) == 1 { // the source may be a recording
		if e, err = v.Lookup(ctx, "."); err != nil {
			return nil, err
		}
	}
	if !nodes.IsRecording(e) {
		return nil, iofs.ErrNotExist
	}
	return e.Dir.(nodes.Recording).Tree(ctx)
}

// recording returns what plays at a path. What lies there and does not play is a muteError.
func (s *Site) recording(ctx context.Context, name string) (play.Recording, error) {
	dir, err := s.dir(ctx, name)
	if err != nil {
		return nil, err
	}
	if rec, ok := dir.(play.Recording); ok {
		return rec, nil
	}
	switch _, err := nodes.Child(ctx, dir, "error.txt"); {
	case err == nil:
		return nil, &muteError{"This recording does not open. Its error.txt says why."}
	case !errors.Is(err, iofs.ErrNotExist):
		return nil, err
	}
	return nil, &muteError{"Recordings of this format do not play here. Their files are in the folder."}
}

// playing is recording for who cannot do with less: what does not play is not there.
func (s *Site) playing(ctx context.Context, name string) (play.Recording, error) {
	rec, err := s.recording(ctx, name)
	if mute, ok := errors.AsType[*muteError](err); ok {
		err = &Refusal{http.StatusNotFound, mute.reason}
	}
	return rec, err
}

// refused returns an error of what plays as one of the request.
func refused(err error) error {
	if bad, ok := errors.AsType[play.BadParameter](err); ok {
		return BadParameter(string(bad))
	}
	return err
}
