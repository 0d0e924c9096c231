package nodes

import (
	"context"
	"time"
)

// A Clock tells which tick is the last one at or before a time.
type Clock struct {
	// Start returns the time of the first tick. The error is io/fs.ErrNotExist if the ticks have no
	// times.
	Start func(ctx context.Context) (time.Time, error)

	// Tick returns the last tick at or before t, which is not before the start. After the end of the
	// last tick the error is io/fs.ErrNotExist.
	Tick func(ctx context.Context, t time.Time) (int64, error)
}

// at returns the tick of a time as it is written in a name.
func (c Clock) at(ctx context.Context, text string) (int64, error) {
	if _, _, ok := ParseMoment(text); !ok {
		return 0, NotExist("find", text)
	}
	start, err := c.Start(ctx)
	if err != nil {
		return 0, err
	}
	t, _ := MomentFrom(text, start)
	if t.Before(start) || !HasDate(t) {
		return 0, NotExist("find", text)
	}
	return c.Tick(ctx, t)
}

// HasDate reports whether t lies in the years 1 to 9999.
func HasDate(t time.Time) bool {
	y := t.UTC().Year()
	return 1 <= y && y <= 9999
}

// ParseMoment reads a time as in 2026-11-21T18:30:05Z or 2026-11-21T18:30:05, both of UTC, or
// 18:30:05 and 18:30, which are times of a day: then day is false, and the time is one of the first
// day of the year 1. Seconds may have fractions.
func ParseMoment(text string) (t time.Time, day, ok bool) {
	for _, layout := range [...]string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true, true
		}
	}
	for _, layout := range [...]string{time.TimeOnly, "15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return time.Time{}.Add(t.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))), false, true
		}
	}
	return t, false, false
}

// MomentFrom reads a time as ParseMoment does: a time of day is the first from start on.
func MomentFrom(text string, start time.Time) (t time.Time, ok bool) {
	t, day, ok := ParseMoment(text)
	if !day && ok {
		midnight := start.UTC().Truncate(24 * time.Hour)
		if t = midnight.Add(t.Sub(time.Time{})); t.Before(start) {
			t = t.AddDate(0, 0, 1)
		}
	}
	return t, ok
}
