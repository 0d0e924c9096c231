package fs

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"recfs/nodes"
)

func TestFS(t *testing.T) {
	fsys := New(t.Context(), soundTree())
	err := fstest.TestFS(fsys, "notes.txt", "a.recording/empty", "a.recording/raw", "a.recording/ticks/00000599.json", "live/x")
	if err != nil {
		t.Error(err)
	}
}

func TestFSUnlisted(t *testing.T) {
	fsys := New(t.Context(), sampleTree())
	for name, want := range map[string]string{
		"a.recording/states/00000007.json": "{\"tick\":7}\n",
		"a.recording/states/20.json":       "{\"tick\":20}\n",
	} {
		if b, err := iofs.ReadFile(fsys, name); string(b) != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", name, b, err, want)
		}
	}
	info, err := iofs.Stat(fsys, "a.recording/ticks/7.json")
	if err != nil {
		t.Fatal(err)
	}
	if info.Name() != "7.json" || info.Size() != 18 || !info.ModTime().Equal(sampleTime) {
		t.Errorf("stat: %v", info)
	}
}

func TestFSLinks(t *testing.T) {
	fsys := New(t.Context(), sampleTree())
	target, err := iofs.ReadLink(fsys, "link")
	if target != "../elsewhere/x" || err != nil {
		t.Errorf("ReadLink: %q, %v", target, err)
	}
	info, err := iofs.Lstat(fsys, "link")
	if err != nil || info.Mode() != iofs.ModeSymlink|0o777 || info.Size() != int64(len(target)) {
		t.Errorf("Lstat: %v, %v", info, err)
	}
	if _, err := iofs.ReadFile(fsys, "link"); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("a link that leaves the tree was followed: %v", err)
	}
	if _, err := iofs.ReadLink(fsys, "notes.txt"); !errors.Is(err, iofs.ErrInvalid) {
		t.Errorf("ReadLink of a file: %v", err)
	}
}

func TestFSErrors(t *testing.T) {
	fsys := New(t.Context(), sampleTree())
	for name, want := range map[string]error{
		"missing":             iofs.ErrNotExist,
		"notes.txt/x":         iofs.ErrNotExist,
		"a.recording/ticks/x": iofs.ErrNotExist,
		"/notes.txt":          iofs.ErrInvalid,
		"../notes.txt":        iofs.ErrInvalid,
	} {
		if _, err := fsys.Open(name); !errors.Is(err, want) {
			t.Errorf("open %q: %v, want %v", name, err, want)
		}
		if _, err := fsys.Stat(name); !errors.Is(err, want) {
			t.Errorf("stat %q: %v, want %v", name, err, want)
		}
	}
	for _, name := range []string{"damaged/broken", "damaged/nothing", "damaged/short"} {
		if b, err := iofs.ReadFile(fsys, name); err == nil {
			t.Errorf("%s: read %q, want an error", name, b)
		}
	}
	entries, err := iofs.ReadDir(fsys, "damaged")
	if len(entries) != 4 || err != nil {
		t.Errorf("listing of the damaged recording: %v, %v", entries, err)
	}
	if _, err := fsys.ReadDir("notes.txt"); err == nil {
		t.Error("a file was listed")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	slow := nodes.Func(func(ctx context.Context) ([]byte, error) { return nil, ctx.Err() })
	if _, err := New(ended, nodes.List(nodes.Entry{Name: "f", File: slow})).Open("f"); !errors.Is(err, context.Canceled) {
		t.Errorf("open after the end: %v", err)
	}
}

type closingFile struct {
	nodes.File
	closed *bool
}

type closingContent struct {
	nodes.Content
	closed *bool
}

func (f closingFile) Open(ctx context.Context) (nodes.Content, error) {
	c, err := f.File.Open(ctx)
	return closingContent{c, f.closed}, err
}

func (c closingContent) Close() error { *c.closed = true; return nil }

func TestFSCloses(t *testing.T) {
	closed := false
	fsys := New(t.Context(), nodes.List(nodes.Entry{Name: "f", File: closingFile{nodes.Bytes([]byte("x")), &closed}}))
	if _, err := iofs.ReadFile(fsys, "f"); err != nil || !closed {
		t.Errorf("read: %v, closed: %v", err, closed)
	}
}

func TestFileServer(t *testing.T) {
	server := httptest.NewServer(http.FileServerFS(New(t.Context(), sampleTree())))
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/a.recording/raw", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Range", "bytes=1000-1999")
	resp, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusPartialContent || string(b) != string(pattern(3000)[1005:2005]) {
		t.Errorf("range: %s, %d bytes, %v", resp.Status, len(b), err)
	}
}
