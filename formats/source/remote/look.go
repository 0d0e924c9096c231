package remote

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"recfs/nodes"
)

const (
	maxLooks   = 4  // single names of a folder that are asked for before its names are
	looksAhead = 16 // look-ups at a time of who goes through a listing that tells no sizes
	maxPassed  = 16 * looksAhead
)

// find returns what stands under a key, which is not that of the root.
func (s *Server) find(ctx context.Context, key string) (looked, error) {
	dir, name := splitKey(key)
	if s.isHidden(dir, name) {
		return looked{}, nil
	}
	turn := s.turn()
	l := s.known(dir, turn)
	if l == nil {
		if found, ok := s.looks.Peek(lookKey{key, turn}); ok {
			return found, nil
		}
	}
	singles, _ := s.singles.Get(dir)
	if l == nil && singles >= maxLooks && s.tellsAll() {
		var err error
		if l, err = s.lists.Get(ctx, listKey{dir: dir, turn: turn}); err != nil {
			return looked{}, err
		}
	}
	if l != nil {
		o, ok, sure := l.find(name)
		switch {
		case ok && o.size == sizeFolder:
			return looked{isDir: true}, nil
		case ok && sure && o.size != sizeUnknown:
			return looked{object: o, isFile: true}, nil
		case !ok && sure && s.tellsAll():
			return looked{}, nil
		case ok && sure:
			s.lookAhead(dir, name, l, turn)
		}
	}
	s.singles.Swap(dir, singles+1)
	found, err := s.looks.Get(ctx, lookKey{key, turn})
	if errors.Is(err, nodes.ErrUnavailable) {
		if before, ok := s.foundBefore(key); ok {
			s.shownOn(s.url(key), err)
			return before, nil
		}
	}
	return found, err
}

// lookAhead asks for what comes behind a name in a listing that tells no sizes, if somebody goes
// through the names: one shortly before it was asked for. Names with other extensions are passed
// over. A server that ends connections is not asked ahead, as many new ones at once are what such
// servers drop.
func (s *Server) lookAhead(dir, name string, l *listing, turn int64) {
	isKnown := func(k lookKey) bool {
		_, ok := s.looks.Peek(k)
		return ok
	}
	alike := func(step int) (keys []lookKey) {
		l.mu.RLock()
		defer l.mu.RUnlock()
		at, _ := l.search(name)
		for i := at + step; i >= 0 && i < l.sorted && max(i-at, at-i) < maxPassed && len(keys) < looksAhead-1; i += step {
			it := l.items[i]
			if key := (lookKey{dir + l.name(it), turn}); it.size == sizeUnknown && path.Ext(key.key) == path.Ext(name) {
				keys = append(keys, key)
			}
		}
		return keys
	}
	if s.closes.Load() || isKnown(lookKey{dir + name, turn}) || !slices.ContainsFunc(alike(-1), isKnown) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range alike(1) {
		if len(s.aheads) == looksAhead-1 {
			return
		}
		if s.aheads[k] || isKnown(k) {
			continue
		}
		s.aheads[k] = true
		go func() {
			_, _ = s.looks.Get(context.Background(), k) // who asks for it hears of the error
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.aheads, k)
		}()
	}
}

// foundBefore returns what stood under a key when it was asked for last, or its folder was listed.
func (s *Server) foundBefore(key string) (looked, bool) {
	dir, name := splitKey(key)
	if l := s.before(dir); l != nil {
		if o, ok, _ := l.find(name); ok && o.size != sizeUnknown {
			return looked{object: o, isFile: o.size >= 0, isDir: o.size == sizeFolder}, true
		}
	}
	turn, ok := s.latest.Get(key)
	if !ok {
		return looked{}, false
	}
	return s.looks.Peek(lookKey{key, turn})
}

// loadLook asks for one name. One with an extension is asked for as an object first, any other as a
// folder, so that most take one request.
func (s *Server) loadLook(ctx context.Context, k lookKey) (looked, int64, error) {
	cost := int64(len(k.key)) + 160
	_, name := splitKey(k.key)
	asFolder := func() (looked, error) {
		l, err := s.lists.Get(ctx, listKey{dir: k.key + "/", turn: k.turn})
		if errors.Is(err, iofs.ErrNotExist) {
			return looked{}, nil
		}
		return looked{isDir: err == nil && !l.isEmpty()}, err
	}
	folderFirst := s.tellsAll() && !strings.Contains(name, ".")
	if folderFirst {
		if found, err := asFolder(); err != nil || found.isDir {
			return found, cost, err
		}
	}
	found, err := s.look(ctx, k.key)
	if err == nil {
		s.renewed()
	}
	if err == nil && found.unsure && !folderFirst {
		var folder looked
		if folder, err = asFolder(); folder.isDir {
			found = folder
		}
	}
	if err == nil {
		s.latest.Swap(k.key, k.turn)
	}
	return found, cost, err
}

// A Ref is a URL of a source, taken apart.
type Ref struct {
	Base string // the server: "s3://BUCKET" or "https://HOST"
	Key  string // behind the slash, decoded, without one at its end
}

// ParseURL takes the URL of a source apart. Its error says nothing that could be a secret.
func ParseURL(name string) (r Ref, err error) {
	if rest, ok := strings.CutPrefix(name, "s3://"); ok {
		bucket, key, _ := strings.Cut(rest, "/")
		if bucket == "" || strings.ContainsAny(bucket, "@:?#") {
			return r, fmt.Errorf("s3: not the name of a bucket; a source is s3://BUCKET/PREFIX")
		}
		return Ref{"s3://" + bucket, strings.TrimSuffix(key, "/")}, nil
	}
	u, err := url.Parse(name)
	if err != nil {
		return r, errors.New("not a URL")
	}
	bare := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
	switch {
	case u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return r, fmt.Errorf("%s: no server", bare)
	case u.User != nil:
		return r, fmt.Errorf("%s: a user and a password come from the netrc, not from the URL", bare)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return r, fmt.Errorf("%s: a source has no query and no fragment", bare)
	}
	return Ref{u.Scheme + "://" + u.Host, strings.TrimSuffix(strings.TrimPrefix(u.Path, "/"), "/")}, nil
}

// Join returns the URL of what has a name in the folder of a URL, as ParseURL takes it.
func Join(name string, elem ...string) string {
	name = strings.TrimRight(name, "/")
	rest := path.Join("/", path.Join(elem...))[1:]
	if rest == "" {
		return name
	}
	if !strings.HasPrefix(name, "s3://") {
		rest = (&url.URL{Path: "/" + rest}).EscapedPath()[1:]
	}
	return name + "/" + rest
}

// Server returns the name of what a source is asked from, "BUCKET" or the URL of a web server.
func (r Ref) Server() (name string, isBucket bool) { return strings.CutPrefix(r.Base, "s3://") }

// A Place is what a key means: a file or all that lies in a folder, and a path in what that is
// shown as.
type Place struct {
	Dir    string // the folder, "" or with a slash at its end
	File   string // in it; "." is the folder itself
	Inside string // "." or a path below
}

// Locate finds what a key means: the longest part of it that is an object, or all of it if that is
// a folder. A part of which named says that its name is that of a recording is asked for first.
func (s *Server) Locate(ctx context.Context, key string, named func(name string) bool) (Place, error) {
	if key == "" {
		return Place{File: ".", Inside: "."}, nil
	}
	parts := strings.Split(key, "/")
	at := func(n int) Place {
		dir, file := splitKey(strings.Join(parts[:n], "/"))
		return Place{dir, file, path.Join(append([]string{"."}, parts[n:]...)...)}
	}
	for i, part := range parts {
		if !named(part) {
			continue
		}
		found, err := s.find(ctx, strings.Join(parts[:i+1], "/"))
		if err != nil || found.isFile {
			return at(i + 1), err
		}
	}
	for n := len(parts); n > 0; n-- {
		found, err := s.find(ctx, strings.Join(parts[:n], "/"))
		switch p := at(n); {
		case err != nil && !errors.Is(err, iofs.ErrNotExist):
			return p, err
		case found.isDir, found.isPage && s.isFolder(ctx, p.Dir+p.File+"/"):
			return Place{p.Dir + p.File + "/", ".", p.Inside}, nil
		case found.isFile:
			return p, nil
		}
	}
	if !s.tellsAll() && s.isFolder(ctx, key+"/") {
		return Place{key + "/", ".", "."}, nil
	}
	return Place{File: ".", Inside: path.Join(parts...)}, nil
}

// isFolder reports whether a web server has the page of a folder, to which the name without a slash
// need not lead.
func (s *Server) isFolder(ctx context.Context, dir string) bool {
	l, err := s.folder(ctx, dir)
	return err == nil && !l.isEmpty()
}

// NotFound returns the error of a URL under which there is nothing.
func (s *Server) NotFound(url string) error { return s.missing(url) }
