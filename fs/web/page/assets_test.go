package page

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// forbidden is what would make markup, code or style of text, or load what is of others.
var forbidden = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|\bstyle=|<style|cssText|setAttribute\("style"|` +
	`\bon[a-z]+="|javascript:|srcdoc|DOMParser|createContextualFragment|@import|https?://(?:[^w]|w[^w]|ww[^w])|<script>`)

// TestAssets keeps sources short, small and plain.
func TestAssets(t *testing.T) {
	all, _ := loadAssets()
	packed := 0
	for name, a := range all {
		packed += len(a.packed)
		checkSource(t, name, a.plain)
		if assetTypes[filepath.Ext(name)] == "" {
			t.Errorf("%s has no type", name)
		}
	}
	checkSource(t, "list.html", []byte(listHTML))
	checkSource(t, "play.html", []byte(playHTML))
	if t.Logf("%d bytes compressed", packed); packed > 60<<10 {
		t.Errorf("all assets are %d bytes compressed", packed)
	}
}

func checkSource(t *testing.T, name string, source []byte) {
	if n := bytes.Count(source, []byte("\n")); n > 400 {
		t.Errorf("%s has %d lines", name, n)
	}
	for i, line := range strings.Split(string(source), "\n") {
		if found := forbidden.FindString(line); found != "" {
			t.Errorf("%s:%d has %s", name, i+1, found)
		}
	}
}

// TestForbidden tells what the test of assets finds.
func TestForbidden(t *testing.T) {
	for _, bad := range []string{"e.innerHTML = x", `eval("1")`, `<p style="x">`, "document.write(x)", `<a onclick="x()">`, "https://example.org/x.js", "<script>"} {
		if !forbidden.MatchString(bad) {
			t.Errorf("%s is let in", bad)
		}
	}
	for _, good := range []string{`"http://www.w3.org/2000/svg"`, "e.style.width = x", "e.textContent = x", "// evaluated"} {
		if forbidden.MatchString(good) {
			t.Errorf("%s is not let in", good)
		}
	}
}

// TestScripts runs the tests of what only computes by node.
func TestScripts(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	tests, err := filepath.Glob("testdata/*.test.mjs")
	if err != nil || len(tests) == 0 {
		t.Fatal(tests, err)
	}
	script := "" // one process for all
	for _, name := range tests {
		script += fmt.Sprintf("import './%s'\n", name)
	}
	cmd := exec.CommandContext(t.Context(), node, "--input-type=module", "-e", script)
	cmd.Env = append(os.Environ(), "TZ=UTC")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
