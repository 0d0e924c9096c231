package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pythonBlock is a block of Python in a document, and the module that it asks with.
var pythonBlock = regexp.MustCompile("(?ms)^```python\n(?:import|from) (\\w+).*?^```$")

// TestDocumentsPython runs the blocks of Python in the cookbook, which ask Spark, Polars and
// pyarrow about the sample archive: mounted, exported and merged. What they print stands there in
// comments.
func TestDocumentsPython(t *testing.T) {
	if testing.Short() || !canMount() {
		t.Skip("mounts the sample archive and starts Spark")
	}
	text, err := os.ReadFile("../../docs/cookbook.md")
	must(t, err)
	blocks := pythonBlock.FindAllStringSubmatch(string(text), -1)
	if want := strings.Count(string(text), "```python\n"); len(blocks) != want || want == 0 {
		t.Fatalf("%d blocks of Python ask with a module, of %d", len(blocks), want)
	}
	mnt := filepath.Join(t.TempDir(), "m")
	t.Cleanup(func() { unmountBelow(filepath.Dir(mnt)) })
	for i, prefix := range lakes(t, mnt) {
		for _, block := range blocks {
			text := strings.ReplaceAll(block[0], docMount+"/tables", prefix)
			t.Run(fmt.Sprint(block[1], i), func(t *testing.T) { runPython(t, block[1], text, mnt) })
		}
	}
}

// runPython runs a block of a document and compares what it prints with its comments.
func runPython(t *testing.T, module, block, mnt string) {
	python := cmp.Or(os.Getenv("RECFS_PYTHON"), "python3")
	if err := exec.Command(python, "-c", "import "+module).Run(); err != nil {
		t.Skipf("%s has no %s: %v", python, module, err)
	}
	if _, err := exec.LookPath("java"); err != nil && module == "pyspark" {
		t.Skip(err)
	}
	program := strings.TrimSuffix(strings.TrimPrefix(block, "```python\n"), "```")
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
}
