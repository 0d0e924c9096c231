package container

import (
	"fmt"

	"recfs/formats"
)

// Codes of what can be wrong with a container, besides unpack.BadCompression
// (docs/tree/README.md section 1).
const (
	Truncated    = "truncated"     // the container ends too early
	BadHeader    = "bad_header"    // the header of a member is damaged
	BadDirectory = "bad_directory" // the directory of a zip is damaged or missing
	Unsupported  = "unsupported"   // a member is encrypted or packed by an unknown method
	NameConflict = "name_conflict" // a file and a directory have one path
	BadName      = "bad_name"      // a member has a name that no file can have
	DanglingLink = "dangling_link" // a hard link is one with no file before it
)

// maxProblems is how many problems of a container are kept: 200 KiB of them or so, 4 MiB if the
// paths are as long as they can be.
const maxProblems = 1000

// problem notes what is wrong; path is that of a member, or "".
func (l *builder) problem(code string, offset int64, path, format string, args ...any) {
	switch n := len(l.Problems); {
	case n < maxProblems:
		p := formats.Problem{Code: code, Path: path, Offset: offset, Message: formats.OneLine(fmt.Sprintf(format, args...))}
		l.Problems = append(l.Problems, p)
		l.more += problemCost(p) // which is charged with the next member
	case n == maxProblems:
		l.Problems = append(l.Problems, formats.Problem{Code: code, Offset: offset, Message: "there are more problems"})
	}
}
