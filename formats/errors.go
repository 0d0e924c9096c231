package formats

import (
	"errors"
	"fmt"
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
	return &Error{format, offset, &reason{kind, fmt.Sprintf(msg, args...)}}
}

// Corrupt returns an *Error that wraps ErrCorrupt.
func Corrupt(format string, offset int64, msg string, args ...any) *Error {
	return Errorf(format, offset, ErrCorrupt, msg, args...)
}

// A reason is an error with a message of its own that counts as its kind.
type reason struct {
	kind error
	msg  string
}

func (r *reason) Error() string { return r.msg }
func (r *reason) Unwrap() error { return r.kind }
