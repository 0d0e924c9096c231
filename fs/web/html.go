package web

import (
	"bufio"
	_ "embed"
	"fmt"
	"html"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"

	"recfs/fs/web/page"
	"recfs/nodes"
)

//go:embed style.css
var styleSheet []byte

// html writes a page of a folder for people. All links are relative.
func (t *tree) html(w *reply, r *http.Request, out *bufio.Writer, p excerpt, l listing) error {
	type crumb struct{ name, url string }
	root := upFrom(r)
	crumbs := []crumb{{"recfs", root}}
	if t.site != nil {
		crumbs = append(crumbs, crumb{"files", root + "?files"})
	}
	title := "recfs"
	for i, e := range p.way.Entries[1:] {
		title = shown(e.Name)
		crumbs = append(crumbs, crumb{"<bdi>" + title + "</bdi>", "./" + strings.Repeat("../", len(p.way.Entries)-2-i)})
	}
	fmt.Fprintf(out, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"+
		"<title>%s</title>\n<link rel=\"stylesheet\" href=\"%s?style=1\">\n<nav>", title, root)
	for i, c := range crumbs {
		between, key := " / ", ""
		if i == 0 {
			between = ""
		}
		if i == len(crumbs)-2 {
			key = ` accesskey="u"`
		}
		fmt.Fprintf(out, "%s<a href=\"%s\"%s>%s</a>", between, c.url, key, c.name)
	}
	fmt.Fprint(out, "</nav>\n<main>\n<table>\n<thead><tr><th scope=\"col\">Name<th scope=\"col\">Kind<th scope=\"col\">Size<th scope=\"col\">Modified</thead>\n<tbody>\n")
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
	return html.EscapeString(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(name, string(unicode.ReplacementChar))))
}
