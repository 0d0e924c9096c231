package remote

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"recfs/nodes"
)

// TestNoTags reads what has no ETag, and tells a replaced file of the same size by its time, which
// not every server looks at.
func TestNoTags(t *testing.T) {
	modified := fakeTime
	tree := openSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("If-Unmodified-Since")
		http.ServeContent(w, r, "", modified, strings.NewReader(strings.Repeat("0123456789", 100_000)))
	}))
	file, err := tree.Open(t.Context(), "x.map")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.ReadAt(t.Context(), make([]byte, 10), 0); err != nil {
		t.Fatal(err)
	}
	modified = modified.Add(time.Second)
	if _, err := file.ReadAt(t.Context(), make([]byte, 10), 900_000); !errors.Is(err, nodes.ErrStale) {
		t.Errorf("replaced: %v", err)
	}
}

// TestBucketWithoutTags reads a bucket of which the listing has no ETags.
func TestBucketWithoutTags(t *testing.T) {
	var conditions []string
	f := &fakeS3{fault: func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/b/" {
			conditions = r.Header.Values("If-Match")
			http.ServeContent(w, r, "", fakeTime, strings.NewReader("content"))
			return true
		}
		if strings.HasSuffix(r.URL.Query().Get("prefix"), "/") {
			return false
		}
		_, _ = w.Write([]byte("<ListBucketResult><Contents><Key>x</Key><Size>7</Size></Contents></ListBucketResult>"))
		return true
	}}
	if err := readPart(t.Context(), openFake(t, f, nil), "x", 0, 7); err != nil || len(conditions) > 0 {
		t.Errorf("If-Match %q, %v", conditions, err)
	}
}

// TestShownOn shows what a walk listed to who looks at a folder while nobody answers, and names the
// thing that was asked for in the error of any other.
func TestShownOn(t *testing.T) {
	f := &fakeS3{objects: manyObjects()}
	tree := openFake(t, f, func(o *Options) { o.TTL = 20 * time.Millisecond })
	var log strings.Builder
	tree.s.log = slog.New(slog.NewTextHandler(&log, nil))
	if err := tree.Walk(t.Context(), "."); err != nil {
		t.Fatal(err)
	}
	before, answers := time.Now().Truncate(time.Millisecond), tree.s.http.Transport
	tree.s.http.Transport = roundTripper(func(*http.Request) (*http.Response, error) {
		return nil, &os.SyscallError{Syscall: "connect", Err: syscall.ECONNREFUSED}
	})
	for turn := tree.s.turn(); tree.s.turn() == turn; {
		time.Sleep(time.Millisecond) // the time to live goes by the clock
	}
	for _, dir := range []string{".", "2026", "2026/11"} {
		if info, err := tree.Stat(t.Context(), dir); err != nil || !info.Type.IsDir() {
			t.Errorf("%s: %v, %v", dir, info.Type, err)
		}
	}
	for _, name := range []string{"one", "two"} {
		_, err := tree.List(t.Context(), name)
		if want := "s3://b/" + name; !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if since := tree.s.Stats().Unreachable; since == nil || since.Before(before) || !strings.Contains(log.String(), "shown as they were") {
		t.Errorf("since %v: %s", since, &log)
	}
	tree.s.http.Transport = answers
	tree.s.outage.Store(nil) // as if its time was over
	for turn := tree.s.turn(); tree.s.turn() == turn; {
		time.Sleep(time.Millisecond)
	}
	if _, err := tree.List(t.Context(), "."); err != nil || tree.s.Stats().Unreachable != nil || !strings.Contains(log.String(), "renewed again") {
		t.Errorf("since %v, %v: %s", tree.s.Stats().Unreachable, err, &log)
	}
}

// TestBack ends an outage with the first answer, even if that is a refusal.
func TestBack(t *testing.T) {
	tree := openFake(t, &fakeS3{fault: func(w http.ResponseWriter, _ *http.Request) bool {
		refuse(w, http.StatusForbidden, "AccessDenied")
		return true
	}}, nil)
	tree.s.outage.Store(&outage{since: fakeTime, until: time.Now()})
	if _, err := tree.List(t.Context(), "."); !errors.Is(err, iofs.ErrPermission) {
		t.Errorf("%v", err)
	}
	if at := tree.s.Stats().Unreachable; at != nil {
		t.Errorf("unreachable since %s", at)
	}
}
