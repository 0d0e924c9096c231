//go:build linux

package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"recfs/bench/internal/harness"
)

// The ways in which recfs serve shows a tree.
const (
	overHTTP   = "http"
	overS3     = "s3"
	overWebDAV = "webdav"
)

// unlistedNames are those that only the S3 endpoint lists in the root.
var unlistedNames = []string{"recordings.jsonl", "recordings.parquet", "tables"}

// A server shows the tree over one of the ways.
type server struct {
	over   string
	at     string // URL of the root, with a slash
	bucket string // URL of the bucket; "": it is not asked

	mu    sync.Mutex
	sizes map[string]int64 // as they are listed
}

// A served is a name in a directory of a server.
type served struct {
	name string
	dir  bool
}

// serve does work while recfs serves source.
func serve(ctx context.Context, p harness.Program, over, source string, work func(*server) error) error {
	if !slices.Contains([]string{overHTTP, overS3, overWebDAV}, over) {
		return fmt.Errorf("there is no way %q", over)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := l.Addr().String()
	l.Close()
	p.Flags = append([]string{"--webdav", "--s3-listen=" + addr}, p.Flags...)
	d, at, err := p.Serve(ctx, source)
	if err != nil {
		return err
	}
	s := &server{over: over, at: at, sizes: map[string]int64{}}
	if over == overS3 {
		s.bucket = "http://" + addr + "/recfs"
		s.at = s.bucket + "/"
	}
	return errors.Join(work(s), d.Stop())
}

// escaped is a path in a URL; "" is the root.
func escaped(rel string) string {
	if rel == "." {
		return ""
	}
	return strings.ReplaceAll(url.PathEscape(rel), "%2F", "/")
}

// ask returns the body of a reply, which has to be a success.
func ask(ctx context.Context, method, at, depth string) (*http.Response, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, at, nil)
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Depth", depth)
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %s", method, at, reply.Status, b)
	}
	return reply, b, err
}

// list returns the sorted names of a directory, and keeps the sizes that are told of files.
func (s *server) list(ctx context.Context, rel string) (all []served, err error) {
	add := func(name string, dir bool, size *int64) {
		all = append(all, served{name, dir})
		if size != nil {
			s.mu.Lock()
			s.sizes[path.Join(rel, name)] = *size
			s.mu.Unlock()
		}
	}
	switch s.over {
	case overS3:
		err = s.keys(ctx, rel, add)
	case overWebDAV:
		err = s.members(ctx, rel, add)
	default:
		err = s.lines(ctx, rel, add)
	}
	slices.SortFunc(all, func(a, b served) int { return strings.Compare(a.name, b.name) })
	return all, err
}

// folder is the URL of a directory.
func (s *server) folder(rel string) string {
	return strings.TrimSuffix(s.at+escaped(rel), "/") + "/"
}

// lines asks for a directory as lines of JSON.
func (s *server) lines(ctx context.Context, rel string, add func(string, bool, *int64)) error {
	for after := ""; ; {
		reply, b, err := ask(ctx, http.MethodGet, s.folder(rel)+"?format=json&limit=10000&after="+url.QueryEscape(after), "")
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(b)) {
			var l struct {
				Name, Type string
				Size       *int64
			}
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				return err
			}
			add(l.Name, l.Type == "dir", l.Size)
			after = l.Name
		}
		if reply.Header.Get("Link") == "" {
			return nil
		}
	}
}

// members asks for a directory by PROPFIND.
func (s *server) members(ctx context.Context, rel string, add func(string, bool, *int64)) error {
	_, b, err := ask(ctx, "PROPFIND", s.folder(rel), "1")
	if err != nil {
		return err
	}
	var list struct {
		Response []struct {
			Href string `xml:"href"`
			Prop struct {
				Length *int64 `xml:"getcontentlength"`
			} `xml:"propstat>prop"`
		} `xml:"response"`
	}
	if err := xml.Unmarshal(b, &list); err != nil || len(list.Response) == 0 {
		return fmt.Errorf("PROPFIND %s: %d responses, %w", rel, len(list.Response), err)
	}
	for _, r := range list.Response[1:] {
		href, err := url.PathUnescape(r.Href)
		if err != nil {
			return err
		}
		add(path.Base(href), strings.HasSuffix(href, "/"), r.Prop.Length)
	}
	return nil
}

// keys asks for the keys below a prefix.
func (s *server) keys(ctx context.Context, rel string, add func(string, bool, *int64)) error {
	prefix := rel + "/"
	if rel == "." {
		prefix = ""
	}
	for token := ""; ; {
		q := url.Values{"list-type": {"2"}, "delimiter": {"/"}, "prefix": {prefix}, "continuation-token": {token}}
		_, b, err := ask(ctx, http.MethodGet, s.bucket+"?"+q.Encode(), "")
		if err != nil {
			return err
		}
		var list struct {
			Contents []struct {
				Key  string
				Size int64
			}
			CommonPrefixes        []struct{ Prefix string }
			NextContinuationToken string
		}
		if err := xml.Unmarshal(b, &list); err != nil {
			return err
		}
		for _, c := range list.Contents {
			if prefix != "" || !slices.Contains(unlistedNames, c.Key) {
				add(path.Base(c.Key), false, &c.Size)
			}
		}
		for _, p := range list.CommonPrefixes {
			if name := path.Base(p.Prefix); prefix != "" || !slices.Contains(unlistedNames, name) {
				add(name, true, nil)
			}
		}
		if token = list.NextContinuationToken; token == "" {
			return nil
		}
	}
}

// read returns the size and the sum of a file. A size that was listed has to be that.
func (s *server) read(ctx context.Context, rel string) (size, sum string, err error) {
	reply, b, err := ask(ctx, http.MethodGet, s.at+escaped(rel), "")
	if err != nil {
		return unknown, unknown, err
	}
	s.mu.Lock()
	listed, ok := s.sizes[rel]
	s.mu.Unlock()
	if n := int64(len(b)); reply.ContentLength != n || ok && listed != n {
		return unknown, unknown, fmt.Errorf("%s: %d bytes, %d are announced and %d listed", rel, n, reply.ContentLength, listed)
	}
	return strconv.Itoa(len(b)), fmt.Sprintf("%x", sha256.Sum256(b)), nil
}

// mode is that of a name.
func (e served) mode() iofs.FileMode {
	if e.dir {
		return iofs.ModeDir
	}
	return 0
}
