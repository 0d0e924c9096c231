package remote

import (
	"errors"
	"io"
	iofs "io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"recfs/cache"
)

// A shelfServer keeps what is put there, and knows conditions or does not.
type shelfServer struct {
	mu         sync.Mutex
	kept       map[string]string
	conditions bool
	puts       int
}

func (s *shelfServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch body, there := s.kept[r.URL.Path]; {
	case r.Method == http.MethodGet && there:
		_, _ = io.WriteString(w, body)
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusNotFound)
	case r.Header.Get("If-None-Match") != "" && !s.conditions:
		w.WriteHeader(http.StatusNotImplemented)
	case r.Header.Get("If-None-Match") != "" && there:
		w.WriteHeader(http.StatusPreconditionFailed)
	default:
		b, _ := io.ReadAll(r.Body)
		s.kept[r.URL.Path] = string(b)
		s.puts++
	}
}

// What is stored can be fetched, and stays as it is unless it is to be replaced.
func TestStore(t *testing.T) {
	for _, conditions := range []bool{true, false} {
		shelf := &shelfServer{kept: map[string]string{}, conditions: conditions}
		server := httptest.NewServer(shelf)
		defer server.Close()
		t.Setenv("AWS_ACCESS_KEY_ID", "test")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "testtest")
		s, err := OpenBucket("bucket", cache.New(1<<20, nil), Options{Endpoint: server.URL, Timeout: time.Hour, Requests: 4, TTL: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		put := func(text string, replace bool) {
			t.Helper()
			if err := s.Store(t.Context(), "v1/a b", strings.NewReader(text), int64(len(text)), replace); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Fetch(t.Context(), "v1/a b", 10); !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("what is not there: %v", err)
		}
		put("first", false)
		put("first", false)
		if b, err := s.Fetch(t.Context(), "v1/a b", 5); string(b) != "first" || err != nil {
			t.Errorf("%q, %v", b, err)
		}
		if b, err := s.Fetch(t.Context(), "v1/a b", 4); err == nil {
			t.Errorf("it is longer than 4 bytes: %q", b)
		}
		if conditions && shelf.puts != 1 {
			t.Errorf("%d times it was written", shelf.puts)
		}
		put("", true)
		if b, err := s.Fetch(t.Context(), "v1/a b", 5); len(b) != 0 || err != nil {
			t.Errorf("%q, %v", b, err)
		}
	}
}
