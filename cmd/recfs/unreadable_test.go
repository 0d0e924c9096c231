//go:build unix

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
	all := readSamples(t)
	if !withoutRights(t) {
		return
	}
	newMap, tiny := all[0], all[2]
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
	must(t, os.WriteFile("a/shut.map", newMap, 0))
	must(t, os.Chmod("a/closed", 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "a/closed"), 0o755) })
	for _, name := range []string{"find", "check", "index", "info", "ls -R", "tree", "tree --json", "export --table events tables", "cp -r"} {
		var stdout, stderr bytes.Buffer
		args := append(strings.Fields("recfs "+name), "--cache-disk=0", "a")
		if strings.HasPrefix(name, "cp") || strings.HasPrefix(name, "export") {
			args = append(args, "out")
		}
		if code := run(&env{stdout: &stdout, stderr: &stderr}, args); code != exitFailed {
			t.Errorf("%s: exit code %d", name, code)
		}
		told := &stderr
		if name == "check" {
			told = &stdout
		}
		for _, shut := range []string{"a/closed", "a/shut.map"} {
			if n := strings.Count(told.String(), shut+": permission denied\n"); n != 1 {
				t.Errorf("%s told of %s %d times:\n%s%s", name, shut, n, &stdout, &stderr)
			}
		}
		if all := stdout.String() + stderr.String(); name != "cp -r" && !strings.Contains(all, "x.hcrp") && !strings.Contains(all, "1 recording") {
			t.Errorf("%s did not go on:\n%s", name, all)
		}
	}
}

// So does one whose arguments are patterns that lead there.
func TestUnreadablePattern(t *testing.T) {
	tiny := readSamples(t)[2]
	if !withoutRights(t) {
		return
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"a/closed/b/x.hcrp", "a/open/b/x.hcrp"} {
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(t, os.WriteFile(name, tiny, 0o644))
	}
	must(t, os.Chmod("a/closed", 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "a/closed"), 0o755) })
	for _, pattern := range []string{"a/*/b/*.hcrp", "a/*/*/x.hcrp", "a/closed/*/x.hcrp"} {
		var out bytes.Buffer
		if code := run(&env{stdout: &out, stderr: &out}, []string{"recfs", "check", "--cache-disk=0", pattern}); code != exitFailed || !strings.Contains(out.String(), ": permission denied\n") {
			t.Errorf("%s: exit code %d\n%s", pattern, code, &out)
		}
	}
}

// An export does not take for empty what it may not read of an earlier one: rows of recordings that
// are gone are there alone.
func TestExportUnreadable(t *testing.T) {
	tiny := readSamples(t)[2]
	if !withoutRights(t) {
		return
	}
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("a", 0o755))
	for _, name := range []string{"a/x.hcrp", "a/y.hcrp"} {
		must(t, os.WriteFile(name, tiny, 0o644))
	}
	export := func() (code int, told string) {
		var out bytes.Buffer
		code = run(&env{stdout: &out, stderr: &out}, []string{"recfs", "export", "--cache-disk=0", "--table=markers", "tables", "a", "out"})
		return code, out.String()
	}
	if code, told := export(); code != exitOK {
		t.Fatal(code, told)
	}
	must(t, os.Remove("a/y.hcrp"))
	for shut, stays := range map[string]string{"out/recordings.parquet": "out/recordings.parquet", "out/hcrp/markers/y.hcrp.parquet": "out/hcrp/markers.parquet"} {
		before, err := os.ReadFile(stays)
		must(t, err)
		must(t, os.Chmod(shut, 0))
		if code, told := export(); code != exitFailed || !strings.Contains(told, shut+": permission denied\n") {
			t.Errorf("%s: exit code %d\n%s", shut, code, told)
		}
		must(t, os.Chmod(shut, 0o644))
		if after, err := os.ReadFile(stays); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s: %s is another one, %v", shut, stays, err)
		}
	}
}
