package nethack

import (
	"slices"

	"recfs/formats/internal/jsonenc"
)

// closeObject makes an object of the members that begin at start, each of which has a comma before
// it: the first comma becomes the bracket.
func closeObject(dst []byte, start int) []byte {
	dst[start] = '{'
	return append(dst, '}')
}

// appendName appends a member with a word, null if there is none.
func appendName(dst []byte, key, word string) []byte {
	return jsonenc.AppendIf(jsonenc.AppendKey(dst, key), word != "", word, jsonenc.AppendString)
}

func appendNumber[N ~int8 | ~int32](dst []byte, key string, n N) []byte {
	return jsonenc.AppendInt(jsonenc.AppendKey(dst, key), n)
}

// appendPlace appends where something is on its level.
func appendPlace(dst []byte, x, y uint8) []byte {
	dst = jsonenc.AppendUint(jsonenc.AppendKey(dst, "x"), x)
	return jsonenc.AppendUint(jsonenc.AppendKey(dst, "y"), y)
}

// A flagWord is the word for a bit.
type flagWord struct {
	bit  int
	word string
}

// appendFlags appends the words for the bits that are set, if one is.
func appendFlags(dst []byte, flags []flagWord, bits uint32, word func(flagWord) string) []byte {
	sep := byte('[')
	for _, f := range flags {
		if bits>>f.bit&1 == 0 {
			continue
		}
		if sep == '[' {
			dst = jsonenc.AppendKey(dst, "flags")
		}
		dst = jsonenc.AppendString(append(dst, sep), word(f))
		sep = ','
	}
	if sep == '[' {
		return dst
	}
	return append(dst, ']')
}

// appendHeld appends objects that a monster or another object has, compact.
func appendHeld(dst []byte, list []object) []byte {
	return jsonenc.AppendList(dst, slices.Values(list), func(dst []byte, o object) []byte { return o.appendRest(dst, len(dst)) })
}
