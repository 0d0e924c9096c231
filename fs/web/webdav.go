package web

import (
	"bufio"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"recfs/nodes"
)

const davNamespace = "DAV:"

// davProperties are what there is, in the order in which all are told.
var davProperties = []string{"resourcetype", "displayname", "getcontentlength", "getlastmodified", "getetag", "getcontenttype"}

// A propfind is what a PROPFIND asks for.
type propfind struct {
	names []xml.Name // nil: all
	bare  bool       // only their names
}

// mostProperties is how many a PROPFIND may name.
const mostProperties = 100

// parsePropfind reads the body of a PROPFIND; without one all is asked for.
func parsePropfind(body io.Reader) (p propfind, err error) {
	var asked struct {
		XMLName xml.Name `xml:"DAV: propfind"`
		Prop    *struct {
			Names []struct{ XMLName xml.Name } `xml:",any"`
		} `xml:"DAV: prop"`
		Bare *struct{} `xml:"DAV: propname"`
	}
	d := xml.NewDecoder(body)
	if err := d.Decode(&asked); err != nil && (err != io.EOF || d.InputOffset() > 0) {
		return p, errBadBody
	}
	p.bare = asked.Bare != nil
	if asked.Prop == nil {
		return p, nil
	}
	p.names = []xml.Name{}
	for _, n := range asked.Prop.Names[:min(len(asked.Prop.Names), mostProperties)] {
		p.names = append(p.names, n.XMLName)
	}
	return p, nil
}

// propfind answers PROPFIND of depth 0 and 1.
func (t *tree) propfind(w *reply, r *http.Request) error {
	asked, err := parsePropfind(r.Body)
	if err != nil {
		return err
	}
	depth := r.Header.Get("Depth")
	switch depth {
	case "0", "1":
	case "", "infinity":
		body := xml.Header + `<D:error xmlns:D="DAV:"><D:propfind-finite-depth/></D:error>`
		w.Answer(r, http.StatusForbidden, "application/xml; charset=utf-8", []byte(body))
		return nil
	default:
		return &refusal{http.StatusBadRequest, "bad value of Depth", ""}
	}
	way, _, slash, err := t.lookUp(r)
	if err != nil {
		return err
	}
	if way.Last().Dir == nil && slash {
		return errMissing
	}
	it := item{Entry: way.Last(), size: unsized}
	if it.File != nil {
		if err := t.within(r.Context(), func(ctx context.Context) (err error) {
			it.size, err = it.File.Size(ctx)
			return err
		}); err != nil {
			return err
		}
	}
	return t.multistatus(w, r, way, it, asked, depth == "1")
}

// multistatus tells of an entry, and of those in it if that is wanted.
func (t *tree) multistatus(w *reply, r *http.Request, way nodes.Way, it item, asked propfind, below bool) error {
	ctx := r.Context()
	var p excerpt
	var err error
	if below && it.Dir != nil {
		p.way = way
		if p.dir, p.to, err = t.snapshot(ctx, it.Dir); err != nil {
			return err
		}
	}
	w.Header().Set("Content-Type", "application/xml; charset=utf-8")
	w.WriteHeader(http.StatusMultiStatus)
	out := bufio.NewWriterSize(w, listBuffer)
	out.WriteString(xml.Header + `<D:multistatus xmlns:D="DAV:">` + "\n")
	href := strings.TrimSuffix(r.URL.EscapedPath(), "/")
	if err := t.response(ctx, out, href, way, it, asked); err != nil {
		return err
	}
	if p.dir != nil {
		err := t.items(ctx, w, p, false, func(it item) error {
			child := nodes.Way{Entries: append(slices.Clip(way.Entries), it.Entry)}
			return t.response(ctx, out, href+"/"+escape(it.Name), child, it, asked)
		})
		if err != nil {
			return err
		}
	}
	out.WriteString("</D:multistatus>\n")
	return out.Flush()
}

// response tells of one entry.
func (t *tree) response(ctx context.Context, out *bufio.Writer, href string, way nodes.Way, it item, asked propfind) error {
	if it.Dir != nil {
		href += "/"
	}
	var tag string
	if it.File != nil && asked.wants("getetag") {
		err := t.within(ctx, func(ctx context.Context) (err error) {
			tag, err = t.tag(ctx, way, "")
			return err
		})
		if isPassing(ctx, err) {
			return err
		}
	}
	has := davValues(it, tag)
	fmt.Fprintf(out, "<D:response><D:href>%s</D:href><D:propstat><D:prop>", xmlText(href))
	for _, name := range davProperties {
		value, ok := has[name]
		switch {
		case !ok || !asked.wants(name):
		case asked.bare:
			fmt.Fprintf(out, "<D:%s/>", name)
		default:
			fmt.Fprintf(out, "<D:%s>%s</D:%s>", name, value, name)
		}
	}
	out.WriteString("</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>")
	if missing := asked.missing(has); len(missing) > 0 {
		out.WriteString("<D:propstat><D:prop>")
		for _, name := range missing {
			if name.Space == "" {
				fmt.Fprintf(out, `<%s xmlns=""/>`, name.Local)
			} else {
				fmt.Fprintf(out, `<x:%s xmlns:x="%s"/>`, name.Local, xmlText(name.Space))
			}
		}
		out.WriteString("</D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>")
	}
	_, err := out.WriteString("</D:response>\n")
	return err
}

// davValues returns the properties of an entry as XML. A size that has to be made is none.
func davValues(it item, tag string) map[string]string {
	has := map[string]string{"resourcetype": "", "displayname": xmlText(path.Base(it.Name))}
	if !it.Time.IsZero() {
		has["getlastmodified"] = it.Time.UTC().Truncate(time.Second).Format(http.TimeFormat)
	}
	if it.Dir != nil {
		has["resourcetype"] = "<D:collection/>"
		return has
	}
	has["getcontenttype"] = contentType(it.Name)
	if it.size >= 0 {
		has["getcontentlength"] = strconv.FormatInt(it.size, 10)
	}
	if tag != "" {
		has["getetag"] = xmlText(tag)
	}
	return has
}

// wants reports whether a property is asked for.
func (p propfind) wants(name string) bool {
	return p.names == nil || slices.Contains(p.names, xml.Name{Space: davNamespace, Local: name})
}

// missing returns what is asked for and is not there.
func (p propfind) missing(has map[string]string) (names []xml.Name) {
	for _, name := range p.names {
		if _, ok := has[name.Local]; !ok || name.Space != davNamespace {
			names = append(names, name)
		}
	}
	return names
}

func xmlText(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes all
	return b.String()
}
