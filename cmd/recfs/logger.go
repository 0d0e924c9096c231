package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/pflag"
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
	flags.Func("log-level", "log messages of this `LEVEL` and above: debug, info, warn or error (default: warn for mount, else error)", l.setLevel)
	offer(flags, "log-level", "debug", "info", "warn", "error")
	flags.StringVar(&l.file, "log-file", "", "append the log to `FILE`, which is opened again when it was moved away (default: stderr; for a mount in the background the system log, or ~/.local/state/recfs/recfs.log where there is none)")
	flags.Lookup("log-file").DefValue = ""
}

func (l *logFlags) setLevel(text string) error {
	if l.level.UnmarshalText([]byte(text)) != nil {
		return errors.New("not debug, info, warn or error")
	}
	return nil
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
