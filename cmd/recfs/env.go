package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"recfs/formats/outfile"
	"recfs/formats/source/remote"
)

// Exit codes of every command.
const (
	exitOK     = 0
	exitFailed = 1 // something could not be read
	exitUsage  = 2

	exitTrouble = 2 // of diff, for which 1 says that there are differences
)

// A usageError says that the command line makes no sense.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// errReported ends a command that has printed its problems.
var errReported = errors.New("reported")

// errInterrupted ends a command that a signal stopped.
var errInterrupted = errors.New("interrupted")

// An env is a command at work: where it writes, how far it came, and what it could not read.
type env struct {
	stdout   io.Writer
	stderr   io.Writer
	terminal bool      // stdout is one
	answers  io.Reader // to questions; nil: nobody is there to give them

	asJSON bool // of --json, which each command that has it explains
	colors colors
	jobs   int

	// far says how far the command came, and how to go on, if it is interrupted; nil: there is nothing
	// to say.
	far func() string

	meter *meter // goes out of the way of what is printed; nil: there is none

	mu       sync.Mutex      // guards what follows
	failures int             // what could not be read
	told     map[string]bool // of what the reason was told, which then is not told again; nil: each is told
}

// take takes what the flags say that several commands have.
func (e *env) take(flags *pflag.FlagSet) {
	e.asJSON, _ = flags.GetBool("json")
	if f := flags.Lookup("color"); f != nil {
		e.colors = f.Value.(*colorFlag).on(e)
	}
	if f := flags.Lookup("jobs"); f != nil {
		e.jobs = int(*f.Value.(*jobsFlag))
	}
}

// print prints a line as text, with --json as the object that it is of. An error ends the command.
func (e *env) print(line any, text string) {
	if e.asJSON {
		_ = writeJSON(e.stdout, line)
	} else if text != "" {
		_, _ = io.WriteString(e.stdout, text)
	}
}

// tell prints a text.
func (e *env) tell(text string) error {
	_, err := io.WriteString(e.stdout, text)
	return err
}

// buffer gathers what the command prints from now on until flush is called.
func (e *env) buffer() (flush func() error) {
	w := bufio.NewWriter(e.stdout)
	e.stdout = w
	return w.Flush
}

// startMeter returns a meter of what the command does.
func (e *env) startMeter(what string) *meter {
	e.meter = newMeter(e.stderr, what)
	return e.meter
}

// fromStart is how most commands go on after an interruption.
const fromStart = "; another run starts from the beginning"

// nothingWritten is how far a command came that writes one file.
const nothingWritten = "nothing was written" + fromStart

// The width of text that is printed for a person, in characters: that of the terminal, but no line
// should be longer than eyes can follow.
const (
	usualWidth = 80
	leastWidth = 40
	mostWidth  = 100
)

// width is how long a line of text may be.
func (e *env) width() int {
	return min(max(cmp.Or(e.columns(), usualWidth), leastWidth), mostWidth)
}

// columns is how many characters the terminal has in a line, 0 if there is none or it does not say.
func (e *env) columns() int {
	if !e.terminal {
		return 0
	}
	columns, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// report prints a problem that does not end the command.
func (e *env) report(err error) { e.note("recfs: " + plain(err)) }

// note prints a line beside what the command prints.
func (e *env) note(text string) {
	e.meter.print(func() { fmt.Fprintln(e.stderr, printable(text)) })
}

// fileName is name as it is printed: as it is for programs, harmless for a terminal.
func (e *env) fileName(name string) string {
	if e.terminal {
		return printable(name)
	}
	return name
}

// An output is the standard output of a command, which stops when it cannot be written.
type output struct {
	io.Writer
	env  *env // of the command
	stop context.CancelCauseFunc
}

func (o *output) Write(p []byte) (n int, err error) {
	o.env.meter.print(func() { n, err = o.Writer.Write(p) })
	if err != nil {
		err = &outputError{err}
		o.stop(err)
	}
	return n, err
}

// An outputError is that of standard output, and ends the command.
type outputError struct{ err error }

func (e *outputError) Error() string {
	if p, ok := errors.AsType[*iofs.PathError](e.err); ok {
		return "standard output: " + p.Err.Error()
	}
	return e.err.Error()
}

func (e *outputError) Unwrap() error { return e.err }

// plain is the text of an error for a person: which system call failed for a path is of no use.
func plain(err error) string {
	if p, ok := err.(*iofs.PathError); ok {
		return p.Path + ": " + p.Err.Error()
	}
	return err.Error()
}

// reason is why name could not be read, without the system call that failed, and without the path
// for which it did if that is name or what it lies in.
func reason(name string, err error) error {
	p, ok := err.(*iofs.PathError)
	switch {
	case !ok:
		return err
	case p.Path == ".", slices.Contains(strings.Split(filepath.ToSlash(name), "/"), filepath.Base(p.Path)):
		return p.Err
	}
	return fmt.Errorf("%s: %w", p.Path, p.Err)
}

// named is the error of what has a name. That of a server names what it is of.
func named(name string, err error) error {
	if e, ok := errors.AsType[*remote.Error](err); ok {
		return e
	}
	return fmt.Errorf("%s: %w", name, reason(name, err))
}

// stream is where to write what is to go to a file of this name, if that is none of its own.
func (e *env) stream(name string) io.Writer {
	switch name {
	case "/dev/stdout":
		return e.stdout
	case os.DevNull:
		return io.Discard
	}
	return nil
}

// notWritten is err, if there is one, as that of making target.
func notWritten(target string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot write %s: %w", target, reason(target, err))
}

// create writes a file whole or not at all, or to what stands for one of that name.
func (e *env) create(target string, mode iofs.FileMode, write func(io.Writer) error) error {
	if w := e.stream(target); w != nil {
		return write(w)
	}
	f, err := outfile.Create(target, mode)
	if err != nil {
		return notWritten(target, err)
	}
	return f.Fill(func(f *outfile.File) error { return write(f) })
}

// fail reports that name could not be read, unless that is because the command ends.
func (e *env) fail(name string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.told[name] {
		return
	}
	if e.told != nil {
		e.told[name] = true
	}
	e.failures++
	if _, ok := errors.AsType[*outputError](err); errors.Is(err, context.Canceled) || ok {
		return
	}
	e.report(named(name, err))
}
