package main

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// printable returns s without what would move the cursor of a terminal or end a line: names and
// texts come from recordings.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsGraphic(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return unicode.ReplacementChar
	}, s)
}

// count is n with the noun that goes with it.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// parseTime reads a time of a catalogue.Summary, or returns the zero time.
func parseTime(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text)
	return t
}

// localTime is a time of a catalogue.Summary for people, "" if it is not known.
func localTime(text *string) string {
	if text == nil {
		return ""
	}
	return parseTime(*text).Local().Format(time.DateTime)
}

// length is a length for people, "" if it is not known.
func length(ms *int64) string {
	if ms == nil {
		return ""
	}
	return (time.Duration(*ms) * time.Millisecond).Round(100 * time.Millisecond).String()
}

// cut returns text in at most width characters, with … for what is left out.
func cut(text string, width int) string {
	runes := []rune(text)
	switch {
	case len(runes) <= width:
		return text
	case width <= 0:
		return ""
	}
	return string(runes[:width-1]) + "…"
}

// wrap returns the words of text in lines of at most width characters; a longer word has its own.
func wrap(text string, width int) string {
	var b strings.Builder
	at := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case at == 0:
		case at+1+n > width:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	b.WriteByte('\n')
	return b.String()
}
