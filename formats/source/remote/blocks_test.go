package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"recfs/cache"
	"recfs/nodes"
)

// TestAbandonedRun reads what somebody else stopped waiting for before the request was over.
func TestAbandonedRun(t *testing.T) {
	content := strings.Repeat("content ", blockSize/8)
	began, first := make(chan bool), true
	f := &fakeS3{objects: map[string]string{"x": content}}
	tree := openFake(t, f, nil)
	tree.s.http.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/b/x" && first {
			first = false
			began <- true
			<-r.Context().Done()
			<-began
			return nil, r.Context().Err()
		}
		return http.DefaultTransport.RoundTrip(r)
	})
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { left <- readPart(ctx, tree, "x", 0, 10) }()
	<-began
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who left: %v", err)
	}
	time.AfterFunc(100*time.Millisecond, func() { began <- true })
	if err := readPart(t.Context(), tree, "x", 0, 10); err != nil && err != io.EOF {
		t.Errorf("who came then: %v", err)
	}
}

// TestLittleMemory reads more files in turn than memory holds requests of full size: what is asked
// for ahead does not come again and again.
func TestLittleMemory(t *testing.T) {
	const files, size = 8, 4 << 20
	f := &fakeS3{objects: map[string]string{}}
	for i := range files {
		f.objects[fmt.Sprint(i)] = strings.Repeat("content ", size/8)
	}
	tree := openFake(t, f, nil)
	c := cache.New(4<<20, nil)
	defer c.Close()
	s := newServer(tree.s.protocol, tree.s.client, c, Options{TTL: time.Hour})
	var open []io.ReaderAt
	for name := range f.objects {
		file, err := s.Tree("").Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		open = append(open, readerAt(func(p []byte, off int64) (int, error) { return file.ReadAt(t.Context(), p, off) }))
	}
	p := make([]byte, 128<<10)
	for off := int64(0); off < size; off += int64(len(p)) {
		for _, r := range open {
			if n, err := r.ReadAt(p, off); n < len(p) || string(p[:8]) != "content " {
				t.Fatal(n, err)
			}
		}
	}
	if came := s.Bytes.Load(); came > 3*files*size {
		t.Errorf("%d bytes came for %d", came, files*size)
	}
}

type readerAt func(p []byte, off int64) (int, error)

func (f readerAt) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// TestUntil asks for four parts of a file at a time from the start for a reader that goes on to a
// place, and for nothing behind that.
func TestUntil(t *testing.T) {
	const off, size = 1 << 20, 24 << 20
	content := strings.Repeat("content ", 4<<20)
	f := &fakeS3{objects: map[string]string{"x.map": content}}
	tree := openFake(t, f, nil)
	var flying sync.WaitGroup
	var asked atomic.Int64
	flying.Add(4)
	tree.s.http.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path != "/b/" && asked.Add(1) <= 4 {
			flying.Done()
			flying.Wait()
		}
		return http.DefaultTransport.RoundTrip(r)
	})
	file, err := tree.Open(t.Context(), "x.map")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got, err := io.ReadAll(nodes.Reader(t.Context(), nodes.SectionContent(file, off, size)))
	if err != nil || string(got) != content[off:off+size] {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if came := tree.s.fetches.bytes.Load(); came != size || asked.Load() != size/maxRun/blockSize {
		t.Errorf("%d bytes came for %d, in %d requests", came, size, asked.Load())
	}
	if tree.s.has(tree.s.objectOf(t, "x.map").block(off / blockSize)) {
		t.Error("what was read at first is in memory still")
	}
}

// TestPass asks for as much as it may once it begins, although the header was read before, and
// leaves the first block in memory for what names the content.
func TestPass(t *testing.T) {
	const block, part, size = 256 << 10, 4 << 20, 24 << 20
	f := &fakeS3{objects: map[string]string{"x.map": strings.Repeat("content ", size/8)}}
	tree := openFake(t, f, nil)
	file, err := tree.Open(t.Context(), "x.map")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	read := func(ctx context.Context, off, n int64) {
		if _, err := file.ReadAt(ctx, make([]byte, n), off); err != nil {
			t.Error(err)
		}
	}
	read(t.Context(), 0, 100)
	for off, ctx := int64(0), nodes.Until(t.Context(), math.MaxInt64); off < size; off += block {
		read(ctx, off, block)
	}
	read(t.Context(), 0, 100)
	want := []string{"LIST x.map", "GET x.map bytes=0-262143"}
	for at := block; at < size; at += part {
		want = append(want, fmt.Sprintf("GET x.map bytes=%d-%d", at, min(at+part, size)-1))
	}
	if diff := cmp.Diff(want, f.requests(), cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Error(diff)
	}
}

func (s *Server) objectOf(t *testing.T, key string) object {
	t.Helper()
	found, err := s.find(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return found.object
}
