package formats

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// ErrCorrupt is wrapped by errors that say that bytes are not what their
// format asks for.
var ErrCorrupt = errors.New("corrupt")

// An Error is damage: what of a recording cannot be had, where, and why. It is the error of each
// read that fails for this, and its Problem is in the documents and in error.txt. Err wraps
// ErrCorrupt, io.ErrUnexpectedEOF, errors.ErrUnsupported, or the error of the read.
type Error struct {
	Format         string
	Code           string // of the problem; may be empty
	Offset         int64  // in the source, without outer compression, or in the segment
	Chunk, Segment *int   // nil: none
	Err            error
}

// Error returns the format, the offset and the reason.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: at %#x: %v", e.Format, e.Offset, e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// Problem returns the damage as the documents tell it.
func (e *Error) Problem() Problem {
	return Problem{Code: e.Code, Chunk: e.Chunk, Segment: e.Segment, Offset: e.Offset, Message: OneLine(e.Err.Error())}
}

// DamageOf returns what err says of the bytes of a recording: the Problem of the first error in its
// chain that has one, as those of this package and of compressed streams do. ok is false if it says
// nothing of them.
func DamageOf(err error) (p Problem, ok bool) {
	var d interface {
		error
		Problem() Problem
	}
	if !errors.As(err, &d) {
		return Problem{}, false
	}
	return d.Problem(), true
}

// Coded returns the first Error in the chain of err if it has a code: its Problem is one of those
// that the recording tells.
func Coded(err error) (e *Error, ok bool) {
	ok = errors.As(err, &e) && e.Code != ""
	return e, ok
}

// Errorf returns an *Error of the given kind (ErrCorrupt,
// io.ErrUnexpectedEOF, errors.ErrUnsupported or another) whose reason reads
// as the formatted message alone.
func Errorf(format string, offset int64, kind error, msg string, args ...any) *Error {
	return &Error{Format: format, Offset: offset, Err: Reasonf(kind, msg, args...)}
}

// Corrupt returns an *Error that wraps ErrCorrupt.
func Corrupt(format string, offset int64, msg string, args ...any) *Error {
	return Errorf(format, offset, ErrCorrupt, msg, args...)
}

// ShortRead returns the error of a read that gave too few bytes, before offset: err or, where the
// source is shorter than its size, io.ErrUnexpectedEOF.
func ShortRead(format string, offset int64, err error) *Error {
	if err == io.EOF {
		err = Reasonf(io.ErrUnexpectedEOF, "the bytes end before the size of the source")
	}
	return &Error{Format: format, Offset: offset, Err: err}
}

// An UnreadError is that of bytes which could not be read this time, of a recording or of what lies
// beside it. It tells nothing of what the recording holds.
type UnreadError struct{ Err error }

func (e *UnreadError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the read.
func (e *UnreadError) Unwrap() error { return e.Err }

// A Reason is an error with a message of its own that counts as its kind.
type Reason struct {
	Kind error // which it wraps
	Msg  string
}

func (r *Reason) Error() string { return r.Msg }

// Reasonf returns a Reason with the formatted message.
func Reasonf(kind error, msg string, args ...any) *Reason {
	return &Reason{kind, fmt.Sprintf(msg, args...)}
}

// Unwrap returns the kind.
func (r *Reason) Unwrap() error { return r.Kind }

// ErrorProblem returns err, which a recording or a container does not open for, as a Problem. More
// reasons follow the first one.
func ErrorProblem(err error, more ...error) Problem {
	p := Problem{Message: OneLine(err.Error())}
	if e, ok := errors.AsType[*Error](err); ok {
		p = e.Problem()
	}
	for _, m := range more {
		p.Message += "; " + OneLine(m.Error())
	}
	return p
}

// ErrorText returns the content of error.txt: the format and the facts of a problem, one a line.
func (p *Problem) ErrorText(format string) []byte {
	b := fmt.Appendf(nil, "format: %s\noffset: %d\nreason: %s\n", format, p.Offset, p.Message)
	if p.Code != "" {
		b = fmt.Appendf(b, "code: %s\n", p.Code)
	}
	return b
}

// OneLine returns s with its white space, line breaks among it, as single blanks.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// HexOf returns a name in hex if it is not UTF-8, else "".
func HexOf(name string) string {
	if utf8.ValidString(name) {
		return ""
	}
	return hex.EncodeToString([]byte(name))
}

// ExactName returns the name of which HexOf returned inHex, as it is shown if that is "".
func ExactName(shown, inHex string) string {
	if b, err := hex.DecodeString(inHex); err == nil && len(b) > 0 {
		return string(b)
	}
	return shown
}

// A Problem is an element of "problems" in header.json and index.json.
type Problem struct {
	Code    string `json:"code"`
	Chunk   *int   `json:"chunk,omitempty"`
	Segment *int   `json:"segment,omitempty"`
	Path    string `json:"path,omitempty"`
	Offset  int64  `json:"offset"`
	Message string `json:"message"`
}

// InsertProblem returns a list of problems with one more, before the last ones if they have a
// higher offset. The list is changed.
func InsertProblem(list []Problem, p Problem) []Problem {
	at := len(list)
	for at > 0 && list[at-1].Offset > p.Offset {
		at--
	}
	return slices.Insert(list, at, p)
}
