package web

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The limits of docs/tree/serve.md section 5.
const (
	headerTimeout = 10 * time.Second
	maxBody       = 64 << 10
)

// A front is what all endpoints of a server share.
type front struct {
	opt   Options
	turns *turns
	stats counters

	accessLog sync.Mutex
}

// An endpoint is what one address answers.
type endpoint struct {
	*front
	loopback bool
	admit    func(r *http.Request) error
	handle   func(w *reply, r *http.Request) error
	refuse   func(w *reply, r *http.Request, err *refusal)
}

// ServeHTTP implements http.Handler.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	out := &reply{ResponseWriter: w, request: r}
	err := e.run(out, r)
	if err == nil {
		err = out.err
	}
	if p, ok := errors.AsType[*panicError](err); ok {
		e.opt.Log.Error("panic in a request", "method", r.Method, "path", r.URL.Path, "panic", p.cause, "stack", string(p.stack))
	}
	if r.Context().Err() != nil && err != nil {
		err = errGone
	}
	cut := err != nil && (out.sent || err == errGone)
	switch {
	case cut:
		if err == errGone {
			out.status = statusGone
		}
	case err != nil:
		e.refuse(out, r, refusalOf(err))
	case out.status >= http.StatusBadRequest && !out.sent: // net/http refused
		e.refuse(out, r, &refusal{out.status, strings.ToLower(http.StatusText(out.status)), ""})
	default:
		out.send()
	}
	e.stats.count(r.Method, out)
	e.logAccess(r, out, began, cut)
	if out.flush() != nil || cut {
		panic(http.ErrAbortHandler) // cuts the connection before the announced length
	}
}

// always are the headers of all replies, unless one sets others.
var always = http.Header{
	"X-Content-Type-Options": {"nosniff"}, "Referrer-Policy": {"no-referrer"}, "Cross-Origin-Resource-Policy": {"same-origin"},
	"Content-Security-Policy": {"sandbox; default-src 'none'"}, "Cache-Control": {"no-cache"},
}

// run lets a request in and has it answered. A panic ends only this request.
func (e *endpoint) run(w *reply, r *http.Request) (err error) {
	defer rescue(&err)
	h := w.Header()
	maps.Copy(h, always)
	if e.loopback && !e.isName(r.Host) {
		return errHost
	}
	if e.allowOrigin(h, r) {
		return nil
	}
	if err := e.admit(r); err != nil {
		return err
	}
	if err := readBody(w, r); err != nil {
		return err
	}
	if w.turn, err = e.turns.begin(r.Context()); err != nil {
		return err
	}
	defer w.turn.leave()
	if c := connOf(r); c != nil {
		c.turn.Store(w.turn)
	}
	return e.handle(w, r)
}

// readBody reads all of a body, which says nothing but in PROPFIND, before the request has a turn.
func readBody(w *reply, r *http.Request) error {
	if r.ContentLength == 0 {
		return nil
	}
	control := http.NewResponseController(w.ResponseWriter)
	_ = control.SetReadDeadline(time.Now().Add(headerTimeout)) // a connection has them
	if !slices.Contains([]string{http.MethodGet, http.MethodHead, "PROPFIND"}, r.Method) {
		return nil // it is refused
	}
	body, err := io.ReadAll(http.MaxBytesReader(w.ResponseWriter, r.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &refusal{http.StatusRequestEntityTooLarge, "the body is too large", ""}
	}
	if err != nil {
		return errBadBody
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	_ = control.SetReadDeadline(time.Time{})
	return nil
}

// Stats says what a Server has done so far.
type Stats struct {
	Requests map[string]uint64 // by method
	Bytes    uint64            // of bodies
	Errors   uint64            // replies with 500 and above, and those that were cut
}

type counters struct {
	methods       [len(counted)]atomic.Uint64
	bytes, errors atomic.Uint64
}

// counted are the methods that are counted by name; the last stands for all others.
var counted = [...]string{"GET", "HEAD", "OPTIONS", "PROPFIND", "other"}

func (c *counters) count(method string, w *reply) {
	i := slices.Index(counted[:len(counted)-1], method)
	if i < 0 {
		i = len(counted) - 1
	}
	c.methods[i].Add(1)
	c.bytes.Add(uint64(w.bytes))
	if w.status >= http.StatusInternalServerError || w.err != nil {
		c.errors.Add(1)
	}
}

// Stats returns what was done so far.
func (s *front) Stats() Stats {
	all := Stats{Requests: map[string]uint64{}, Bytes: s.stats.bytes.Load(), Errors: s.stats.errors.Load()}
	for i, method := range counted {
		all.Requests[method] = s.stats.methods[i].Load()
	}
	return all
}

// An accessLine is what the access log has of a request.
type accessLine struct {
	Time   time.Time `json:"time"`
	Remote string    `json:"remote"`
	Method string    `json:"method"`
	Path   string    `json:"path"` // as it was asked for; a query that has a signature is left out
	Range  string    `json:"range,omitempty"`
	Status int       `json:"status"`
	Bytes  int64     `json:"bytes"`
	Cut    bool      `json:"cut,omitempty"` // before the end
	Millis int64     `json:"ms"`
	Agent  string    `json:"agent,omitempty"`
}

func (s *front) logAccess(r *http.Request, w *reply, began time.Time, cut bool) {
	if s.opt.AccessLog == nil {
		return
	}
	asked := r.URL.EscapedPath()
	if q, err := url.QueryUnescape(r.URL.RawQuery); q != "" && err == nil && !strings.Contains(strings.ToLower(q), "amz") {
		asked += "?" + r.URL.RawQuery
	}
	line, err := json.Marshal(accessLine{
		began.UTC(), r.RemoteAddr, r.Method, asked, r.Header.Get("Range"),
		w.status, w.bytes, cut, time.Since(began).Milliseconds(), r.UserAgent(),
	})
	if err != nil {
		return
	}
	s.accessLog.Lock()
	defer s.accessLog.Unlock()
	_, _ = s.opt.AccessLog.Write(append(line, '\n')) // a reply does not fail for its log
}
