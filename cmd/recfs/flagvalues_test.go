package main

import (
	"testing"
	"time"
)

func TestMoment(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2026":                      time.Date(2026, 1, 1, 0, 0, 0, 0, time.Local),
		"2026-11":                   time.Date(2026, 11, 1, 0, 0, 0, 0, time.Local),
		"2026-11-21":                time.Date(2026, 11, 21, 0, 0, 0, 0, time.Local),
		"2026-11-21 18:30":          time.Date(2026, 11, 21, 18, 30, 0, 0, time.Local),
		"2026-11-21T18:30:05":       time.Date(2026, 11, 21, 18, 30, 5, 0, time.Local),
		"2026-11-21T18:30:05+09:00": time.Date(2026, 11, 21, 9, 30, 5, 0, time.UTC),
		"36h":                       time.Now().Add(-36 * time.Hour),
		"7d":                        time.Now().Add(-7 * 24 * time.Hour),
	} {
		if m, err := parseMoment(text); err != nil || m.Sub(want).Abs() > time.Minute {
			t.Errorf("%s: %v, %v, want %v", text, m, err, want)
		}
	}
	for _, text := range []string{"", "yesterday", "-1h", "2026-13-01", "d", "1.5d", "-7d"} {
		if _, err := parseMoment(text); err == nil {
			t.Errorf("%q is a time", text)
		}
	}
}

func TestSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "7d": 168 * time.Hour, "106751d": 106751 * 24 * time.Hour,
	} {
		if s, err := parseSpan(text); err != nil || s != want {
			t.Errorf("%s: %v, %v, want %v", text, s, err, want)
		}
	}
	for _, text := range []string{"", "5", "-1s", "-1d", "d", "106752d", "99999999999999d"} {
		if _, err := parseSpan(text); err == nil {
			t.Errorf("%q is a length of time", text)
		}
	}
}
