package page

import (
	"context"
	"errors"
	"html"
	"net/http"
	"strings"
)

// Name is the name in the root below which all of the page is.
const Name = ".view"

// A Site is the page of a Tree.
type Site struct{ Tree }

// New returns the page of a tree.
func New(tree Tree) *Site { return &Site{tree} }

// Serve answers a request for what is below Name.
func (s *Site) Serve(w Writer, r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return ErrMethod
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
		return ErrMissing
	}
	return nil
}

// IsAsset reports whether a request is one for an asset.
func IsAsset(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/"+Name+"/assets/") }

// List answers a request for the list of all recordings.
func (s *Site) List(w Writer, r *http.Request) {
	w.Header().Add("Vary", "Accept")
	send(w, r, http.StatusOK, listHTML, words{Title: "recfs"})
}

// viewer answers a request for the viewer of the recording of an escaped path.
func (s *Site) viewer(w Writer, r *http.Request, escaped string) error {
	name, _, err := s.Path(escaped)
	if err != nil {
		return err
	}
	status, p := http.StatusOK, words{Title: Shown(name[strings.LastIndexByte(name, '/')+1:]), Path: Shown(name)}
	if name == "." {
		p.Title, p.Path = "recfs", ""
	}
	err = s.Within(r.Context(), func(ctx context.Context) error {
		_, err := s.recording(ctx, name)
		return err
	})
	if mute, ok := errors.AsType[*muteError](err); ok {
		p.Error = Shown(mute.reason)
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

// Up returns the way from a request to the root.
func Up(r *http.Request) string {
	return "./" + strings.Repeat("../", strings.Count(r.URL.EscapedPath(), "/")-1)
}

// send sends a page, whose links are relative, so that a proxy may put the tree below a path.
func send(w Writer, r *http.Request, status int, text string, p words) {
	up := Up(r)
	w.Header().Set("Content-Security-Policy", policy)
	w.Answer(r, status, "text/html; charset=utf-8", []byte(strings.NewReplacer(
		"$ASSETS", up+Name+"/assets/"+hash(), "$UP", up,
		"$TITLE", html.EscapeString(p.Title), "$PATH", html.EscapeString(p.Path), "$ERROR", html.EscapeString(p.Error),
	).Replace(text)))
}
