package parquet

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// EscapeName returns a name of a file or folder without what engines take for something else: %, = and :, a
// leading _ or ., and each byte that is not UTF-8 become % and two hex digits (docs/tree/tables.md).
func EscapeName(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		switch c := name[i]; {
		case r == utf8.RuneError && n == 1, c == '%', c == '=', c == ':', i == 0 && (c == '_' || c == '.'):
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteString(name[i : i+n])
		}
		i += n
	}
	return b.String()
}
