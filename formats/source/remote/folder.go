package remote

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// maxFolderPage is how many bytes the page of a folder may have. Some servers take a thousand for a
// name.
const maxFolderPage = 64 << 20

// A pageName is a name on the page of a folder.
type pageName struct {
	name string
	size int64
}

// readFolder reads the page of a folder: HTML, JSON as of nginx, or the lines of recfs.
func readFolder(resp *http.Response, at *url.URL) ([]pageName, error) {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	body := limitedBody(resp)
	var names []pageName
	var err error
	switch kind {
	case "text/html", "application/xhtml+xml":
		names, err = readLinks(body, at)
	case "application/json":
		names, err = readNginx(body)
	case "application/x-ndjson":
		names, err = readLines(body)
	default:
		return nil, strange(at.String(), "not a folder (%s)", kind)
	}
	if body.N <= 0 {
		return nil, strange(at.String(), "the page of the folder is too long")
	}
	if _, syntax := errors.AsType[*json.SyntaxError](err); syntax {
		return nil, strange(at.String(), "the page of the folder is no JSON")
	}
	return names, err
}

// readLinks reads the links of a page of HTML that lead to what lies directly in the folder.
func readLinks(body io.Reader, at *url.URL) (names []pageName, err error) {
	for z := html.NewTokenizer(body); ; {
		switch z.Next() {
		case html.ErrorToken:
			if errors.Is(z.Err(), io.EOF) {
				return names, nil
			}
			return nil, z.Err()
		case html.StartTagToken:
			tag, more := z.TagName()
			if string(tag) != "a" {
				continue
			}
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				if string(key) == "href" {
					if n, ok := linkName(at, string(value)); ok {
						names = append(names, n)
					}
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

// readNginx reads what autoindex_format json of nginx makes.
func readNginx(body io.Reader) ([]pageName, error) {
	var list []struct{ Name, Type string }
	if err := json.NewDecoder(body).Decode(&list); err != nil {
		return nil, err
	}
	names := make([]pageName, 0, len(list))
	for _, it := range list {
		size := int64(sizeUnknown)
		if it.Type == "directory" {
			size = sizeFolder
		}
		names = append(names, pageName{name: it.Name, size: size})
	}
	return names, nil
}

// readLines reads the lines of JSON that recfs serve makes of a folder.
func readLines(body io.Reader) (names []pageName, err error) {
	for lines := bufio.NewScanner(body); ; {
		if !lines.Scan() {
			return names, lines.Err()
		}
		var it struct {
			Name    string
			NameHex string `json:"name_hex"`
			Type    string
		}
		if err := json.Unmarshal(lines.Bytes(), &it); err != nil {
			return nil, err
		}
		if raw, err := hex.DecodeString(it.NameHex); err == nil && it.NameHex != "" {
			it.Name = string(raw)
		}
		n := pageName{name: it.Name, size: sizeUnknown}
		if it.Type == "dir" {
			n.size = sizeFolder
		}
		names = append(names, n)
	}
}

// httpTime is a time as headers have it.
func httpTime(milliseconds int64) string {
	return time.UnixMilli(milliseconds).UTC().Format(http.TimeFormat)
}
