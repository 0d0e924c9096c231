package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every command that looks through an archive says what it could not read, and goes on.
func TestUnreadable(t *testing.T) {
	tiny, err := os.ReadFile(filepath.Join(samples, "hcrp/tiny.hcrp"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"a/closed/x.hcrp", "a/open/x.hcrp"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, tiny, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod("a/closed", 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "a/closed"), 0o755) })
	if _, err := os.ReadDir("a/closed"); err == nil {
		t.Skip("this user may read everything")
	}
	for _, name := range []string{"find", "check", "index", "info", "ls -R", "tree"} {
		var stdout, stderr bytes.Buffer
		args := append(strings.Fields("recfs "+name), "--cache-disk=0", "a")
		if code := run(&env{stdout: &stdout, stderr: &stderr}, args); code != exitFailed {
			t.Errorf("%s: exit code %d", name, code)
		}
		told := &stderr
		if name == "check" {
			told = &stdout
		}
		if n := strings.Count(told.String(), "a/closed: permission denied\n"); n != 1 {
			t.Errorf("%s told %d times:\n%s%s", name, n, &stdout, &stderr)
		}
		if all := stdout.String() + stderr.String(); !strings.Contains(all, "x.hcrp") && !strings.Contains(all, "1 recording,") {
			t.Errorf("%s did not go on:\n%s", name, all)
		}
	}
}
