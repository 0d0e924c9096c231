package teehistorian

import (
	"bytes"
	"testing"
	"time"
)

// TestStartTime reads the ways in which servers write when a game began.
func TestStartTime(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-21T00:26:01+0000":  "2026-11-21T00:26:01Z",
		"2026-11-21T00:26:01-0330":  "2026-11-21T03:56:01Z",
		"2017-12-01 20:15:00 +0100": "2017-12-01T19:15:00Z",
		"2026-11-21T00:26:01+01:00": "2026-11-20T23:26:01Z",
		"2026-11-21T00:26:01Z":      "2026-11-21T00:26:01Z",
		"2026-02-30T00:26:01+0000":  "",
		"":                          "",
	} {
		h, err := readHeader(bytes.NewReader(newWriter(map[string]any{"version": "2", "start_time": text}).b))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if start, ok := h.startTime(); ok {
			got = start.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
