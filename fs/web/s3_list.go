package web

import (
	"context"
	"encoding/base64"
	"errors"
	iofs "io/fs"
	"math"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"recfs/nodes"
)

const (
	mostLooked = 100000           // names that are looked at for one page
	mostTime   = 20 * time.Second // that a page takes, if something was found
)

// errFull ends a listing that has more.
var errFull = errors.New("there is more")

// A lister makes a page of the keys of the bucket in the order of their bytes. A folder has the key
// of what is in it, so it comes where its name and a slash would: a.b is before a/x, although the
// tree has a before a.b.
type lister struct {
	t         *tree
	prefix    string
	delimited bool
	encoded   bool // keys are told percent-encoded
	owned     bool // objects are told with their owner
	max       int

	began     time.Time
	looked    int
	contents  []content
	prefixes  []commonPrefix
	last      string // key of all that were looked at
	truncated bool
}

// tokenOf returns the token that goes on after a key.
func tokenOf(key string) string { return base64.RawURLEncoding.EncodeToString([]byte("k" + key)) }

func keyOf(token string) (key string, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(b) == 0 || b[0] != 'k' {
		return "", false
	}
	return string(b[1:]), true
}

// list makes the page of the keys after one.
func (l *lister) list(ctx context.Context, after string) error {
	l.began = time.Now()
	if l.max == 0 {
		return nil
	}
	at := l.prefix[:strings.LastIndexByte(l.prefix, '/')+1] // the folder in which the prefix ends
	name, _, err := parsePath("/" + escape(at))
	if err != nil {
		return nil
	}
	way, err := l.t.find(ctx, name)
	if err == nil && way.Last().Dir == nil || err != nil && refusalOf(err).Status == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	rest, ok := strings.CutPrefix(max(after, at), at)
	if !ok { // all keys that begin with at are before it
		return nil
	}
	err = l.folder(ctx, way, at, l.prefix[len(at):], rest)
	if l.truncated = err == errFull; l.truncated {
		return nil
	}
	return err
}

// A name is one in a folder.
type name struct {
	text string
	dir  bool
	i    int // of the entry; [unlisted]: it opens and is not listed
}

const unlisted = -1

// key is what the name is in the order of keys.
func (n name) key() string {
	if n.dir {
		return n.text + "/"
	}
	return n.text
}

// folder adds the keys of a folder, whose names come behind at, from the first after one on.
func (l *lister) folder(ctx context.Context, way nodes.Way, at, begin, after string) error {
	dir, n, err := l.t.snapshot(ctx, way.Last().Dir, math.MaxInt)
	if err != nil {
		return l.passing(ctx, err)
	}
	f := folder{l: l, way: way, dir: dir, at: at, begin: begin, after: after}
	first, _, _ := strings.Cut(after, "/")
	from, err := made(ctx, l.t, func(ctx context.Context) (int, error) { return search(ctx, dir, n, max(first, begin)) })
	if err != nil {
		return l.passing(ctx, err)
	}
	if at == "" {
		if f.extra, err = l.unlisted(ctx, dir, begin); err != nil {
			return err
		}
	}
	if err := f.earlier(ctx, first); err != nil {
		return err
	}
	for i := from; i < n; i++ {
		next, ok, err := f.name(ctx, i)
		if ok && !strings.HasPrefix(next.text, begin) {
			break
		}
		if ok {
			err = f.next(ctx, next)
		}
		if err != nil {
			return err
		}
	}
	return f.flush(ctx, "")
}

// passing is err if it says nothing of what was asked for: what cannot be read is left out of a
// listing.
func (l *lister) passing(ctx context.Context, err error) error {
	if isPassing(ctx, err) || errors.Is(err, nodes.ErrStale) {
		return err
	}
	return nil
}

// unlistedNames are those of the root that a listing of keys has and one of the tree has not.
var unlistedNames = []string{"recordings.jsonl", "recordings.parquet", "tables"}

// unlisted returns which of them there are and begin so.
func (l *lister) unlisted(ctx context.Context, dir nodes.Dir, begin string) (found []name, err error) {
	for _, text := range unlistedNames {
		if !strings.HasPrefix(text, begin) {
			continue
		}
		e, err := made(ctx, l.t, func(ctx context.Context) (e nodes.Entry, err error) {
			if _, err := dir.Find(ctx, text); err == nil {
				return e, iofs.ErrNotExist // it is listed
			}
			return nodes.Child(ctx, l.t.Root.Dir, text)
		})
		if err == nil {
			found = append(found, name{text: text, dir: e.Dir != nil, i: unlisted})
		} else if err := l.passing(ctx, err); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// A folder is one whose names are walked over in the order of keys.
type folder struct {
	l         *lister
	way       nodes.Way
	dir       nodes.Dir
	at, begin string
	after     string
	extra     []name // that are not listed and come later, sorted
	postponed []name // folders that come after what follows them in the tree, each a prefix of the next
}

// earlier postpones the folders before the name first that come after it in the order of keys.
func (f *folder) earlier(ctx context.Context, first string) error {
	for end := 1; end < len(first); end++ {
		if first[end] >= '/' {
			continue
		}
		i, err := made(ctx, f.l.t, func(ctx context.Context) (int, error) { return f.dir.Find(ctx, first[:end]) })
		if err == nil {
			before, ok, err := f.name(ctx, i)
			if err != nil {
				return err
			}
			if ok && before.dir && before.text == first[:end] {
				f.postponed = append(f.postponed, before)
			}
		} else if err := f.l.passing(ctx, err); err != nil {
			return err
		}
	}
	return nil
}

// name returns that of entry i.
func (f *folder) name(ctx context.Context, i int) (n name, ok bool, err error) {
	n, err = made(ctx, f.l.t, func(ctx context.Context) (name, error) {
		text, mode, err := nodes.AppendName(ctx, f.dir, nil, i)
		return name{string(text), mode.IsDir(), i}, err
	})
	return n, err == nil && (f.at != "" || !f.l.t.hides(n.text)), f.l.passing(ctx, err)
}

// next takes a name in the order of the tree.
func (f *folder) next(ctx context.Context, n name) error {
	if err := f.flush(ctx, n.key()); err != nil {
		return err
	}
	if n.dir {
		f.postponed = append(f.postponed, n)
		return nil
	}
	return f.visit(ctx, n)
}

// flush visits what is not listed or was postponed and has a key before one; "": all of it.
func (f *folder) flush(ctx context.Context, before string) error {
	for len(f.extra) > 0 && (before == "" || f.extra[0].key() < before) {
		next := f.extra[0]
		f.extra = f.extra[1:]
		if err := f.next(ctx, next); err != nil {
			return err
		}
	}
	for len(f.postponed) > 0 {
		last := f.postponed[len(f.postponed)-1]
		if before != "" && last.key() > before {
			return nil
		}
		f.postponed = f.postponed[:len(f.postponed)-1]
		if err := f.visit(ctx, last); err != nil {
			return err
		}
	}
	return nil
}

// visit adds what has a name, if it is to be listed.
func (f *folder) visit(ctx context.Context, n name) error {
	l, key, rest := f.l, n.key(), ""
	switch {
	case !strings.HasPrefix(n.text, f.begin):
		return nil
	case n.dir && !l.delimited && strings.HasPrefix(f.after, key):
		rest = f.after[len(key):]
	case key <= f.after, n.dir && l.delimited && strings.HasPrefix(f.after, key):
		return nil
	}
	if l.full() {
		return errFull
	}
	l.looked++
	if n.dir && l.delimited {
		l.last = f.at + key
		l.prefixes = append(l.prefixes, commonPrefix{l.text(f.at + key)})
		return nil
	}
	way, ok, err := f.entry(ctx, n)
	if err != nil || !ok {
		return err
	}
	e := way.Last()
	switch {
	case n.dir && (!nodes.IsWhole(e) || strings.HasPrefix(l.prefix, f.at+key)):
		return l.folder(ctx, way, f.at+key, "", rest)
	case !n.dir && e.File != nil:
		l.last = f.at + n.text
		return l.addObject(ctx, f.at+n.text, way)
	}
	return nil
}

// full reports whether a page has no more room or took long enough. What was looked at and is not
// listed counts, too.
func (l *lister) full() bool {
	found := len(l.contents) + len(l.prefixes)
	return found >= l.max || l.last != "" && (l.looked >= mostLooked || time.Since(l.began) > mostTime)
}

// entry returns the way to what has a name. Of links only those to files are objects.
func (f *folder) entry(ctx context.Context, n name) (way nodes.Way, ok bool, err error) {
	l := f.l
	way, err = made(nodes.Listing(ctx), l.t, func(ctx context.Context) (way nodes.Way, err error) {
		if n.i != unlisted {
			e, err := f.dir.At(ctx, n.i)
			if err != nil || e.Link == "" {
				return nodes.Way{Entries: append(slices.Clip(f.way.Entries), e.Inherit(f.way.Last().Attr))}, err
			}
		}
		return nodes.FollowWay(ctx, l.t.Root, path.Join(f.way.Path(), n.text))
	})
	return way, err == nil, l.passing(ctx, err)
}

// makesSizes reports whether the sizes of files in the folder of a key are made if they have to be:
// if the prefix names the folder, or the table of which it has a part.
func (l *lister) makesSizes(key string) bool {
	at := key[:strings.LastIndexByte(key, '/')+1]
	if parts := strings.SplitAfterN(at, "/", 4); parts[0] == "tables/" && len(parts) == 4 {
		at = strings.Join(parts[:3], "")
	}
	return strings.HasPrefix(l.prefix, at)
}
