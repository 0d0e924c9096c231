package remote

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"net/url"
	"path"
	"strings"
)

// A Ref is a URL of a source, taken apart.
type Ref struct {
	Base string // the server: "s3://BUCKET" or "https://HOST"
	Key  string // behind the slash, decoded, without one at its end
	Dir  bool   // the URL has a slash at its end
}

// ParseURL takes the URL of a source apart. Its error says nothing that could be a secret.
func ParseURL(name string) (r Ref, err error) {
	if rest, ok := strings.CutPrefix(name, "s3://"); ok {
		bucket, key, _ := strings.Cut(rest, "/")
		if bucket == "" || strings.ContainsAny(bucket, "@:?#") {
			return r, fmt.Errorf("s3: not the name of a bucket; a source is s3://BUCKET/PREFIX")
		}
		return Ref{"s3://" + bucket, strings.TrimSuffix(key, "/"), key == "" || strings.HasSuffix(key, "/")}, nil
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
	key := strings.TrimPrefix(u.Path, "/")
	return Ref{u.Scheme + "://" + u.Host, strings.TrimSuffix(key, "/"), key == "" || strings.HasSuffix(key, "/")}, nil
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
