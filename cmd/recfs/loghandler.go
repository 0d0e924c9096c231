package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

var _ slog.Handler = (*logHandler)(nil)

// A logHandler hands records on to another handler, at most some of each message and reason in a
// period: a program that reads every file of a damaged recording must not fill the log. Warnings
// and errors it keeps in problems, all of them, also where the level of the log leaves them out.
type logHandler struct {
	slog.Handler
	attrs    []slog.Attr // of the logger, not of the record
	limit    *logLimit
	problems *problemLog
}

func newLogHandler(next slog.Handler) *logHandler {
	return &logHandler{
		Handler: next, limit: &logLimit{by: map[logKey]int{}}, problems: &problemLog{known: map[[3]string]bool{}},
	}
}

func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || h.Handler.Enabled(ctx, level)
}

func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		h.problems.add(loggedProblemOf(r, h.attrs))
	}
	if !h.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	switch n := h.limit.count(r); {
	case n > logPerPeriod:
		return nil
	case n == logPerPeriod:
		r = r.Clone()
		r.Add("note", "more of these are left out for a while")
	}
	return h.Handler.Handle(ctx, r)
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	next.Handler, next.attrs = h.Handler.WithAttrs(attrs), append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)
	return &next
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	next := *h
	next.Handler = h.Handler.WithGroup(name)
	return &next
}

const (
	logPeriod    = 10 * time.Second
	logPerPeriod = 10 // records of one message and reason
	logReasons   = 64 // messages with their reasons; what more there are in a period are of the same reason
)

// A logLimit counts the records of each message and reason in the present period.
type logLimit struct {
	mu    sync.Mutex
	since time.Time
	by    map[logKey]int
}

// A logKey is what records have in common that say the same of several files.
type logKey struct{ message, reason string }

// logKeyOf returns that of a record. Its reason is the text of the innermost error, which names no
// file.
func logKeyOf(r slog.Record) logKey {
	k := logKey{message: r.Message}
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		for ok && err != nil {
			k.reason, err = err.Error(), errors.Unwrap(err)
		}
		return !ok
	})
	return k
}

// count returns how many records like r there were in this period, with r.
func (l *logLimit) count(r slog.Record) int {
	k := logKeyOf(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Time.Sub(l.since) > logPeriod {
		l.since = r.Time
		clear(l.by)
	}
	if l.by[k] == 0 && len(l.by) >= logReasons {
		k.reason = ""
	}
	l.by[k]++
	return l.by[k]
}
