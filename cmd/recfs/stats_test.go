//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestInterruptedStats ends at once although the mount does not answer.
func TestInterruptedStats(t *testing.T) {
	dir := t.TempDir()
	silent := filepath.Join(dir, controlName, "stats.json")
	if err := errors.Join(os.Mkdir(filepath.Dir(silent), 0o700), syscall.Mkfifo(silent, 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	done := make(chan error, 1)
	var out bytes.Buffer
	go func() {
		done <- commands().named("stats").execute(ctx, &env{stdout: &out, stderr: &out}, []string{dir})
	}()
	answer, err := os.OpenFile(silent, os.O_RDWR, 0) // who waits for it gets on in the end
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Close()
	select {
	case err := <-done:
		if !errors.Is(err, errInterrupted) {
			t.Errorf("%v, %s", err, &out)
		}
	case <-time.After(time.Minute):
		t.Error("it waits for the mount")
	}
}
