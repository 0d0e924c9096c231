package page

import "net/http"

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
}

func (r *Refusal) Error() string { return r.Text }

var (
	errMethod  = &Refusal{http.StatusMethodNotAllowed, "method not allowed"}
	errMissing = &Refusal{http.StatusNotFound, "no such file"}
	errSite    = &Refusal{http.StatusForbidden, "another site"}
)

// BadParameter refuses a parameter of a query.
func BadParameter(name string) error {
	return &Refusal{http.StatusBadRequest, "bad parameter: " + name}
}
