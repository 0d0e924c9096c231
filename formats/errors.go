package formats

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// ErrCorrupt is wrapped by errors that say that bytes are not what their
// format asks for.
var ErrCorrupt = errors.New("corrupt")

// An Error says where decoding stopped. Err wraps ErrCorrupt,
// io.ErrUnexpectedEOF, errors.ErrUnsupported, or the error of the read.
//
// If an error in the chain has a method ErrorCode() string, error.txt has the
// line "code:", too.
type Error struct {
	Format string
	Offset int64 // in the source, without outer compression
	Err    error
}

// Error returns the format, the offset and the reason.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: at %#x: %v", e.Format, e.Offset, e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an *Error of the given kind (ErrCorrupt,
// io.ErrUnexpectedEOF, errors.ErrUnsupported or another) whose reason reads
// as the formatted message alone.
func Errorf(format string, offset int64, kind error, msg string, args ...any) *Error {
	return &Error{format, offset, Reasonf(kind, msg, args...)}
}

// Corrupt returns an *Error that wraps ErrCorrupt.
func Corrupt(format string, offset int64, msg string, args ...any) *Error {
	return Errorf(format, offset, ErrCorrupt, msg, args...)
}

// ShortRead returns the error of a read that gave too few bytes, before offset: err or, where the source
// is shorter than its size, io.ErrUnexpectedEOF.
func ShortRead(format string, offset int64, err error) *Error {
	if err == io.EOF {
		err = Reasonf(io.ErrUnexpectedEOF, "the bytes end before the size of the source")
	}
	return &Error{format, offset, err}
}

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

// ErrorProblem returns err, which a recording does not open for, as a Problem: with its offset and
// reason, and its code if it has a method ErrorCode() string. More reasons follow the first one.
func ErrorProblem(err error, more ...error) Problem {
	var p Problem
	reason := err
	if e := (*Error)(nil); errors.As(err, &e) {
		p.Offset, reason = e.Offset, e.Err
	}
	p.Message = OneLine(reason.Error())
	for _, m := range more {
		p.Message += "; " + OneLine(m.Error())
	}
	if c := interface{ ErrorCode() string }(nil); errors.As(err, &c) {
		p.Code = OneLine(c.ErrorCode())
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
