package parquet

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Where tables of all recordings lie together, no name has more than maxName bytes. One that had is
// cut to cutName bytes at most, and ends in cutMark and 16 hex digits of its SHA-256.
const (
	maxName = 255
	cutName = 229
	cutMark = "%~"
)

// EscapePath returns where below FORMAT/TABLE the table of the recording at a path is.
func EscapePath(at string) string {
	parts := strings.Split(at, "/")
	for i, name := range parts {
		parts[i] = EscapeName(name, i < len(parts)-1)
	}
	return strings.Join(parts, "/")
}

// EscapeName returns the name of the folder, or of the table of the recording, that is called name:
// without what engines take for something else, or do not find (docs/tree/tables.md section 9).
func EscapeName(name string, folder bool) string {
	escaped, tail := escape(name), Extension
	if folder {
		tail = ""
		if s, ok := strings.CutSuffix(escaped, Extension); ok {
			escaped = s + "%2E" + Extension[1:]
		}
	}
	if len(escaped)+len(tail) > maxName {
		end := cutName
		for !utf8.RuneStart(escaped[end]) {
			end--
		}
		escaped = fmt.Sprintf("%s%s%.8x", escaped[:end], cutMark, sha256.Sum256([]byte(name)))
	}
	return escaped + tail
}

// escape puts % and two hex digits in place of %, =, :, \, a leading _ or ., and each byte that is
// not UTF-8.
func escape(name string) string {
	if utf8.ValidString(name) && !strings.ContainsAny(name, `%=:\`) && !strings.HasPrefix(name, "_") && !strings.HasPrefix(name, ".") {
		return name
	}
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
// none, or that was cut and so is not in it.
func UnescapeName(escaped string, folder bool) (name string, ok bool) {
	rest, isTable := strings.CutSuffix(escaped, Extension)
	if isTable == folder {
		return "", false
	}
	name = unescape(rest)
	return name, EscapeName(name, folder) == escaped
}

// CutName returns how a name begins that EscapeName may have cut to the given one.
func CutName(escaped string) (begin string, ok bool) {
	rest, _, ok := strings.Cut(escaped, cutMark)
	return unescape(rest), ok
}

// unescape returns what escape has made a name of, up to a % without two hex digits, where it was
// cut.
func unescape(escaped string) string {
	var b strings.Builder
	for {
		before, after, _ := strings.Cut(escaped, "%")
		b.WriteString(before)
		c, err := strconv.ParseUint(after[:min(2, len(after))], 16, 8)
		if err != nil || len(after) < 2 {
			return b.String()
		}
		b.WriteByte(byte(c))
		escaped = after[2:]
	}
}
