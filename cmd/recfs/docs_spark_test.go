package main

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocumentsSpark runs the blocks of Python in the cookbook, which ask Spark about the mounted sample archive. What they
// print stands there in comments.
func TestDocumentsSpark(t *testing.T) {
	if testing.Short() || !canMount() {
		t.Skip("mounts the sample archive and starts Spark")
	}
	python := cmp.Or(os.Getenv("RECFS_PYTHON"), "python3")
	if err := exec.Command(python, "-c", "import pyspark").Run(); err != nil {
		t.Skipf("%s has no pyspark: %v", python, err)
	}
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip(err)
	}
	text, err := os.ReadFile("../../docs/cookbook.md")
	must(t, err)
	mnt := filepath.Join(t.TempDir(), "m")
	t.Cleanup(func() { unmountBelow(filepath.Dir(mnt)) })
	if out, err := recfs(t, "mount", samples, mnt).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, rest, found := strings.Cut(string(text), "```python\n")
	if !found {
		t.Fatal("the cookbook has no Python")
	}
	for found {
		var program string
		program, rest, _ = strings.Cut(rest, "```\n")
		var want strings.Builder
		for line := range strings.Lines(program) {
			if comment, ok := strings.CutPrefix(line, "# "); ok {
				want.WriteString(comment)
			}
		}
		cmd := exec.CommandContext(t.Context(), python, "-c", strings.ReplaceAll(program, docMount, mnt))
		got, err := cmd.Output()
		if err != nil || string(got) != want.String() {
			t.Errorf("%s\nprints\n%s%v, want\n%s", program, got, err, want.String())
		}
		_, rest, found = strings.Cut(rest, "```python\n")
	}
}
