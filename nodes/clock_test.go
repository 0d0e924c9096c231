package nodes_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"time"

	"recfs/nodes"
)

// TestClock opens ticks of 10 s, of which those that are multiples of 3 are listed, by times.
func TestClock(t *testing.T) {
	began := time.Date(2026, 11, 21, 23, 59, 30, 0, time.UTC)
	const last = 12
	clock := nodes.Clock{
		Start: func(context.Context) (time.Time, error) { return began, nil },
		Tick: func(_ context.Context, at time.Time) (int64, error) {
			if n := int64(at.Sub(began) / (10 * time.Second)); n <= last {
				return n, nil
			}
			return 0, fs.ErrNotExist
		},
	}
	series := func(clock nodes.Clock, listed bool) *nodes.Series {
		s := &nodes.Series{
			Clock: clock, AsListed: listed, Width: 4, Suffix: ".x", N: last/3 + 1, Number: func(i int) int64 { return int64(3 * i) },
			File: func(int64) nodes.File { return nodes.Bytes(nil) },
		}
		if !listed {
			s.Extra = func(_ context.Context, n int64) (bool, error) { return n <= last, nil }
		}
		return s
	}
	all, listed := series(clock, false), series(clock, true)
	list := func(context.Context) (nodes.Dir, error) { return listed, nil }
	unlisted := &nodes.Series{Width: 4, Suffix: ".x", File: func(int64) nodes.File { return nodes.Bytes(nil) }}
	lazy := &nodes.LazySeries{Unlisted: unlisted, List: list}
	unmade := &nodes.LazySeries{Unlisted: series(nodes.Clock{}, false), List: list, Made: func() (nodes.Dir, bool) { return nil, false }}
	timeless := series(nodes.Clock{Start: func(context.Context) (time.Time, error) { return time.Time{}, fs.ErrNotExist }}, false)
	first := series(nodes.Clock{
		Start: func(context.Context) (time.Time, error) { return time.Time{}, nil },
		Tick:  func(context.Context, time.Time) (int64, error) { return 0, nil },
	}, false)
	for _, c := range []struct{ name, all, listed string }{
		{"@2026-11-21T23:59:30Z.x", "0000.x", "0000.x"},
		{"@2026-11-21T23:59:29.999Z.x", "", ""},
		{"@2026-11-22T00:00:15Z.x", "0004.x", "0003.x"},
		{"@2026-11-22T00:00:19.99.x", "0004.x", "0003.x"},
		{"@2026-11-22T01:00:20+01:00.x", "0005.x", "0003.x"},
		{"@2026-11-22T00:01.x", "0009.x", "0009.x"},
		{"@23:59:45.x", "0001.x", "0000.x"},
		{"@00:00.x", "0003.x", "0003.x"},
		{"@00:01:30.x", "0012.x", "0012.x"},
		{"@00:01:40.x", "", ""},
		{"@23:59:29.x", "", ""}, // of the day after
		{"@2026-11-22.x", "", ""},
		{"@24:00.x", "", ""},
		{"@.x", "", ""},
		{"@00:00", "", ""},
		{"0006.x", "0006.x", "0006.x"},
	} {
		for _, of := range []struct {
			what string
			dir  nodes.Dir
			want string
		}{{"all", all, c.all}, {"listed", listed, c.listed}, {"lazy", lazy, c.listed}, {"not made yet", unmade, c.listed}} {
			e, err := nodes.Child(t.Context(), of.dir, c.name)
			if e.Name != of.want || (err == nil) != (of.want != "") || err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s in %s: %q, %v, want %q", c.name, of.what, e.Name, err, of.want)
			}
		}
		if e, err := nodes.Child(t.Context(), first, "@0001-01-01T00:00:00Z.x"); err != nil || e.Name != "0000.x" {
			t.Errorf("the first moment: %q, %v", e.Name, err)
		}
		if e, err := nodes.Child(t.Context(), timeless, c.name); c.name[0] == '@' && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s without times: %q, %v", c.name, e.Name, err)
		}
	}
}
