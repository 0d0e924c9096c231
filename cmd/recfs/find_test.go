package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// On a terminal find offers to make the indexes without which it cannot judge, and then prints what
// it has not printed yet.
func TestFindOffersIndex(t *testing.T) {
	for answer, want := range map[string]string{"n\n": "a.teehistorian", "": "a.teehistorian", "y\n": "a.teehistorian b.teehistorian"} {
		setCacheHome(t)
		dir := t.TempDir()
		content, err := os.ReadFile(filepath.Join(samples, "teehistorian/reload-20.1.teehistorian"))
		if err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		writeNew(t, filepath.Join(dir, "a.teehistorian"), content)
		if err := commands().named("index").execute(t.Context(), &env{stdout: &stdout, stderr: &stdout}, []string{dir}); err != nil {
			t.Fatal(err)
		}
		stdout.Reset()
		writeNew(t, filepath.Join(dir, "b.teehistorian"), append(content, 0)) // no copy, whose index would be there
		e := &env{stdout: &stdout, stderr: &stderr, terminal: true, answers: strings.NewReader(answer)}
		err = commands().named("find").execute(t.Context(), e, []string{"--player", "alice", dir})
		if err != nil && !errors.Is(err, errReported) {
			t.Error(err)
		}
		if got := strings.Join(strings.Fields(strings.ReplaceAll(stdout.String(), dir+"/", "")), " "); got != want {
			t.Errorf("answer %q: %q, want %q", answer, got, want)
		}
		if n := strings.Count(stderr.String(), "without an index; 'recfs find --index' makes them first\nMake them now? [y/N] "); n != 1 {
			t.Errorf("answer %q: asked %d times: %s", answer, n, &stderr)
		}
	}
}
