package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	iofs "io/fs"
	"net/url"
	"path"
	"strings"

	"recfs/fs/opened"
	"recfs/fs/web/page"
	"recfs/nodes"
)

// A tree is what is served.
type tree struct {
	*Options
	contents opened.Files[contentKey] // those that were read last
	site     *page.Site               // nil: there is none
}

func newTree(opt *Options) *tree {
	// Those who may work at a time read contents, and the clients of as many take the time to ask for
	// more.
	t := &tree{Options: opt, contents: opened.New[contentKey](2*opt.MaxRequests, contentsIdle, false)}
	if opt.Page != nil {
		t.site = page.New(page.Tree{
			Path: parsePath, Find: t.find, Within: t.within, Tag: func(ctx context.Context, way nodes.Way) (string, error) { return t.tag(ctx, way, "") },
			Status: func(err error) int { return refusalOf(err).Status },
			List:   opt.Page, DiffMaps: opt.DiffMaps,
		})
	}
	return t
}

// hides reports whether a name in the root is not there.
func (t *tree) hides(name string) bool { return name == t.Hidden || name == page.Name }

// within runs a part of a request that decodes something. It may begin again. A panic ends it as an
// error: of a reply of several ranges the goroutine is one of net/http.
func (t *tree) within(ctx context.Context, do func(context.Context) error) error {
	return t.Cache.Do(ctx, 0, func(ctx context.Context) (err error) {
		defer rescue(&err)
		return do(ctx)
	})
}

// made is within for what returns a value.
func made[T any](ctx context.Context, t *tree, do func(context.Context) (T, error)) (v T, err error) {
	err = t.within(ctx, func(ctx context.Context) error {
		v, err = do(ctx)
		return err
	})
	return v, err
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
	name, err = url.PathUnescape(rest)
	if err != nil || name == "." || !iofs.ValidPath(strings.ToValidUTF8(name, "_")) ||
		strings.Count(name, "/") > strings.Count(rest, "/") || strings.Contains(name, "\x00") {
		return "", false, errBadPath
	}
	return name, slash, nil
}

// find returns the way to what is called name.
func (t *tree) find(ctx context.Context, name string) (way nodes.Way, err error) {
	if first, _, _ := strings.Cut(name, "/"); t.hides(first) {
		return way, page.ErrMissing
	}
	return made(ctx, t, func(ctx context.Context) (nodes.Way, error) { return nodes.FollowWay(ctx, t.Root, name) })
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
	all := make([]byte, 0, 1024) // so many are not on the heap
	for _, part := range []string{t.Build, way.Path(), version} {
		all = append(append(all, part...), 0)
	}
	sum := sha256.Sum256(all)
	return `"` + hex.EncodeToString(sum[:16]) + mark + `"`, nil
}

// snapshot returns what a directory has now, and how many entries that is, or fewer if there are
// enough.
func (t *tree) snapshot(ctx context.Context, dir nodes.Dir, enough int) (now nodes.Dir, n int, err error) {
	err = t.within(ctx, func(ctx context.Context) error {
		if now, err = nodes.Snapshot(ctx, dir); err == nil {
			now, err = nodes.Resolve(ctx, now)
		}
		if err == nil {
			n, err = nodes.LenTo(ctx, now, enough)
		}
		return err
	})
	return now, n, err
}

// escape returns a path with all bytes percent-encoded but those that mean nothing in a URL.
func escape(name string) string { return ofPath.Replace(url.QueryEscape(name)) }

var ofPath = strings.NewReplacer("+", "%20", "%2F", "/")

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
