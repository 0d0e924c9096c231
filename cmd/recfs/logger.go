package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"recfs/formats"
)

// logFlags say what is logged and where.
type logFlags struct {
	level      slog.Level
	file       string
	background bool   // stderr will go away
	socket     string // of the system log; "": where it usually is
}

func (l *logFlags) register(flags *pflag.FlagSet) {
	l.level = slog.LevelError
	flags.Func("log-level", "log messages of this `LEVEL` and above: debug, info, warn or error (default: warn for mount, else error)", func(text string) error {
		if l.level.UnmarshalText([]byte(text)) != nil {
			return errors.New("not debug, info, warn or error")
		}
		return nil
	})
	offer(flags, "log-level", "debug", "info", "warn", "error")
	flags.StringVar(&l.file, "log-file", "", "append the log to `FILE`, which is opened again when it was moved away (default: stderr; for a mount in the background the system log, or ~/.local/state/recfs/recfs.log where there is none)")
	flags.Lookup("log-file").DefValue = ""
}

// open returns the log, where it goes, and what closes that.
func (l *logFlags) open(stderr io.Writer) (log *logHandler, place string, stop func(), err error) {
	opt := &slog.HandlerOptions{Level: l.level}
	onStderr := newLogHandler(slog.NewTextHandler(stderr, opt))
	if l.file == "" && !l.background {
		return onStderr, "stderr", func() {}, nil
	}
	if l.file == "" {
		if system, stop, err := openSystemLog(l.socket, opt); err == nil {
			return newLogHandler(system), "syslog", stop, nil
		}
	}
	f, err := l.openFile()
	if err != nil && l.file == "" { // a mount without a log is better than none
		return onStderr, "nowhere: " + plain(err), func() {}, nil
	}
	if err != nil {
		return nil, "", nil, fmt.Errorf("log file: %w", err)
	}
	return newLogHandler(slog.NewTextHandler(f, opt)), f.path, func() { f.Close() }, nil
}

// openFile opens the file that the flags name, or that of mounts in the background.
func (l *logFlags) openFile() (*logFile, error) {
	if l.file != "" {
		return openLogFile(l.file)
	}
	name, err := stateFile("recfs.log")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Stat(name); err == nil && info.Size() > maxOldLog {
		_ = os.Rename(name, name+".old") // else it grows on
	}
	return openLogFile(name)
}

// maxOldLog is how large the log of mounts in the background is when the next one begins a new
// file.
const maxOldLog = 4 << 20

// stateFile is the path of a file in the directory for what programs remember of this user.
func stateFile(name string) (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "recfs", name), nil
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
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NONBLOCK, 0o600) // no fifo that nobody reads is waited for
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

var _ slog.Handler = (*logHandler)(nil)

// A logHandler hands records on to another handler, at most some of each message and reason in a
// period: a program that reads every file of a damaged recording must not fill the log. Warnings
// and errors it keeps, each once, also where the level of the log leaves them out.
type logHandler struct {
	slog.Handler
	attrs []slog.Attr // of the logger, not of the record
	*logRecords
}

// logRecords are what several handlers of one log have met.
type logRecords struct {
	mu       sync.Mutex
	since    time.Time          // the present period
	by       map[logKey]int     // how many records there were in it
	problems bytes.Buffer       // .recfs/problems.jsonl
	known    map[[3]string]bool // of problems: path, message and reason
}

func newLogHandler(next slog.Handler) *logHandler {
	return &logHandler{Handler: next, logRecords: &logRecords{by: map[logKey]int{}, known: map[[3]string]bool{}}}
}

func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || h.Handler.Enabled(ctx, level)
}

func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		h.keep(r, h.attrs)
	}
	if !h.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	switch n := h.count(r); {
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

const (
	logPeriod         = 10 * time.Second
	logPerPeriod      = 10 // records of one message and reason
	logReasons        = 64 // messages with their reasons; what more there are in a period are of the same reason
	maxLoggedProblems = 10000
)

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
func (l *logRecords) count(r slog.Record) int {
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

// set takes over an attribute, if it has a place in p.
func (p *loggedProblem) set(a slog.Attr) bool {
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
	return true
}

// keep keeps what a record tells, with the attributes of its logger, unless it is known or there is
// too much.
func (l *logRecords) keep(r slog.Record, attrs []slog.Attr) {
	p := loggedProblem{Time: r.Time, Message: r.Message}
	for _, a := range attrs {
		p.set(a)
	}
	r.Attrs(p.set)
	l.mu.Lock()
	defer l.mu.Unlock()
	key := [3]string{p.Path, p.Message, p.Reason}
	if l.known[key] || len(l.known) == maxLoggedProblems {
		return
	}
	l.known[key] = true
	_ = writeJSON(&l.problems, p) // into memory, of plain values
}

// problemLines returns the problems, one JSON object a line, and how many there are.
func (l *logRecords) problemLines() ([]byte, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.problems.Bytes()), len(l.known)
}
