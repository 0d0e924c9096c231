package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"recfs/fs/web/page"
	"recfs/nodes"
)

const davNamespace = "DAV:"

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
	err = d.Decode(&asked)
	if err == io.EOF && d.InputOffset() == 0 {
		return p, nil
	}
	if err != nil {
		return p, errBadBody
	}
	for err == nil { // what is behind it
		var token xml.Token
		token, err = d.Token()
		switch token := token.(type) {
		case xml.StartElement:
			return p, errBadBody
		case xml.CharData:
			if len(bytes.TrimSpace(token)) > 0 {
				return p, errBadBody
			}
		}
	}
	if err != io.EOF {
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
		return badValue("Depth")
	}
	name, slash, err := parsePath(r.URL.EscapedPath())
	if err != nil {
		return err
	}
	way, err := t.find(r.Context(), name)
	if err != nil {
		return err
	}
	if way.Last().Dir == nil && slash {
		return page.ErrMissing
	}
	it := item{Entry: way.Last(), size: unsized}
	it.Name = path.Base(name) // also that of a link
	if it.File != nil {
		it.size, err = made(r.Context(), t, it.File.Size)
	}
	var below excerpt
	if it.Dir != nil && depth == "1" {
		below.way = way
		below.dir, below.to, err = t.snapshot(r.Context(), it.Dir, math.MaxInt)
	}
	if err != nil {
		return err
	}
	return t.multistatus(w, r, way, it, below, asked)
}

// multistatus tells of an entry, and of what is in it.
func (t *tree) multistatus(w *reply, r *http.Request, way nodes.Way, it item, below excerpt, asked propfind) error {
	ctx := r.Context()
	w.Header().Set("Content-Type", "application/xml; charset=utf-8")
	w.WriteHeader(http.StatusMultiStatus)
	out := bufio.NewWriterSize(w, listBuffer)
	out.WriteString(xml.Header + `<D:multistatus xmlns:D="DAV:">` + "\n")
	href := strings.TrimSuffix(r.URL.EscapedPath(), "/")
	if err := t.response(ctx, out, href, way, it, asked); err != nil {
		return err
	}
	err := t.items(ctx, w, below, false, func(it item) error {
		child := nodes.Way{Entries: append(slices.Clip(way.Entries), it.Entry)}
		return t.response(ctx, out, href+"/"+escape(it.Name), child, it, asked)
	})
	if err != nil {
		return err
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
		var err error
		tag, err = made(ctx, t, func(ctx context.Context) (string, error) { return t.tag(ctx, way, "") })
		if isPassing(ctx, err) {
			return err
		}
	}
	has := properties(it, tag)
	fmt.Fprintf(out, "<D:response><D:href>%s</D:href><D:propstat><D:prop>", xmlText(href))
	for _, p := range has {
		switch {
		case !asked.wants(p.name):
		case asked.bare:
			fmt.Fprintf(out, "<D:%s/>", p.name)
		default:
			fmt.Fprintf(out, "<D:%s>%s</D:%s>", p.name, p.value, p.name)
		}
	}
	out.WriteString("</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>")
	missing := slices.DeleteFunc(slices.Clone(asked.names), func(n xml.Name) bool {
		return n.Space == davNamespace && slices.ContainsFunc(has, func(p property) bool { return p.name == n.Local })
	})
	if len(missing) > 0 {
		out.WriteString("<D:propstat><D:prop>")
		for _, name := range missing {
			fmt.Fprintf(out, `<%s xmlns="%s"/>`, name.Local, xmlText(name.Space))
		}
		out.WriteString("</D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>")
	}
	_, err := out.WriteString("</D:response>\n")
	return err
}

// A property of an entry has XML as its value.
type property struct{ name, value string }

// properties returns those of an entry. A size that has to be made is none.
func properties(it item, tag string) []property {
	all := []property{{"resourcetype", ""}, {"displayname", xmlText(it.Name)}}
	if it.Dir != nil {
		all[0].value = "<D:collection/>"
	}
	if it.size >= 0 {
		all = append(all, property{"getcontentlength", strconv.FormatInt(it.size, 10)})
	}
	if !it.Time.IsZero() {
		all = append(all, property{"getlastmodified", it.Time.UTC().Truncate(time.Second).Format(http.TimeFormat)})
	}
	if tag != "" {
		all = append(all, property{"getetag", xmlText(tag)})
	}
	if it.Dir == nil {
		all = append(all, property{"getcontenttype", contentType(it.Name)})
	}
	return all
}

// wants reports whether a property is asked for.
func (p propfind) wants(name string) bool {
	return p.names == nil || slices.Contains(p.names, xml.Name{Space: davNamespace, Local: name})
}

func xmlText(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes all
	return b.String()
}
