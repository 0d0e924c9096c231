package page

import (
	"net/http"
	"net/url"
)

// A Writer sends replies.
type Writer interface {
	http.ResponseWriter
	// Answer sends all of a small body.
	Answer(r *http.Request, status int, contentType string, body []byte)
}

// A Refusal is what a request gets in place of what it asked for.
type Refusal struct {
	Status int
	Text   string
	Code   string // of S3; "": that of the status
}

// NewRefusal returns one with the code of its status.
func NewRefusal(status int, text string) *Refusal { return &Refusal{Status: status, Text: text} }

func (r *Refusal) Error() string { return r.Text }

var (
	ErrMethod  = NewRefusal(http.StatusMethodNotAllowed, "method not allowed")
	ErrMissing = NewRefusal(http.StatusNotFound, "no such file")
	errSite    = NewRefusal(http.StatusForbidden, "another site")
)

// ParseQuery returns the query of a request, all of which has to be well-formed.
func ParseQuery(r *http.Request) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		err = NewRefusal(http.StatusBadRequest, "bad query")
	}
	return values, err
}

// badParameter refuses a parameter of a query.
func badParameter(name string) error {
	return NewRefusal(http.StatusBadRequest, "bad parameter: "+name)
}
