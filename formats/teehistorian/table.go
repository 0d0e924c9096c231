package teehistorian

import (
	"slices"
	"strings"
	"unicode/utf8"

	"recfs/formats/internal/jsonenc"
)

// A table is one of the files of a stay.
type table int

const (
	positionTable table = iota
	inputTable
	commandTable
	tables = 3
)

var tableNames = [tables]string{"positions.csv", "inputs.csv", "commands.txt"}

// tableHeads are the first lines.
var tableHeads = [tables]string{"tick,x,y\n", "tick," + strings.Join(inputNames[:], ",") + "\n", ""}

// tableOf returns the table in which events of a kind are rows.
func tableOf(k kind) (table, bool) {
	switch k {
	case playerDiff, playerNew, playerOld:
		return positionTable, true
	case inputDiff, inputNew:
		return inputTable, true
	case consoleCommand:
		return commandTable, true
	}
	return 0, false
}

// appendRow appends the row that e, which counts for a stay, is in its table.
func appendRow(b []byte, e *event) []byte {
	b = jsonenc.AppendInt(b, e.tick)
	switch e.kind {
	case playerDiff, playerNew, playerOld:
		b = append(b, ',')
		if e.known {
			b = jsonenc.AppendInt(b, e.player.x)
			b = append(b, ',')
			b = jsonenc.AppendInt(b, e.player.y)
		} else {
			b = append(b, ',')
		}
	case inputDiff, inputNew:
		for i := range e.player.input {
			b = append(b, ',')
			if e.known {
				b = jsonenc.AppendInt(b, e.player.input[i])
			}
		}
	case consoleCommand:
		b = append(b, ' ')
		b = appendTyped(b, e)
	}
	return append(b, '\n')
}

// slashCommand is the flag of a command typed in chat.
const slashCommand = 1 << 7

// appendTyped appends a command with its arguments (docs/tree/teehistorian.md section 8).
func appendTyped(b []byte, e *event) []byte {
	if e.flags&slashCommand != 0 {
		b = append(b, '/')
	}
	b = appendWord(b, e.data)
	for arg := range e.arguments() {
		b = append(b, ' ')
		b = appendWord(b, arg)
	}
	return b
}

func appendWord(b, word []byte) []byte {
	quote := func(c byte) bool { return c <= ' ' || c == '"' || c == '\\' || c == 0x7f }
	if len(word) == 0 || slices.ContainsFunc(word, quote) {
		return appendQuoted(b, cleanText(word))
	}
	return append(b, cleanText(word)...)
}

// appendQuoted appends s as a JSON string for people to read: no more is escaped than has to be.
// jsonenc also escapes U+2028 and U+2029, as encoding/json does.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for len(s) > 0 {
		n := strings.IndexAny(s, "\u2028\u2029")
		if n < 0 {
			n = len(s)
		}
		quoted := jsonenc.AppendString(nil, s[:n])
		b = append(b, quoted[1:len(quoted)-1]...)
		_, size := utf8.DecodeRuneInString(s[n:])
		b = append(b, s[n:n+size]...)
		s = s[n+size:]
	}
	return append(b, '"')
}
