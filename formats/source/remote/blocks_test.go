package remote

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
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
