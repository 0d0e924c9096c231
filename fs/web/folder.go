package web

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	iofs "io/fs"
	"math"
	"net/http"
	"net/url"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"recfs/fs/web/page"
	"recfs/nodes"
)

const (
	defaultNames = 1000
	mostNames    = 10000
	batchSize    = 64      // entries that are looked at at a time
	listBuffer   = 8 << 10 // of a listing that is sent
)

// A listing is what a request wants of a folder.
type listing struct {
	json  bool
	style bool // the stylesheet of pages
	limit int
	after string
	sizes bool // also those that have to be made
}

// parseListing reads the query of a request for a folder.
func parseListing(r *http.Request) (l listing, err error) {
	q, err := page.ParseQuery(r)
	if err != nil {
		return l, err
	}
	format, sizes := q.Get("format"), q.Get("sizes")
	l = listing{
		json:  format == "json" || format == "" && strings.Contains(r.Header.Get("Accept"), "application/x-ndjson"),
		style: q.Get("style") == "1", sizes: sizes == "1", limit: defaultNames, after: q.Get("after"),
	}
	wrong := ""
	if !slices.Contains([]string{"", "json", "html"}, format) {
		wrong = "format"
	}
	if !slices.Contains([]string{"", "0", "1"}, sizes) {
		wrong = "sizes"
	}
	if q.Has("limit") {
		if l.limit, err = strconv.Atoi(q.Get("limit")); err != nil || l.limit < 1 || l.limit > mostNames {
			wrong = "limit"
		}
	}
	if wrong != "" {
		return l, badValue(wrong)
	}
	return l, nil
}

// An excerpt is a part of a folder.
type excerpt struct {
	way      nodes.Way
	dir      nodes.Dir // as it is now
	from, to int       // indexes
	next     string    // the last name, if there are more; else ""
}

// folder sends a page of a folder.
func (t *tree) folder(w *reply, r *http.Request, way nodes.Way) error {
	l, err := parseListing(r)
	if err != nil {
		return err
	}
	h := w.Header()
	if l.style {
		h.Set("Cache-Control", "max-age=3600")
		w.Answer(r, http.StatusOK, "text/css; charset=utf-8", styleSheet)
		return nil
	}
	p, err := t.excerpt(r.Context(), way, l)
	if err != nil {
		return err
	}
	h.Add("Vary", "Accept")
	if p.next != "" {
		q := r.URL.Query()
		if l.json {
			q.Set("format", "json")
		}
		h.Set("Link", "<"+pageURL(q, p.next)+`>; rel="next"`)
	}
	if l.json {
		h.Set("Content-Type", "application/x-ndjson")
	} else {
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
	}
	if r.Method == http.MethodHead {
		return nil
	}
	out := bufio.NewWriterSize(w, listBuffer)
	if l.json {
		err = t.jsonLines(r.Context(), w, out, p, l)
	} else {
		err = t.html(w, r, out, p, l)
	}
	if err == nil {
		err = out.Flush()
	}
	return err
}

// pageURL is where the page after a name is, from the one of a query; "" is the first.
func pageURL(q url.Values, after string) string {
	if q.Del("after"); after != "" {
		q.Set("after", after)
	}
	return "?" + q.Encode()
}

// excerpt returns the part of a folder that a request wants.
func (t *tree) excerpt(ctx context.Context, way nodes.Way, l listing) (excerpt, error) {
	enough := math.MaxInt
	if l.after == "" {
		enough = l.limit + 1
	}
	dir, n, err := t.snapshot(ctx, way.Last().Dir, enough)
	if err != nil {
		return excerpt{}, err
	}
	return made(ctx, t, func(ctx context.Context) (p excerpt, err error) {
		p = excerpt{way: way, dir: dir}
		if l.after != "" {
			if p.from, err = search(ctx, dir, n, l.after+"\x00"); err != nil {
				return p, err
			}
		}
		if p.to = min(p.from+l.limit, n); p.to < n {
			name, _, err := nodes.AppendName(ctx, dir, nil, p.to-1)
			p.next = string(name)
			return p, err
		}
		return p, nil
	})
}

// search returns the index of the first of n names that is name or later.
func search(ctx context.Context, dir nodes.Dir, n int, name string) (i int, err error) {
	var buf []byte
	i = sort.Search(n, func(i int) bool {
		var failed error
		buf, _, failed = nodes.AppendName(ctx, dir, buf[:0], i)
		if failed != nil && !errors.Is(failed, iofs.ErrNotExist) && len(buf) == 0 {
			err = failed
		}
		return string(buf) >= name
	})
	return i, err
}

// An item is an entry as a listing shows it.
type item struct {
	nodes.Entry
	size int64 // -1: it has none, or that would have to be made
}

// unsized is the size of what has none.
const unsized = -1

// item returns entry i of a page; ok is false if it is not there any more.
func (t *tree) item(ctx context.Context, p excerpt, i int, sizes bool) (it item, ok bool, err error) {
	it.size = unsized
	parent := p.way.Last()
	it.Entry, err = p.dir.At(ctx, i)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return it, false, nil
	case isPassing(ctx, err):
		return it, false, err
	case err != nil: // it is there, and says why when it is read
		it.File = nodes.Failing(err)
		return it, it.Name != "", nil
	}
	if len(p.way.Entries) == 1 && t.hides(it.Name) {
		return it, false, nil
	}
	it.Entry = it.Inherit(parent.Attr)
	if it.Link != "" {
		it.Entry = t.followed(ctx, p.way, it.Entry)
	}
	if it.File == nil || !sizes && !nodes.IsMeasured(ctx, it.File) {
		return it, true, nil
	}
	n, err := it.File.Size(ctx)
	if err == nil {
		it.size = n
	}
	if !isPassing(ctx, err) {
		err = nil
	}
	return it, true, err
}

// followed returns what a link in the last directory of a way leads to, under its own name. One
// that leads nowhere is a file that cannot be read.
func (t *tree) followed(ctx context.Context, way nodes.Way, link nodes.Entry) nodes.Entry {
	to, err := nodes.FollowWay(ctx, t.Root, path.Join(way.Path(), link.Name))
	if err != nil {
		return nodes.Entry{Name: link.Name, Attr: link.Attr, File: nodes.Failing(err)}
	}
	e := to.Last()
	e.Name = link.Name
	return e
}

// items calls visit for all of a page.
func (t *tree) items(ctx context.Context, w *reply, p excerpt, sizes bool, visit func(item) error) error {
	var batch []item
	for from := p.from; from < p.to; from += batchSize {
		if err := w.turn.take(ctx); err != nil {
			return err
		}
		err := t.within(nodes.Listing(ctx), func(ctx context.Context) error {
			batch = batch[:0]
			for i := from; i < min(from+batchSize, p.to); i++ {
				it, ok, err := t.item(ctx, p, i, sizes)
				if err != nil {
					return err
				}
				if ok {
					batch = append(batch, it)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, it := range batch {
			if err := w.turn.take(ctx); err != nil { // a visit may send, and the next one look at its entry
				return err
			}
			if err := visit(it); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// A nameLine is a name in a listing for programs.
type nameLine struct {
	Name     string    `json:"name"`
	NameHex  string    `json:"name_hex,omitempty"` // if Name is not UTF-8
	Type     string    `json:"type"`
	Size     *int64    `json:"size,omitempty"`
	Modified time.Time `json:"modified,omitzero"`
}

func (t *tree) jsonLines(ctx context.Context, w *reply, out *bufio.Writer, p excerpt, l listing) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return t.items(ctx, w, p, l.sizes, func(it item) error {
		line := nameLine{Name: it.Name, Type: "file", Modified: it.Time.UTC()}
		if !utf8.ValidString(it.Name) {
			line.NameHex = hex.EncodeToString([]byte(it.Name))
		}
		if it.Dir != nil {
			line.Type = "dir"
		}
		if it.size >= 0 {
			line.Size = &it.size
		}
		return enc.Encode(line)
	})
}

//go:embed style.css
var styleSheet []byte

// html writes a page of a folder for people. All links are relative.
func (t *tree) html(w *reply, r *http.Request, out *bufio.Writer, p excerpt, l listing) error {
	root, title := page.Up(r), "recfs"
	crumbs := []string{`<a href="` + root + `">recfs</a>`}
	if t.site != nil {
		crumbs = append(crumbs, `<a href="`+root+`?files">files</a>`)
	}
	for i, e := range p.way.Entries[1:] {
		title = shown(e.Name)
		crumbs = append(crumbs, `<a href="./`+strings.Repeat("../", len(p.way.Entries)-2-i)+`"><bdi>`+title+"</bdi></a>")
	}
	if up := len(crumbs) - 2; up >= 0 {
		crumbs[up] = strings.Replace(crumbs[up], ">", ` accesskey="u">`, 1)
	}
	fmt.Fprintf(out, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"+
		"<title>%s</title>\n<link rel=\"stylesheet\" href=\"%s?style=1\">\n<nav>%s</nav>\n<main>\n<table>\n"+
		"<thead><tr><th scope=\"col\">Name<th scope=\"col\">Kind<th scope=\"col\">Size<th scope=\"col\">Modified</thead>\n<tbody>\n",
		title, root, strings.Join(crumbs, " / "))
	if err := t.items(r.Context(), w, p, l.sizes, func(it item) error { return t.writeRow(out, p, it) }); err != nil {
		return err
	}
	fmt.Fprint(out, "</tbody>\n</table>\n<p>")
	if l.after != "" {
		fmt.Fprintf(out, "<a href=\"%s\">first page</a> ", html.EscapeString(pageURL(r.URL.Query(), "")))
	}
	if p.next != "" {
		fmt.Fprintf(out, "<a rel=\"next\" accesskey=\"n\" href=\"%s\">next page</a>", html.EscapeString(pageURL(r.URL.Query(), p.next)))
	}
	_, err := fmt.Fprint(out, "</p>\n</main>\n</html>\n")
	return err
}

func (t *tree) writeRow(out *bufio.Writer, p excerpt, it item) error {
	slash, size, modified, play := "", "", "", ""
	if t.site != nil && nodes.IsRecording(it.Entry) {
		up := strings.Repeat("../", len(p.way.Entries)-1)
		play = fmt.Sprintf(` <a href="./%s%s/play/%s" aria-label="play %s">play</a>`, up, page.Name, escape(path.Join(p.way.Path(), it.Name)), shown(it.Name))
	}
	if it.Dir != nil {
		slash = "/"
	}
	if it.size >= 0 {
		size = strconv.FormatInt(it.size, 10)
	}
	if !it.Time.IsZero() {
		modified = it.Time.UTC().Format(time.DateTime)
	}
	_, err := fmt.Fprintf(out, "<tr><td><a href=\"./%s%s\"><bdi>%s</bdi>%s</a><td>%s%s<td>%s<td>%s\n",
		escape(it.Name), slash, shown(it.Name), slash, shown(kind(it.Entry)), play, size, modified)
	return err
}

// kind tells a person what an entry is: of files and of what is made of one, by the extension.
func kind(e nodes.Entry) string {
	ext := strings.TrimPrefix(path.Ext(e.Name), ".")
	switch {
	case nodes.IsWhole(e) && ext == "":
		return "recording"
	case e.Dir != nil && !nodes.IsWhole(e):
		return "folder"
	}
	return ext
}

// shown is a name as text of a page.
func shown(name string) string {
	return html.EscapeString(page.Shown(name))
}
