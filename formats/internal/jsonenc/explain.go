package jsonenc

import (
	"encoding/json"
	"errors"
	"io"

	"recfs/formats"
)

// Explain returns err, with which encoding/json refused a text, as one that says why, and from
// which byte on, in a sentence of ours, and wraps it.
func Explain(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax) && syntax.Error() == endOfText, errors.Is(err, io.ErrUnexpectedEOF):
		return formats.Reasonf(err, "it ends too early")
	case errors.As(err, &syntax):
		return formats.Reasonf(err, "byte %d is not what JSON has there", syntax.Offset)
	case errors.As(err, &kind) && kind.Field != "":
		return formats.Reasonf(err, "byte %d: %q cannot be a value of type %s", kind.Offset, kind.Field, kind.Value)
	case errors.As(err, &kind):
		return formats.Reasonf(err, "byte %d: it cannot be a value of type %s", kind.Offset, kind.Value)
	}
	return err
}

// endOfText is what encoding/json says of text that ends too early, for which it has no name.
const endOfText = "unexpected end of JSON input"
