package page

import (
	"errors"
	"net/url"
	"strconv"

	"recfs/nodes/play"
)

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

// refused returns an error of what plays as one of the request.
func refused(err error) error {
	if bad, ok := errors.AsType[play.BadParameter](err); ok {
		return BadParameter(string(bad))
	}
	return err
}
