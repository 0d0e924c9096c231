package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recfs/formats/catalogue"
	"recfs/nodes"
)

// An interrupted command says so once, and takes nothing it did not get to for damage.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	far := map[string]string{
		"check": "interrupted: 0 recordings, 0 B read: 0 problems so far; another run starts from the beginning",
		"index": "interrupted: 0 recordings indexed; nothing was kept, as there is no cache on disk",
	}
	for _, line := range [][]string{{"check"}, {"ls", "-R"}, {"tree"}, {"index"}, {"info"}} {
		var stdout, stderr bytes.Buffer
		args := append(line[1:], "--cache-disk=0", samples)
		err := commands().named(line[0]).execute(ctx, &env{stdout: &stdout, stderr: &stderr}, args)
		if !errors.Is(err, errInterrupted) {
			t.Errorf("%s: error %v", line[0], err)
		} else if want := cmp.Or(far[line[0]], "interrupted"); err.Error() != want {
			t.Errorf("%s: %q, want %q", line[0], err, want)
		}
		if bytes.Contains(stdout.Bytes(), []byte("context")) || bytes.Contains(stderr.Bytes(), []byte("context")) {
			t.Errorf("%s prints\n%s%s", line[0], &stdout, &stderr)
		}
	}
}

// endless is a file that interrupts who reads it.
type endless struct{ cancel func() }

func (e endless) Size() int64 { return 1 << 50 }

func (e endless) ReadAt(_ context.Context, p []byte, _ int64) (int, error) {
	e.cancel()
	return len(p), nil
}

// A copy of a large file ends when it is interrupted.
func TestInterruptedCopy(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	file := nodes.Stream(1<<50, func(context.Context) (nodes.Content, error) { return endless{cancel}, nil })
	if err := copyFile(ctx, io.Discard, file); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// The catalogue of a mount is read no further once the command is interrupted.
func TestInterruptedCatalogue(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, catalogue.Name), []byte(strings.Repeat("{}\n", 3)), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var errs []error
	mountSummaries(ctx, dir, func(_ catalogue.Summary, err error) bool {
		cancel()
		errs = append(errs, err)
		return true
	})
	if len(errs) != 2 || errs[0] != nil || !errors.Is(errs[1], context.Canceled) {
		t.Errorf("errors %v", errs)
	}
}
