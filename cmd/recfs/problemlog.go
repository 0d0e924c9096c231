package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"recfs/formats"
)

const maxLoggedProblems = 10000

// A problemLog is a log handler that remembers warnings and errors, on their way to another one.
type problemLog struct {
	slog.Handler
	attrs []slog.Attr
	*problemLines
}

type problemLines struct {
	mu    sync.Mutex
	text  bytes.Buffer
	known map[[3]string]bool // by path, message and reason
}

func newProblemLog(next slog.Handler) *problemLog {
	return &problemLog{Handler: next, problemLines: &problemLines{known: map[[3]string]bool{}}}
}

func (l *problemLog) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || l.Handler.Enabled(ctx, level)
}

func (l *problemLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		l.remember(r)
	}
	if !l.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return l.Handler.Handle(ctx, r)
}

func (l *problemLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &problemLog{l.Handler.WithAttrs(attrs), append(l.attrs[:len(l.attrs):len(l.attrs)], attrs...), l.problemLines}
}

func (l *problemLog) WithGroup(name string) slog.Handler {
	return &problemLog{l.Handler.WithGroup(name), l.attrs, l.problemLines}
}

// A loggedProblem is a line of .recfs/problems.jsonl.
type loggedProblem struct {
	Time    time.Time `json:"time"` // when it was met first
	Path    string    `json:"path,omitempty"`
	Format  string    `json:"format,omitempty"`
	Offset  *int64    `json:"offset,omitempty"`
	Message string    `json:"message"`
	Reason  string    `json:"reason,omitempty"`
}

// remember keeps what a record tells.
func (l *problemLog) remember(r slog.Record) {
	line := loggedProblem{Time: r.Time, Message: r.Message}
	add := func(a slog.Attr) bool {
		switch a.Key {
		case "path":
			line.Path = a.Value.String()
		case "format":
			line.Format = a.Value.String()
		case "err":
			line.Reason = a.Value.String()
			if err, ok := a.Value.Any().(error); ok {
				if e := (*formats.Error)(nil); errors.As(err, &e) {
					line.Offset, line.Reason = &e.Offset, e.Err.Error()
				}
			}
		}
		return true
	}
	for _, a := range l.attrs {
		add(a)
	}
	r.Attrs(add)

	l.add(line)
}

// add keeps a problem unless it is known or there are too many.
func (l *problemLines) add(p loggedProblem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := [3]string{p.Path, p.Message, p.Reason}
	if l.known[key] || len(l.known) == maxLoggedProblems {
		return
	}
	l.known[key] = true
	e := json.NewEncoder(&l.text)
	e.SetEscapeHTML(false)
	_ = e.Encode(p) // into memory, of plain values
}

// lines returns what is remembered, one JSON object a line.
func (l *problemLines) lines() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.text.Bytes())
}

func (l *problemLines) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.known)
}
