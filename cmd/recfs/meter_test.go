package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// A screen keeps what is drawn on it. It is safe for the drawing goroutine and the test.
type screen struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(p)
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

// lastLine is what the screen shows: what came after the last return to the start of the line, but
// for what moves no cursor.
func (s *screen) lastLine() string {
	parts := strings.Split(s.text(), "\r")
	return parts[len(parts)-1]
}

// A meter tells how many recordings of all are done, the rate and the time left, and is there again
// after something was printed.
func TestMeter(t *testing.T) {
	var s screen
	m := newMeter(&s, "checking")
	m.draw(&s)
	m.finish(1, 100)
	m.change(m.show)
	if line := s.lastLine(); !strings.Contains(line, "checking 1 recording ") {
		t.Errorf("%q before all is known", line)
	}
	m.change(func() { m.all, m.counted = amount{4, 1000}, true })
	m.during(t.Context(), 500, func() {
		m.onRead(9000)
		m.file()
		m.traffic = func() (int64, int64) { return 52, 1 << 20 }
		m.print(func() { fmt.Fprintln(&s, "a problem") })
		want := regexp.MustCompile(`^checking 1/4 recordings, 1 file, 52 requests, 1 MiB +49% .*\(\d.*/s\) \[\d+s:\d+s\]`)
		if line := s.lastLine(); !want.MatchString(line) {
			t.Errorf("%q, want %s", line, want)
		}
		if !strings.Contains(s.text(), "\x1b[2K\ra problem\n") {
			t.Errorf("no line of its own for what was printed: %q", s.text())
		}
	})
	m.finish(2, 400)
	m.change(m.show)
	if line := s.lastLine(); !strings.Contains(line, "4/4 recordings") {
		t.Errorf("%q at the end", line)
	}
	m.close()
	if !strings.HasSuffix(s.text(), "\x1b[2K\r") {
		t.Errorf("%q is left behind", s.lastLine())
	}
	if far := m.far(); far != "4 of 4 recordings" {
		t.Errorf("%q", far)
	}
}

// On a pipe nothing is drawn.
func TestMeterOnPipe(t *testing.T) {
	var s screen
	m := newMeter(&s, "checking")
	m.finish(1, 100)
	m.print(func() { io.WriteString(&s, "a problem\n") })
	m.close()
	if s.text() != "a problem\n" || m.far() != "1 recording" {
		t.Errorf("%q, %s", s.text(), m.far())
	}
}

// TestClaims counts two recordings of a tar that says more of them than there can be.
func TestClaims(t *testing.T) {
	var m meter
	m.finish(1, math.MaxInt64)
	if m.finish(1, math.MaxInt64); m.done != (amount{2, math.MaxInt64}) {
		t.Error(m.done)
	}
}

// What the meter counts is what the work does.
func TestAmount(t *testing.T) {
	setCacheHome(t)
	a, err := readFlags(newFlagSet("")).open(&env{stdout: io.Discard, stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	m := newMeter(&screen{}, "indexing")
	m.draw(&screen{})
	defer m.close()
	_ = a.measured(context.Background(), m, []string{samples + "/nethack", samples + "/hcrp/tiny.hcrp/ticks"}, everything, func() {})
	if m.counted {
		t.Error("a part of a recording is counted")
	}
	all := a.amount(t.Context(), []string{samples + "/nethack"}, func(f found) bool { return f.isRecording })
	with := a.amount(t.Context(), []string{samples + "/nethack"}, everything)
	if all.recordings < 2 || all.bytes < 1000 || with.recordings != all.recordings || with.bytes < all.bytes {
		t.Errorf("%v, with other files %v", all, with)
	}
}
