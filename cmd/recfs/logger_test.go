package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What is logged after the log was rotated goes into a new file.
func TestLogRotation(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be moved")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	handler, closeLog, err := (&logFlags{file: "log"}).open(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer closeLog()
	t.Chdir("/") // as a mount in the background does
	log, name := slog.New(handler), filepath.Join(dir, "log")
	log.Error("one")
	log.Error("two")
	if err := os.Rename(name, name+".1"); err != nil {
		t.Fatal(err)
	}
	log.Error("three")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	log.Error("four")
	for file, want := range map[string][]string{name + ".1": {"one", "two"}, name: {"four"}} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n != len(want) {
			t.Errorf("%d lines in %s", n, file)
		}
		for _, message := range want {
			if !strings.Contains(string(text), "msg="+message) {
				t.Errorf("%q is not in %s:\n%s", message, file, text)
			}
		}
	}
}
