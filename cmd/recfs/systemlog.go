//go:build unix

package main

import (
	"context"
	"io"
	"log/slog"
	"log/syslog"
)

// A systemLog hands each record to the handler for its severity.
type systemLog struct{ errors, warnings, infos, details slog.Handler }

// openSystemLog returns a handler that writes to the system log, which listens at a socket called
// path; "": where it usually does.
func openSystemLog(path string, opt *slog.HandlerOptions) (h slog.Handler, stop func(), err error) {
	network := "unixgram"
	if path == "" {
		network = ""
	}
	w, err := syslog.Dial(network, path, syslog.LOG_DAEMON|syslog.LOG_WARNING, "recfs")
	if err != nil {
		return nil, nil, err
	}
	text := slog.HandlerOptions{Level: opt.Level, ReplaceAttr: withoutTime}
	to := func(write func(string) error) slog.Handler { return slog.NewTextHandler(lineWriter(write), &text) }
	return &systemLog{to(w.Err), to(w.Warning), to(w.Info), to(w.Debug)}, func() { w.Close() }, nil
}

// withoutTime leaves out what the system log adds itself.
func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey) {
		return slog.Attr{}
	}
	return a
}

// A lineWriter writes each line with a function.
type lineWriter func(string) error

var _ io.Writer = lineWriter(nil)

func (w lineWriter) Write(line []byte) (int, error) {
	if err := w(string(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}

// of returns the handler for a level.
func (l *systemLog) of(level slog.Level) slog.Handler {
	switch {
	case level >= slog.LevelError:
		return l.errors
	case level >= slog.LevelWarn:
		return l.warnings
	case level >= slog.LevelInfo:
		return l.infos
	}
	return l.details
}

// Enabled, Handle, WithAttrs and WithGroup are those of slog.Handler.

func (l *systemLog) Enabled(ctx context.Context, level slog.Level) bool {
	return l.of(level).Enabled(ctx, level)
}

func (l *systemLog) Handle(ctx context.Context, r slog.Record) error {
	return l.of(r.Level).Handle(ctx, r)
}

func (l *systemLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return l.each(func(h slog.Handler) slog.Handler { return h.WithAttrs(attrs) })
}

func (l *systemLog) WithGroup(name string) slog.Handler {
	return l.each(func(h slog.Handler) slog.Handler { return h.WithGroup(name) })
}

func (l *systemLog) each(change func(slog.Handler) slog.Handler) *systemLog {
	return &systemLog{change(l.errors), change(l.warnings), change(l.infos), change(l.details)}
}
