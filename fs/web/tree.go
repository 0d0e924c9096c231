package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"path"
	"strings"

	"recfs/cache"
	"recfs/fs/opened"
	"recfs/fs/web/page"
	"recfs/nodes"
)

// A tree is what is served.
type tree struct {
	root     nodes.Entry
	hidden   string
	cache    *cache.Cache
	build    string
	webdav   bool
	contents opened.Files[contentKey]
	site     *page.Site // nil: there is none
}

// hides reports whether a name in the root is not there.
func (t *tree) hides(name string) bool { return name == t.hidden || name == page.Name }

// within runs a part of a request that decodes something. It may begin again. A panic ends it as an
// error: of a reply of several ranges the goroutine is one of net/http.
func (t *tree) within(ctx context.Context, do func(context.Context) error) error {
	return t.cache.Do(ctx, 0, func(ctx context.Context) (err error) {
		defer rescue(&err)
		return do(ctx)
	})
}

// maxPath is how long a path may be, in bytes.
const maxPath = 8 << 10

// parsePath returns the path in the tree that one of a URL means, and whether that ends in a slash.
func parsePath(escaped string) (name string, slash bool, err error) {
	rest, ok := strings.CutPrefix(escaped, "/")
	if !ok || len(escaped) > maxPath {
		return "", false, errBadPath
	}
	if rest == "" {
		return ".", true, nil
	}
	rest, slash = strings.CutSuffix(rest, "/")
	parts := strings.Split(rest, "/")
	for i, part := range parts {
		if parts[i], err = url.PathUnescape(part); err != nil || !isName(parts[i]) {
			return "", false, errBadPath
		}
	}
	return strings.Join(parts, "/"), slash, nil
}

// pathOf is parsePath for what may end in a slash or not.
func pathOf(escaped string) (string, error) {
	name, _, err := parsePath(escaped)
	return name, err
}

// isName reports whether name can be that of an entry.
func isName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}

// find returns the way to what is called name.
func (t *tree) find(ctx context.Context, name string) (way nodes.Way, err error) {
	if first, _, _ := strings.Cut(name, "/"); t.hides(first) {
		return way, errMissing
	}
	err = t.within(ctx, func(ctx context.Context) error {
		way, err = nodes.FollowWay(ctx, t.root, name)
		return err
	})
	return way, err
}

// lookUp returns the way to what a request names, and how it names it.
func (t *tree) lookUp(r *http.Request) (way nodes.Way, name string, slash bool, err error) {
	name, slash, err = parsePath(r.URL.EscapedPath())
	if err == nil {
		way, err = t.find(r.Context(), name)
	}
	return way, name, slash, err
}

// s3Mark ends an ETag of S3, as of what was written in one part of several. Without it clients take
// 32 digits for the MD5 of the content.
const s3Mark = "-1"

// tag returns the ETag of the file at the end of a way, with a mark; "": nothing tells its version.
func (t *tree) tag(ctx context.Context, way nodes.Way, mark string) (string, error) {
	version, err := way.Version(ctx)
	if err != nil || version == "" {
		return "", err
	}
	sum := sha256.Sum256([]byte(t.build + "\x00" + way.Path() + "\x00" + version))
	return string(append(hex.AppendEncode([]byte{'"'}, sum[:16]), mark+`"`...)), nil
}

// snapshot returns what a directory has now.
func (t *tree) snapshot(ctx context.Context, dir nodes.Dir) (now nodes.Dir, n int, err error) {
	err = t.within(ctx, func(ctx context.Context) error {
		if v, ok := dir.(nodes.Volatile); ok {
			now, err = v.Snapshot(ctx)
		} else {
			now, err = nodes.Resolve(ctx, dir)
		}
		if err == nil {
			n, err = now.Len(ctx)
		}
		return err
	})
	return now, n, err
}

// isMeasured reports whether nothing has to be made to tell the size of a file.
func isMeasured(ctx context.Context, f nodes.File) bool {
	m, ok := f.(nodes.Measured)
	return !ok || m.IsMeasured(ctx)
}

// escape returns a path with all bytes percent-encoded but those that mean nothing in a URL.
func escape(name string) string {
	const hexDigits = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-_.~/", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
	}
	return b.String()
}

// escapeAll is escape for what may not have a slash as it is.
func escapeAll(text string) string { return strings.ReplaceAll(escape(text), "/", "%2F") }

// contentTypes are those of files; no file is looked into for it.
var contentTypes = map[string]string{
	".json": "application/json", ".jsonl": "application/x-ndjson", ".parquet": "application/vnd.apache.parquet",
	".csv": "text/csv; charset=utf-8", ".txt": "text/plain; charset=utf-8",
	".png": "image/png", ".svg": "image/svg+xml", ".opus": "audio/ogg",
}

func contentType(name string) string {
	if t, ok := contentTypes[path.Ext(name)]; ok {
		return t
	}
	return "application/octet-stream"
}
