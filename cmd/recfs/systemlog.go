//go:build unix

package main

import (
	"io"
	"log/slog"
	"log/syslog"
	"strings"
)

// A systemLog writes each line of a slog.TextHandler with the severity of the level that it begins
// with.
type systemLog struct{ *syslog.Writer }

var _ io.Writer = systemLog{}

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
	withoutTime := func(groups []string, a slog.Attr) slog.Attr { // the system log adds it
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	return slog.NewTextHandler(systemLog{w}, &slog.HandlerOptions{Level: opt.Level, ReplaceAttr: withoutTime}), func() { w.Close() }, nil
}

func (l systemLog) Write(line []byte) (int, error) {
	level, text, _ := strings.Cut(strings.TrimPrefix(string(line), slog.LevelKey+"="), " ")
	write := l.Debug
	switch level {
	case slog.LevelError.String():
		write = l.Err
	case slog.LevelWarn.String():
		write = l.Warning
	case slog.LevelInfo.String():
		write = l.Info
	}
	return len(line), write(text)
}
