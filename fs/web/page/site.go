package page

import (
	"context"
	"errors"
	"html"
	"net/http"
	"strings"

	"recfs/nodes"
)

// Name is the name in the root below which all of the page is.
const Name = ".view"

// A Tree is what is served, and how.
type Tree struct {
	// Path returns the path that an escaped one means, which begins with a slash.
	Path func(escaped string) (string, error)
	// Find returns the way to what is called name.
	Find func(ctx context.Context, name string) (nodes.Way, error)
	// Within runs a part of a request that decodes something. It may begin again.
	Within func(ctx context.Context, do func(context.Context) error) error
	// Tag returns the ETag of what is at the end of a way; "": nothing tells its version.
	Tag func(ctx context.Context, way nodes.Way) (string, error)
	// Status is that of the reply to what cannot be answered.
	Status func(err error) int
	// DiffMaps tells how two maps differ.
	DiffMaps DiffMaps
}

// A Site is the page of a Tree.
type Site struct {
	Tree
	list List
}

// New returns the page of a tree, of whose recordings the list knows.
func New(tree Tree, list List) *Site { return &Site{tree, list} }

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

// Serve answers a request for what is below Name.
func (s *Site) Serve(w Writer, r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return errMethod
	}
	_, rest, slash := strings.Cut(r.URL.EscapedPath()[1:], "/")
	if !slash {
		w.Header().Set("Location", "./"+Name+"/")
		w.WriteHeader(http.StatusPermanentRedirect)
		return nil
	}
	kind, rest, _ := strings.Cut(rest, "/")
	switch kind {
	case "":
		s.List(w, r)
	case "play":
		return s.viewer(w, r, "/"+rest)
	case "assets":
		return asset(w, r, rest)
	case "1":
		return s.data(w, r, rest)
	default:
		return errMissing
	}
	return nil
}

// List answers a request for the list of all recordings.
func (s *Site) List(w Writer, r *http.Request) {
	w.Header().Add("Vary", "Accept")
	send(w, r, http.StatusOK, listHTML, words{Title: "recfs"})
}

// viewer answers a request for the viewer of the recording of an escaped path.
func (s *Site) viewer(w Writer, r *http.Request, escaped string) error {
	name, err := s.Path(escaped)
	if err != nil {
		return err
	}
	status, p := http.StatusOK, words{Title: shown(name[strings.LastIndexByte(name, '/')+1:]), Path: shown(name)}
	if name == "." {
		p.Title, p.Path = "recfs", ""
	}
	err = s.Within(r.Context(), func(ctx context.Context) error {
		_, err := s.recording(ctx, name)
		return err
	})
	if mute, ok := errors.AsType[*muteError](err); ok {
		p.Error = mute.Error()
	} else if err != nil {
		if status = s.Status(err); status != http.StatusNotFound {
			return err
		}
		p.Error = "There is no recording of this name."
	}
	send(w, r, status, playHTML, p)
	return nil
}

// words are what a page has of its own.
type words struct{ Title, Path, Error string }

// policy is what a page may do.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// send sends a page, whose links are relative, so that a proxy may put the tree below a path.
func send(w Writer, r *http.Request, status int, text string, p words) {
	up := "./" + strings.Repeat("../", strings.Count(r.URL.EscapedPath(), "/")-1)
	w.Header().Set("Content-Security-Policy", policy)
	w.Answer(r, status, "text/html; charset=utf-8", []byte(strings.NewReplacer(
		"$ASSETS", up+Name+"/assets/"+hash(), "$UP", up,
		"$TITLE", html.EscapeString(p.Title), "$PATH", html.EscapeString(p.Path), "$ERROR", html.EscapeString(p.Error),
	).Replace(text)))
}
