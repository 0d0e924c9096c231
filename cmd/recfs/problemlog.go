package main

import (
	"bytes"
	"errors"
	"log/slog"
	"sync"
	"time"

	"recfs/formats"
)

const maxLoggedProblems = 10000

// A problemLog keeps the problems that were logged, each once, as .recfs/problems.jsonl shows them.
type problemLog struct {
	mu    sync.Mutex
	text  bytes.Buffer
	known map[[3]string]bool // by path, message and reason
}

// A loggedProblem is a line of .recfs/problems.jsonl.
type loggedProblem struct {
	Time    time.Time `json:"time"` // when it was met first
	Path    string    `json:"path,omitempty"`
	PathHex string    `json:"path_hex,omitempty"` // if the path is not UTF-8
	Format  string    `json:"format,omitempty"`
	Offset  *int64    `json:"offset,omitempty"`
	Message string    `json:"message"`
	Reason  string    `json:"reason,omitempty"`
}

// loggedProblemOf returns what a record tells, and the attributes of its logger.
func loggedProblemOf(r slog.Record, attrs []slog.Attr) loggedProblem {
	p := loggedProblem{Time: r.Time, Message: r.Message}
	for _, a := range attrs {
		p.set(a)
	}
	r.Attrs(func(a slog.Attr) bool {
		p.set(a)
		return true
	})
	return p
}

// set takes over an attribute, if it has a place in p.
func (p *loggedProblem) set(a slog.Attr) {
	switch a.Key {
	case "path":
		p.Path = a.Value.String()
		p.PathHex = formats.HexOf(p.Path)
	case "format":
		p.Format = a.Value.String()
	case "err":
		p.Reason = a.Value.String()
		err, _ := a.Value.Any().(error)
		if e, ok := errors.AsType[*formats.Error](err); ok {
			p.Offset, p.Reason = &e.Offset, e.Err.Error()
		}
	}
}

// add keeps a problem unless it is known or there are too many.
func (l *problemLog) add(p loggedProblem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := [3]string{p.Path, p.Message, p.Reason}
	if l.known[key] || len(l.known) == maxLoggedProblems {
		return
	}
	l.known[key] = true
	_ = writeJSON(&l.text, p) // into memory, of plain values
}

// lines returns what is kept, one JSON object a line.
func (l *problemLog) lines() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.text.Bytes())
}

func (l *problemLog) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.known)
}
