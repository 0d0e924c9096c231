package remote

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/html"

	"recfs/cache"
	"recfs/nodes"
)

// A site is the protocol of a web server, of which files and folders are asked for by URL.
type site struct {
	*client
	root  url.URL // with the path "/"
	login *url.Userinfo

	headless atomic.Bool // it refuses HEAD
}

// OpenSite returns the server of a URL, of which scheme and host count. Nothing is asked yet.
func OpenSite(u *url.URL, c *cache.Cache, opt Options) (*Server, error) {
	transport, err := newTransport(opt, true)
	if err != nil {
		return nil, err
	}
	w := &site{root: url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}}
	w.client = newClient(opt, &http.Client{Transport: transport, CheckRedirect: w.redirect})
	w.client.prepare, w.client.refused = w.authorize, w.refuse
	w.login = netrcLogin(u, opt.Log)
	return newServer(w, w.client, c, opt), nil
}

func (w *site) tellsAll() bool   { return false }
func (w *site) wholeFiles() bool { return true }

func (w *site) at(key string) *url.URL {
	u := w.root
	u.Path = "/" + key
	return &u
}

func (w *site) url(key string) string { return w.at(key).String() }

func (w *site) missing(url string) error {
	return &Error{url, "no such file or folder", iofs.ErrNotExist}
}

func (w *site) place(dir string) string { return strings.TrimSuffix(w.url(dir), "/") }

// maxRedirects is how many are followed.
const maxRedirects = 5

// redirect judges a redirect: to another host or port only by https.
func (w *site) redirect(req *http.Request, via []*http.Request) error {
	elsewhere := req.URL.Host != w.root.Host || req.URL.Scheme != w.root.Scheme
	switch {
	case len(via) > maxRedirects:
		return strange(via[0].URL.String(), "more than %d redirects", maxRedirects)
	case elsewhere && req.URL.Scheme != "https":
		return strange(via[0].URL.String(), "redirect that is not followed (to %s://%s)", req.URL.Scheme, req.URL.Host)
	}
	if elsewhere {
		req.Header.Del("Authorization")
	}
	return nil
}

// authorize adds the password of the netrc, by https or to this machine.
func (w *site) authorize(req *http.Request) (*http.Request, error) {
	if w.login != nil && (w.root.Scheme == "https" || isLoopback(w.root.Hostname())) {
		secret, _ := w.login.Password()
		req.SetBasicAuth(w.login.Username(), secret)
	}
	return req, nil
}

// refuse returns the error of an answer that is none.
func (w *site) refuse(at string, resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusNotFound, http.StatusGone:
		if isConditional(resp.Request) {
			return stale(at)
		}
		return w.missing(at)
	}
	code := fmt.Sprint(resp.StatusCode)
	if noHead := resp.StatusCode == http.StatusMethodNotAllowed || resp.StatusCode == http.StatusNotImplemented; noHead && resp.Request.Method == http.MethodHead {
		w.headless.Store(true)
		return &Error{at, "the server says " + code, errors.ErrUnsupported}
	}
	if err := refusal(at, code, resp.StatusCode); err != nil {
		return err
	}
	return strange(at, "the server says %s", code)
}

func isConditional(req *http.Request) bool {
	return req.Header.Get("If-Match") != "" || req.Header.Get("If-Unmodified-Since") != ""
}

// get implements protocol.
func (w *site) get(ctx context.Context, o object, off, n int64) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url(o.key), http.NoBody)
	if err != nil {
		return nil, err
	}
	if n < o.size {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+n-1))
	}
	if o.isStrong() {
		req.Header.Set("If-Match", o.tag)
	} else if o.modified > 0 {
		req.Header.Set("If-Unmodified-Since", httpTime(o.modified))
	}
	return req, nil
}

// firstByte is the part of a file that a server is asked for that refuses HEAD.
const firstByte = "bytes=0-0"

// look implements protocol: a file is what HEAD finds, a folder what it is led to with a slash. Of
// an empty file Apache tells no length in answer to that, and no server has a first byte of it.
func (w *site) look(ctx context.Context, key string) (found looked, err error) {
	if !w.headless.Load() {
		found, err = w.lookBy(ctx, http.MethodHead, "", &w.Head, key)
	}
	if w.headless.Load() {
		found, err = w.lookBy(ctx, http.MethodGet, firstByte, &w.Range, key)
	}
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, nodes.ErrStale) {
		found, err = w.lookBy(ctx, http.MethodGet, "", &w.Get, key)
	}
	if errors.Is(err, iofs.ErrNotExist) {
		return looked{}, nil
	}
	return found, err
}

// lookBy looks at the headers of an answer, which may be that to a part of the file. The error is
// errors.ErrUnsupported if they tell no length.
func (w *site) lookBy(ctx context.Context, method, part string, count *atomic.Int64, key string) (found looked, err error) {
	err = w.ask(ctx, question{
		url: w.url(key), count: count,
		build: func(ctx context.Context) (*http.Request, error) {
			req, err := http.NewRequestWithContext(ctx, method, w.url(key), http.NoBody)
			if err == nil && part != "" {
				req.Header.Set("Range", part)
			}
			return req, err
		},
		take: func(resp *http.Response) error {
			if resp.Request.URL.Path == w.at(key).Path+"/" {
				found.isDir = true
				return nil
			}
			modified, _ := http.ParseTime(resp.Header.Get("Last-Modified"))
			length := lengthOf(resp)
			switch {
			case length < 0:
				return &Error{w.url(key), "the server does not tell how long the file is", errors.ErrUnsupported}
			case length > maxSize:
				return strange(w.url(key), "a file has %d bytes", length)
			}
			found = looked{object: object{key, resp.Header.Get("ETag"), length, milliseconds(modified)}, isFile: true}
			found.isPage = strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html")
			return nil
		},
	})
	return found, err
}

// lengthOf returns how long the file is that an answer has all or a part of, -1 if it does not say.
func lengthOf(resp *http.Response) int64 {
	if resp.StatusCode != http.StatusPartialContent {
		return resp.ContentLength
	}
	_, length := contentRange(resp)
	return length
}

// page implements protocol: a page of a folder is what the server makes for people, or lines of
// JSON, where the next page is named by a header.
func (w *site) page(ctx context.Context, dir, from string, _ bool, add addFunc) (next string, err error) {
	at := w.at(dir)
	if from != "" {
		if at, err = at.Parse(from); err != nil {
			return "", strange(w.url(dir), "the next page is %q", from)
		}
	}
	err = w.ask(ctx, question{
		url: w.url(dir), count: &w.List,
		build: func(ctx context.Context) (*http.Request, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody)
			if err == nil {
				req.Header.Set("Accept", "application/x-ndjson, text/html;q=0.9")
			}
			return req, err
		},
		take: func(resp *http.Response) error {
			if resp.Request.URL.Path != at.Path {
				return strange(w.url(dir), "redirect to what is not this folder")
			}
			var names []pageName
			var err error
			if names, err = readFolder(resp, &url.URL{Path: w.at(dir).Path, Scheme: w.root.Scheme, Host: w.root.Host}); err != nil {
				return err
			}
			for _, n := range names {
				add(n.name, "", n.size, 0)
			}
			next, err = w.nextPage(resp, dir)
			return err
		},
	})
	return next, err
}

// nextPage returns the next page of a folder, as the header Link tells, "" if there is none.
func (w *site) nextPage(resp *http.Response, dir string) (string, error) {
	for _, link := range resp.Header.Values("Link") {
		target, rel, _ := strings.Cut(link, ">")
		if !strings.Contains(rel, `rel="next"`) {
			continue
		}
		u, err := resp.Request.URL.Parse(strings.TrimPrefix(strings.TrimSpace(target), "<"))
		if err != nil || u.Host != w.root.Host || path.Clean(u.Path) != path.Clean("/"+dir) {
			return "", strange(w.url(dir), "the listing does not go on")
		}
		return "?" + u.RawQuery, nil
	}
	return "", nil
}

// maxFolderPage is how many bytes the page of a folder may have. Some servers take a thousand for a
// name.
const maxFolderPage = 64 << 20

// A pageName is a name on the page of a folder.
type pageName struct {
	name string
	size int64
}

// maxTag is how many bytes a tag of HTML may have, or text between two.
const maxTag = 1 << 20

// readFolder reads the page of a folder: HTML, JSON as of nginx, or the lines of recfs.
func readFolder(resp *http.Response, at *url.URL) (names []pageName, err error) {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	body := &io.LimitedReader{R: resp.Body, N: maxFolderPage}
	switch kind {
	case "text/html", "application/xhtml+xml":
		names, err = readLinks(body, at)
	case "application/json", "application/x-ndjson":
		names, err = readNames(body, kind == "application/json")
	default:
		return nil, strange(at.String(), "not a folder (%s)", kind)
	}
	switch {
	case body.N <= 0, errors.Is(err, html.ErrBufferExceeded):
		return nil, strange(at.String(), "the page of the folder is too long")
	case err != nil: // unless the connection failed, which is told in its place
		return nil, strange(at.String(), "the page of the folder is no JSON")
	}
	return names, nil
}

// readLinks reads the links of a page of HTML that lead to what lies directly in the folder.
func readLinks(body io.Reader, at *url.URL) (names []pageName, err error) {
	z := html.NewTokenizer(body)
	z.SetMaxBuf(maxTag)
	for {
		switch z.Next() {
		case html.ErrorToken:
			if errors.Is(z.Err(), io.EOF) {
				return names, nil
			}
			return nil, z.Err()
		case html.StartTagToken:
			tag := z.Token()
			for _, attr := range tag.Attr {
				if tag.Data != "a" || attr.Key != "href" {
					continue
				}
				if n, ok := linkName(at, attr.Val); ok {
					names = append(names, n)
				}
			}
		}
	}
}

// linkName returns the name that a link leads to, if that lies directly in the folder at.
func linkName(at *url.URL, href string) (n pageName, ok bool) {
	u, err := at.Parse(href)
	if err != nil || u.Host != at.Host || u.Scheme != at.Scheme || u.RawQuery != "" || u.User != nil {
		return n, false
	}
	name, ok := strings.CutPrefix(u.Path, at.Path)
	n = pageName{name: name, size: sizeUnknown}
	if dir, isDir := strings.CutSuffix(name, "/"); isDir {
		n.name, n.size = dir, sizeFolder
	}
	return n, ok && isName(n.name)
}

// readNames reads the lines of JSON that recfs serve makes of a folder, or the array of
// autoindex_format json of nginx.
func readNames(body io.Reader, isArray bool) (names []pageName, err error) {
	d := json.NewDecoder(body)
	if isArray {
		if begin, err := d.Token(); err != nil || begin != json.Delim('[') {
			return nil, cmp.Or(err, io.ErrUnexpectedEOF)
		}
	}
	for !isArray || d.More() {
		var it struct {
			Name    string
			NameHex string `json:"name_hex"`
			Type    string
		}
		if err := d.Decode(&it); err == io.EOF && !isArray {
			return names, nil
		} else if err != nil {
			return nil, err
		}
		if raw, err := hex.DecodeString(it.NameHex); err == nil && it.NameHex != "" {
			it.Name = string(raw)
		}
		n := pageName{name: it.Name, size: sizeUnknown}
		if it.Type == "dir" || it.Type == "directory" {
			n.size = sizeFolder
		}
		names = append(names, n)
	}
	_, err = d.Token() // the end of the array
	return names, err
}

// httpTime is a time as headers have it.
func httpTime(milliseconds int64) string {
	return time.UnixMilli(milliseconds).UTC().Format(http.TimeFormat)
}
