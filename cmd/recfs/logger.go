package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/pflag"
)

// logFlags say what is logged and where.
type logFlags struct {
	level slog.Level
	file  string
}

func (l *logFlags) register(flags *pflag.FlagSet) {
	flags.TextVar(&l.level, "log-level", slog.LevelError, "log messages of this `LEVEL` and above: debug, info, warn or error (default: warn for mount, else error)")
	flags.Lookup("log-level").DefValue = ""
	flags.StringVar(&l.file, "log-file", "", "append the log to `FILE` instead of stderr")
}

// open returns the log and what closes its file.
func (l *logFlags) open(stderr io.Writer) (*problemLog, func(), error) {
	w, closeLog := stderr, func() {}
	if l.file != "" {
		f, err := os.OpenFile(l.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, fmt.Errorf("log file: %w", err)
		}
		w, closeLog = f, func() { f.Close() }
	}
	return newProblemLog(slog.NewTextHandler(w, &slog.HandlerOptions{Level: l.level})), closeLog, nil
}
