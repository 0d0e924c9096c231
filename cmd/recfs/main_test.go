package main

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

// An interrupted command says so once, and takes nothing it did not get to for damage.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, line := range [][]string{{"check"}, {"ls", "-R"}, {"tree"}, {"index"}, {"info"}} {
		var stdout, stderr bytes.Buffer
		args := append(line[1:], "--cache-disk=0", samples)
		err := commandNamed(line[0]).execute(ctx, &env{stdout: &stdout, stderr: &stderr}, args)
		if !errors.Is(err, errInterrupted) {
			t.Errorf("%s: error %v", line[0], err)
		}
		if bytes.Contains(stdout.Bytes(), []byte("context")) || bytes.Contains(stderr.Bytes(), []byte("context")) {
			t.Errorf("%s prints\n%s%s", line[0], &stdout, &stderr)
		}
	}
}
