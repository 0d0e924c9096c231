package milk

import (
	"context"
	"errors"

	"recfs/formats"
)

const name = "milk"

// Format opens no file: each has its bytes and an explanation.
var Format = formats.Format{
	Name: name, Called: "echo", Extensions: []string{".milk"},
	Match: func([]byte) bool { return false },
	Open: func(ctx context.Context, src formats.Input) (formats.Head, error) {
		var head [1]byte
		if n, err := src.ReadAt(ctx, head[:], 0); n == 0 && src.Size > 0 {
			return nil, &formats.Error{Format: name, Err: err}
		}
		return nil, formats.Errorf(name, 0, errors.ErrUnsupported, "%s cannot be decoded: there is no description of this "+
			"kind of Echo VR recording; convert it to .echoreplay or .butter with the program that wrote it", kind(head[0]))
	},
}

// kind tells the three kinds apart by the first byte.
func kind(first byte) string {
	switch first {
	case '{':
		return "a milk file with a JSON header"
	case 2:
		return "a milk file of the butter library"
	}
	return "a milk file"
}
