package nethack

import "recfs/formats/internal/jsonenc"

// closeObject makes an object of the members that begin at start, each of which has a comma before
// it: the first comma becomes the bracket.
func closeObject(dst []byte, start int) []byte {
	dst[start] = '{'
	return append(dst, '}')
}

// appendName appends a member with a word, null if there is none.
func appendName(dst []byte, key, word string) []byte {
	dst = jsonenc.AppendKey(dst, key)
	if word == "" {
		return append(dst, "null"...)
	}
	return jsonenc.AppendString(dst, word)
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

// appendThings appends a list of things, compact.
func appendThings[T any](dst []byte, list []T, one func(*T, []byte) []byte) []byte {
	dst = append(dst, '[')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(&list[i], dst)
	}
	return append(dst, ']')
}
