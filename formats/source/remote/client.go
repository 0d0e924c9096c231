package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"recfs/nodes"
)

const (
	maxTries   = 5
	firstPause = 100 * time.Millisecond
	maxAfter   = 30 * time.Second // of a Retry-After
	maxSilence = 15 * time.Second
	downFor    = 5 * time.Second // for which nobody asks a server that gave no connection
)

// A client sends requests to one server.
type client struct {
	http    *http.Client
	slots   chan struct{}
	timeout time.Duration
	silence time.Duration // after which an answer is no longer waited for
	agent   string
	// prepare signs a request, or adds a password to it.
	prepare func(*http.Request) (*http.Request, error)
	// refused returns the error of an answer other than 200 and 206. One of type *passing is asked
	// again.
	refused func(url string, resp *http.Response) error
	outage  atomic.Pointer[outage]
	closes  atomic.Bool // the last answer ended its connection
	Counters
}

// newClient returns a client, of which prepare and refused are still to be set.
func newClient(opt Options, hc *http.Client) *client {
	return &client{
		http: hc, slots: make(chan struct{}, max(1, opt.Requests)), timeout: opt.Timeout, silence: min(opt.Timeout/3, maxSilence),
		agent: "recfs/" + opt.Version,
	}
}

// An outage is the last connection that could not be made.
type outage struct {
	since, until time.Time
	reason       string
}

// Counters tell what was asked of a server.
type Counters struct {
	List, Head, Range, Get, Put      atomic.Int64
	Bytes, Retries, Errors, InFlight atomic.Int64
}

// A question is a request as often as it is sent.
type question struct {
	url   string        // for errors
	count *atomic.Int64 // that it is counted in
	build func(context.Context) (*http.Request, error)
	take  func(*http.Response) error // uses the answer; called again after a *passing error, or if that was cut

	patience time.Duration // for what is sent
}

// ask sends a request until it is answered, or has failed for good.
func (c *client) ask(ctx context.Context, q question) error {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if o := c.outage.Load(); o != nil && time.Now().Before(o.until) {
		return &Error{q.url, o.reason, nodes.ErrUnavailable}
	}
	c.InFlight.Add(1)
	defer c.InFlight.Add(-1)
	err := c.tries(ctx, q)
	if err != nil && ctx.Err() == nil && !errors.Is(err, nodes.ErrStale) {
		c.Errors.Add(1)
	}
	return err
}

// tries sends a request up to maxTries times.
func (c *client) tries(ctx context.Context, q question) error {
	whole, cancel := context.WithTimeout(ctx, c.timeout+q.patience)
	defer cancel()
	for try, pause := 1, firstPause; ; try, pause = try+1, 2*pause {
		err := c.try(whole, q)
		last, again := errors.AsType[*passing](err)
		if !again {
			return err
		}
		wait := pause/2 + rand.N(pause)
		if last.after > 0 {
			wait = min(last.after, maxAfter)
		}
		if try == maxTries || !sleep(whole, wait) {
			return c.gaveUp(ctx, q.url, last)
		}
		c.Retries.Add(1)
	}
}

// gaveUp returns the error of a request that nobody answered.
func (c *client) gaveUp(ctx context.Context, url string, last *passing) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := &Error{url, fmt.Sprintf("no answer in %s: %s", shortDuration(c.timeout), last.reason), nodes.ErrUnavailable}
	if last.lost {
		now := &outage{since: time.Now(), until: time.Now().Add(downFor), reason: err.Reason}
		if before := c.outage.Load(); before != nil {
			now.since = before.since
		}
		c.outage.Store(now)
	}
	return err
}

// shortDuration is a duration without the units of which it has none: "1m".
func shortDuration(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if n := len(s) - len(zero); n > 0 && s[n:] == zero {
			s = s[:n+1]
		}
	}
	return s
}

// sleep reports whether ctx lasted that long.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// try sends a request once.
func (c *client) try(whole context.Context, q question) error {
	ctx, cancel := context.WithCancelCause(whole)
	defer cancel(nil)
	silence := c.silence + q.patience
	watch := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer watch.Stop()
	req, err := q.build(ctx)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set("Accept-Encoding", "identity")
	if req, err = c.prepare(req); err != nil {
		if !isAnswer(err) {
			err = c.ended(ctx, whole, q.url, err)
		}
		return err
	}
	q.count.Add(1)
	resp, err := c.http.Do(req)
	if err != nil {
		return c.ended(ctx, whole, q.url, err)
	}
	c.outage.Store(nil)
	c.closes.Store(resp.Close)
	defer func() {
		_, _ = io.CopyN(io.Discard, resp.Body, 4<<10) // so that the connection can be used again
		resp.Body.Close()
	}()
	body := &heardBody{ReadCloser: resp.Body, watch: watch, silence: silence, bytes: &c.Bytes}
	resp.Body = body
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusPartialContent {
		err := c.refused(q.url, resp)
		if p, ok := errors.AsType[*passing](err); ok {
			p.after = retryAfter(resp.Header.Get("Retry-After"))
		}
		return err
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return strange(q.url, "the answer is compressed (%s), which nobody asked for", wordOr(enc, "unknown"))
	}
	if err = q.take(resp); err != nil && (body.err != nil || !isAnswer(err)) {
		return c.ended(ctx, whole, q.url, cmp.Or(body.err, err))
	}
	return err
}

// isAnswer reports whether an error was made of an answer, and not by the connection.
func isAnswer(err error) bool {
	_, said := errors.AsType[*Error](err)
	_, passes := errors.AsType[*passing](err)
	return said || passes
}

// ended returns the error of a connection that ended with err.
func (c *client) ended(ctx, whole context.Context, url string, err error) error {
	if errors.Is(whole.Err(), context.Canceled) {
		return whole.Err()
	}
	if said, ok := errors.AsType[*Error](err); ok { // of a redirect
		return said
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &passing{reason: "silence"}
	}
	return failureOf(url, err)
}

// retryAfter returns what a Retry-After says, in seconds or as a time; 0: nothing.
func retryAfter(header string) time.Duration {
	if n, err := strconv.Atoi(header); err == nil && n > 0 {
		return time.Duration(min(n, 3600)) * time.Second
	}
	if t, err := http.ParseTime(header); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

// A heardBody counts the bytes of an answer, and keeps the watch from ending the request as long as
// some come. It remembers how the connection failed.
type heardBody struct {
	io.ReadCloser
	watch   *time.Timer
	silence time.Duration
	bytes   *atomic.Int64
	err     error
}

func (b *heardBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.watch.Reset(b.silence)
		b.bytes.Add(int64(n))
	}
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}
