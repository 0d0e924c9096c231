package remote

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"net/http"
	"time"

	"recfs/cache"
	"recfs/nodes"
)

// Fetch returns all that is at a key, of limit bytes at most, in one request: nobody looks first
// whether it is there. The error is io/fs.ErrNotExist if it is not.
func (s *Server) Fetch(ctx context.Context, key string, limit int64) (b []byte, err error) {
	at := s.url(key)
	err = s.ask(ctx, question{
		url: at, count: &s.Get,
		build: func(ctx context.Context) (*http.Request, error) { return s.get(ctx, object{key: key}, 0, 0) },
		take: func(resp *http.Response) error {
			b, err = io.ReadAll(io.LimitReader(resp.Body, limit+1))
			if int64(len(b)) > limit {
				return strange(at, "the answer has more than %d bytes", limit)
			}
			return err
		},
	})
	if errors.Is(err, nodes.ErrStale) { // there is no version to be another one
		err = &Error{at, "no such object", iofs.ErrNotExist}
	}
	return b, err
}

// Names returns the names in a folder, of which the key ends with a slash.
func (s *Server) Names(ctx context.Context, dir string) (list []string, err error) {
	all, err := s.all(ctx, dir)
	if err != nil {
		return nil, err
	}
	for i := range all.Len() {
		name, _ := all.At(i)
		list = append(list, name)
	}
	return list, nil
}

// Open opens the object that is at a key.
func (s *Server) Open(ctx context.Context, key string) (cache.BehindFile, error) {
	found, err := s.find(ctx, key)
	if err != nil {
		return nil, err
	}
	if !found.isFile {
		return nil, &Error{s.url(key), "no such object", iofs.ErrNotExist}
	}
	return storedFile{&file{s: s, o: found.object}}, nil
}

// A storedFile is an object that Store put there.
type storedFile struct{ *file }

// Size implements cache.BehindFile.
func (f storedFile) Size() int64 { return f.o.size }

// isStored reports whether the listing of its folder, which may be of a while ago, has a key, and
// with a tag if that is not "".
func (s *Server) isStored(ctx context.Context, key, tag string) bool {
	dir, name := splitKey(key)
	l, err := s.all(ctx, dir)
	if err != nil {
		return false
	}
	o, ok, _ := l.find(name)
	return ok && o.size >= 0 && (tag == "" || o.tag == tag)
}

// slowest is how many bytes a second are sent at least.
const slowest = 256 << 10

// Store puts the size bytes of body at a key of a bucket, unless something is there and is not to
// be replaced. The error of another kind of server is errors.ErrUnsupported.
func (s *Server) Store(ctx context.Context, key string, body io.ReaderAt, size int64, replace bool) error {
	b, ok := s.protocol.(*bucket)
	if !ok {
		return &Error{s.url(key), "a web server takes no files", errors.ErrUnsupported}
	}
	sum, tag := sha256.New(), md5.New()
	if _, err := io.Copy(io.MultiWriter(sum, tag), io.NewSectionReader(body, 0, size)); err != nil {
		return fmt.Errorf("reading what is to be stored: %w", err)
	}
	same := ""
	if replace {
		same = fmt.Sprintf("\"%x\"", tag.Sum(nil))
	}
	if s.isStored(ctx, key, same) {
		return nil
	}
	q := question{
		url: s.url(key), count: &s.Put, patience: time.Duration(size/slowest) * time.Second,
		build: func(ctx context.Context) (*http.Request, error) {
			req, err := b.request(ctx, key, nil)
			if err != nil {
				return nil, err
			}
			req.Method, req.ContentLength, req.Body = http.MethodPut, size, io.NopCloser(io.NewSectionReader(body, 0, size))
			if size == 0 {
				req.Body = http.NoBody
			}
			req.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(sum.Sum(nil)))
			if !replace {
				req.Header.Set("If-None-Match", "*")
			}
			return req, nil
		},
		take: func(*http.Response) error { return nil },
	}
	err := s.ask(ctx, q)
	switch {
	case replace:
	case errors.Is(err, nodes.ErrStale): // it is there
		err = nil
	case errors.Is(err, nodes.ErrRemote): // the server knows no conditions
		return s.Store(ctx, key, body, size, true)
	}
	return err
}
