package web

import (
	"context"
	"encoding/base64"
	"errors"
	iofs "io/fs"
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
	name := "."
	if at != "" {
		name = at[:len(at)-1]
		for part := range strings.SplitSeq(name, "/") {
			if !isName(part) {
				return nil
			}
		}
	}
	way, err := l.t.find(ctx, name)
	if refused := (*refusal)(nil); errors.As(err, &refused) || err == nil && way.Last().Dir == nil || errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	rest, ok := strings.CutPrefix(after, at)
	if !ok && after > at { // all keys that begin with at are before it
		return nil
	}
	if !ok {
		rest = ""
	}
	err = l.folder(ctx, way, at, l.prefix[len(at):], rest)
	if err == errFull {
		l.truncated = true
		err = nil
	}
	return err
}

// A name is one in a folder.
type name struct {
	text string
	dir  bool
	link bool
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
	dir, n, err := l.t.snapshot(ctx, way.Last().Dir)
	if err != nil {
		return l.passing(ctx, err)
	}
	f := folder{l: l, way: way, dir: dir, at: at, begin: begin, after: after}
	if at == "" {
		if f.extra, err = l.unlisted(ctx, dir, begin); err != nil {
			return err
		}
	}
	return f.walk(ctx, n)
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
		err := l.t.within(ctx, func(ctx context.Context) error {
			if _, err := dir.Find(ctx, text); err == nil {
				return iofs.ErrNotExist // it is listed
			}
			e, err := nodes.Child(ctx, l.t.root.Dir, text)
			if err == nil {
				found = append(found, name{text: text, dir: e.Dir != nil, i: unlisted})
			}
			return err
		})
		if err := l.passing(ctx, err); err != nil {
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
	extra     []name // that are not listed, sorted
	postponed []name // folders that come after what follows them in the tree, each a prefix of the next
}

// walk visits the n names of the directory that may have keys after f.after.
func (f *folder) walk(ctx context.Context, n int) error {
	first, _, _ := strings.Cut(f.after, "/")
	from, err := f.seek(ctx, n, max(first, f.begin))
	if err != nil {
		return f.l.passing(ctx, err)
	}
	if err := f.earlier(ctx, first); err != nil {
		return err
	}
	for i := from; i < n; i++ {
		next, ok, err := f.name(ctx, i)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if !strings.HasPrefix(next.text, f.begin) {
			break
		}
		for len(f.extra) > 0 && f.extra[0].text < next.text {
			if err := f.next(ctx, f.extra[0]); err != nil {
				return err
			}
			f.extra = f.extra[1:]
		}
		if err := f.next(ctx, next); err != nil {
			return err
		}
	}
	for _, x := range f.extra {
		if err := f.next(ctx, x); err != nil {
			return err
		}
	}
	return f.flush(ctx, "")
}

// seek returns the index of the first of n names that is text or later.
func (f *folder) seek(ctx context.Context, n int, text string) (i int, err error) {
	err = f.l.t.within(ctx, func(ctx context.Context) error {
		i, err = search(ctx, f.dir, n, text)
		return err
	})
	return i, err
}

// earlier postpones the folders before the name first that come after it in the order of keys.
func (f *folder) earlier(ctx context.Context, first string) error {
	for end := 1; end < len(first); end++ {
		if first[end] >= '/' {
			continue
		}
		i := 0
		err := f.l.t.within(ctx, func(ctx context.Context) (err error) {
			i, err = f.dir.Find(ctx, first[:end])
			return err
		})
		if err == nil {
			if before, ok, err := f.name(ctx, i); err != nil {
				return err
			} else if ok && before.dir && before.text == first[:end] {
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
	err = f.l.t.within(ctx, func(ctx context.Context) error {
		text, mode, err := nodes.AppendName(ctx, f.dir, nil, i)
		n = name{string(text), mode.IsDir(), mode == iofs.ModeSymlink, i}
		return err
	})
	if err != nil {
		return n, false, f.l.passing(ctx, err)
	}
	return n, f.at != "" || !f.l.t.hides(n.text), nil
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

// flush visits the postponed folders whose keys are before one; "": all.
func (f *folder) flush(ctx context.Context, before string) error {
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
		l.prefixes = append(l.prefixes, commonPrefix{f.at + key})
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
	err = l.t.within(nodes.Listing(ctx), func(ctx context.Context) error {
		var e nodes.Entry
		switch {
		case n.link:
			way, err = nodes.FollowWay(ctx, l.t.root, path.Join(f.way.Path(), n.text))
			return err
		case n.i == unlisted:
			e, err = nodes.Child(ctx, l.t.root.Dir, n.text)
		default:
			e, err = f.dir.At(ctx, n.i)
		}
		way = nodes.Way{Entries: append(slices.Clip(f.way.Entries), e.Inherit(f.way.Last().Attr))}
		return err
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

// measure returns the size and the ETag of a file; unsized if it is not to be made or cannot be.
func (t *tree) measure(ctx context.Context, way nodes.Way, makes bool) (size int64, tag string, err error) {
	size = unsized
	err = t.within(nodes.Listing(ctx), func(ctx context.Context) error {
		f := way.Last().File
		if !makes && !isMeasured(ctx, f) {
			return nil
		}
		n, err := f.Size(ctx)
		if err != nil {
			return err
		}
		tag, err = t.tag(ctx, way, s3Mark)
		if err == nil {
			size = n
		}
		return err
	})
	if isPassing(ctx, err) {
		return unsized, "", err
	}
	return size, tag, nil
}
