package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
)

// logFlags say what is logged and where.
type logFlags struct {
	level logLevel
	file  string
}

// A logLevel is a flag value.
type logLevel struct{ slog.Level }

func (l *logLevel) Set(s string) error {
	if l.UnmarshalText([]byte(s)) != nil {
		return errors.New("not debug, info, warn or error")
	}
	return nil
}

func (l *logLevel) Type() string { return "level" }

func (l *logFlags) register(flags *pflag.FlagSet) {
	l.level.Level = slog.LevelError
	flags.Var(&l.level, "log-level", "log messages of this `LEVEL` and above: debug, info, warn or error (default: warn for mount, else error)")
	flags.Lookup("log-level").DefValue = ""
	flags.StringVar(&l.file, "log-file", "", "append the log to `FILE` instead of stderr; opened again when it was moved away")
}

// open returns the log and what closes its file.
func (l *logFlags) open(stderr io.Writer) (*logHandler, func(), error) {
	w, closeLog := stderr, func() {}
	if l.file != "" {
		f, err := openLogFile(l.file)
		if err != nil {
			return nil, nil, fmt.Errorf("log file: %w", err)
		}
		w, closeLog = f, func() { f.Close() }
	}
	return newLogHandler(slog.NewTextHandler(w, &slog.HandlerOptions{Level: l.level.Level})), closeLog, nil
}

// A logFile is appended to. When it was moved away or removed, as log rotation does, the next line
// makes it anew. The handler that writes to it does so for one line at a time.
type logFile struct {
	*os.File
	path string
}

func openLogFile(name string) (*logFile, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &logFile{f, path}, nil
}

func (l *logFile) Write(line []byte) (int, error) {
	if !l.inPlace() {
		if next, err := openLogFile(l.path); err == nil {
			l.File.Close()
			l.File = next.File
		}
	}
	return l.File.Write(line)
}

// inPlace reports whether the open file still has its name.
func (l *logFile) inPlace() bool {
	open, err := l.Stat()
	if err != nil {
		return true
	}
	there, err := os.Stat(l.path)
	return err == nil && os.SameFile(open, there)
}
