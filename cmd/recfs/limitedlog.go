package main

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	logPeriod    = 10 * time.Second
	logPerPeriod = 10 // records of one message
)

// A limitedLog is a log handler that passes on at most some records of each message in a period: a program that reads
// every file of a damaged recording must not fill the log.
type limitedLog struct {
	slog.Handler
	*logCounts
}

type logCounts struct {
	mu    sync.Mutex
	since time.Time
	by    map[string]int // records in the period, by message
}

func newLimitedLog(next slog.Handler) *limitedLog {
	return &limitedLog{next, &logCounts{by: map[string]int{}}}
}

func (l *limitedLog) Handle(ctx context.Context, r slog.Record) error {
	switch n := l.count(r); {
	case n > logPerPeriod:
		return nil
	case n == logPerPeriod:
		r = r.Clone()
		r.Add("note", "more of these are left out for a while")
	}
	return l.Handler.Handle(ctx, r)
}

func (l *limitedLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &limitedLog{l.Handler.WithAttrs(attrs), l.logCounts}
}

func (l *limitedLog) WithGroup(name string) slog.Handler {
	return &limitedLog{l.Handler.WithGroup(name), l.logCounts}
}

// count returns how many records of that message there were in this period, with r.
func (l *logCounts) count(r slog.Record) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Time.Sub(l.since) > logPeriod {
		l.since = r.Time
		clear(l.by)
	}
	l.by[r.Message]++
	return l.by[r.Message]
}
