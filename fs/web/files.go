package web

import (
	"io"
	"net/http"
	"strconv"
	"strings"

	"recfs/fs/web/page"
	"recfs/nodes"
)

// files answers a request for a file or a folder.
func (t *tree) files(w *reply, r *http.Request) error {
	if first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/"); t.site != nil && first == page.Name {
		return t.site.Serve(w, r)
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		w.Header().Set("Allow", t.methods())
		if t.WebDAV {
			w.Header().Set("DAV", "1")
			w.Header().Set("MS-Author-Via", "DAV") // else Explorer asks as for FrontPage
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	case "PROPFIND":
		if t.WebDAV {
			return t.propfind(w, r)
		}
		fallthrough
	default:
		w.Header().Set("Allow", t.methods())
		return page.ErrMethod
	}
	if t.site != nil && wantsList(r) {
		t.site.List(w, r)
		return nil
	}
	name, slash, err := parsePath(r.URL.EscapedPath())
	if err != nil {
		return err
	}
	way, o, err := t.get(r.Context(), name, "", false)
	switch {
	case err != nil:
		return err
	case way.Links > 0:
		redirect(w, r, http.StatusFound, page.Up(r)+target(way))
	case o != nil && slash:
		return page.ErrMissing
	case o != nil:
		return o.send(w, r)
	case !slash:
		redirect(w, r, http.StatusPermanentRedirect, "./"+escape(name[strings.LastIndexByte(name, '/')+1:])+"/")
	default:
		return t.folder(w, r, way)
	}
	return nil
}

// wantsList reports whether a request is for the list of recordings, not for the folder of the
// root.
func wantsList(r *http.Request) bool {
	if r.URL.Path != "/" {
		return false
	}
	q := r.URL.Query()
	format := q.Get("format")
	return !q.Has("files") && !q.Has("style") && format != "json" && format != "html" &&
		!strings.Contains(r.Header.Get("Accept"), "application/x-ndjson")
}

func (t *tree) methods() string {
	if t.WebDAV {
		return "GET, HEAD, OPTIONS, PROPFIND"
	}
	return "GET, HEAD, OPTIONS"
}

// target returns the URL of what is at the end of a way, from the root.
func target(way nodes.Way) string {
	name := escape(way.Path())
	switch {
	case name == ".":
		return ""
	case way.Last().Dir != nil:
		return name + "/"
	}
	return name
}

// redirect sends a client to another place, named from where it asked, as a proxy may put the tree
// below a path.
func redirect(w *reply, r *http.Request, status int, to string) {
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	w.Header().Set("Location", to)
	w.WriteHeader(status)
}

// maxRanges is how many ranges a request may have.
const maxRanges = 8

// send sends a file, or what the request wants of it.
func (o *object) send(w *reply, r *http.Request) error {
	defer o.Close()
	if o.size == 0 { // nothing of it would be read
		if _, err := o.ReadAt(r.Context(), nil, 0); err != nil {
			return err
		}
	}
	r.Header["Range"] = ranges(r, o.size)
	h := w.Header()
	h.Set("Content-Type", contentType(o.Name))
	if o.tag != "" {
		h.Set("Etag", o.tag)
	}
	http.ServeContent(w, r, "", o.Time, io.NewSectionReader(nodes.At(r.Context(), o), 0, o.size))
	return nil
}

// ranges returns what a request wants of a file as net/http understands it; nil is all. To that the
// last 0 bytes are some.
func ranges(r *http.Request, size int64) []string {
	want, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes=")
	if !ok || size == 0 || strings.Count(want, ",") >= maxRanges {
		return nil
	}
	if !strings.Contains(want, "-0") {
		return r.Header["Range"]
	}
	all := strings.Split(want, ",")
	for i, part := range all {
		if last, ok := strings.CutPrefix(strings.TrimSpace(part), "-"); ok && last != "" && strings.Trim(last, "0") == "" {
			all[i] = strconv.FormatInt(size, 10) + "-" // behind the end
		}
	}
	return []string{"bytes=" + strings.Join(all, ",")}
}

// refuse answers a request for files and folders with an error.
func refuse(w *reply, r *http.Request, err *page.Refusal) {
	h := w.Header()
	switch err.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
		h.Add("WWW-Authenticate", `Basic realm="recfs"`)
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	}
	w.Answer(r, err.Status, "text/plain; charset=utf-8", []byte(err.Text+"\n"))
}
