package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"recfs/nodes"
)

// What is logged after the log was rotated goes into a new file.
func TestLogRotation(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be moved")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	handler, _, closeLog, err := (&logFlags{file: "log"}).open(nil)
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

// The log has some of the failures of a damaged recording, .recfs/problems.jsonl has each of them.
func TestLogLimit(t *testing.T) {
	var text bytes.Buffer
	handler, _, closeLog, err := (&logFlags{level: slog.LevelWarn}).open(&text)
	if err != nil {
		t.Fatal(err)
	}
	defer closeLog()
	log := slog.New(handler)
	for i := range 100 {
		log.With("path", strconv.Itoa(i)).Warn("request failed", "err", io.ErrUnexpectedEOF)
	}
	log.With("path", "a").Warn("request failed", "err", nodes.SizeError(2, 1))
	for i := range 10 * logReasons {
		log.Warn("request failed", "err", fmt.Errorf("reason %d", i))
	}
	log.With("path", "not utf-8 \xff").Warn("something else")
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if len(lines) != 2*logPerPeriod+logReasons || !strings.Contains(lines[logPerPeriod-1], "left out") ||
		!strings.Contains(lines[logPerPeriod], "source has changed") || !strings.Contains(lines[len(lines)-1], "else") {
		t.Errorf("%d lines:\n%s", len(lines), &text)
	}
	problems, _ := handler.problemLines()
	if n := bytes.Count(problems, []byte("\n")); n != 102+10*logReasons {
		t.Errorf("%d problems, want one for each file and reason", n)
	}
	if want := `"path_hex":"` + hex.EncodeToString([]byte("not utf-8 \xff")); !bytes.Contains(problems, []byte(want)) {
		t.Errorf("no %s in %s", want, problems)
	}
}

// Without a system log a mount in the background has a file, which does not grow for ever.
func TestBackgroundLog(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	want := filepath.Join(dir, "recfs", "recfs.log")
	for range 2 {
		handler, place, closeLog, err := (&logFlags{background: true, socket: filepath.Join(dir, "none")}).open(nil)
		if err != nil || place != want {
			t.Fatalf("%s, %v", place, err)
		}
		slog.New(handler).Error("lost")
		closeLog()
		if b, err := os.ReadFile(want); err != nil || bytes.Count(b, []byte("msg=lost")) != 1 {
			t.Errorf("%s, %v", b, err)
		}
		if err := os.Truncate(want, maxOldLog+1); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(want + ".old"); err != nil || info.Size() != maxOldLog+1 {
		t.Errorf("the old log: %v", err)
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(want, "no directory"))
	_, place, closeLog, err := (&logFlags{background: true, socket: filepath.Join(dir, "none")}).open(io.Discard)
	if err != nil || !strings.HasPrefix(place, "nowhere: ") {
		t.Fatalf("%s, %v", place, err)
	}
	closeLog()
}
