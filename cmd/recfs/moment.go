package main

import (
	"errors"
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
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			m.Time = time.Now().AddDate(0, 0, -n)
			return nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
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
