package parquet

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// EscapeName returns a name of a file or folder without what engines take for something else, or do
// not find: %, =, : and \, a leading _ or ., and each byte that is not UTF-8 become % and two hex
// digits (docs/tree/tables.md).
func EscapeName(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		switch c := name[i]; {
		case r == utf8.RuneError && n == 1, c == '%', c == '=', c == ':', c == '\\', i == 0 && (c == '_' || c == '.'):
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteString(name[i : i+n])
		}
		i += n
	}
	return b.String()
}

// UnescapeName returns the name of which EscapeName makes the given one; ok is false if there is
// none.
func UnescapeName(escaped string) (name string, ok bool) {
	var b strings.Builder
	for rest := escaped; rest != ""; {
		before, after, found := strings.Cut(rest, "%")
		b.WriteString(before)
		if rest = after; !found {
			break
		}
		c, err := strconv.ParseUint(rest[:min(2, len(rest))], 16, 8)
		if err != nil || len(rest) < 2 {
			return "", false
		}
		b.WriteByte(byte(c))
		rest = rest[2:]
	}
	return b.String(), EscapeName(b.String()) == escaped
}
