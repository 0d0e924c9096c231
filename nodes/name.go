package nodes

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the length in bytes to which SafeName cuts.
const maxName = 64

// SafeName makes a name from inside a recording safe as part of a file name
// (tree/README, "Names from inside a recording"): every character that is
// not a Unicode letter, mark, number, punctuation or symbol, each of
// / \ : * ? " < > |, and every byte that is not UTF-8 becomes _, and the
// result is cut to 64 bytes at a character.
func SafeName(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		i += n
		if r == utf8.RuneError && n == 1 || !safeRune(r) {
			r = '_'
		}
		if b.Len()+utf8.RuneLen(r) > maxName {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

func safeRune(r rune) bool {
	if strings.ContainsRune(`/\:*?"<>|`, r) {
		return false
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S)
}
