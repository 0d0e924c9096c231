package main

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// A moment is a flag value: a date, a time, or how long before now.
type moment struct{ time.Time }

func (m *moment) Set(s string) error {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02", "2006-01", "2006"} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			m.Time = t
			return nil
		}
	}
	if d, err := parseSpan(s); err == nil {
		m.Time = time.Now().Add(-d)
		return nil
	}
	return errors.New("not a time like 2026-11-21, 2026-11-21T18:00:00Z, 36h or 7d")
}

func (m *moment) String() string {
	if m.IsZero() {
		return ""
	}
	return m.Format(time.RFC3339)
}

func (m *moment) Type() string { return "time" }

// A span is a flag value: a length of time.
type span struct {
	time.Duration
	given bool
}

func (s *span) Set(text string) error {
	d, err := parseSpan(text)
	*s = span{d, err == nil}
	return err
}

func (s *span) String() string {
	if !s.given {
		return ""
	}
	return s.Duration.String()
}

func (s *span) Type() string { return "time" }

func parseSpan(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		const day, most = 24 * time.Hour, math.MaxInt64 / (24 * time.Hour)
		if n, err := strconv.ParseUint(days, 10, 32); err == nil && time.Duration(n) <= most {
			return time.Duration(n) * day, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, nil
	}
	return 0, errors.New("not a length of time like 90s, 36h or 7d")
}
