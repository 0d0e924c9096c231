package main

import (
	"fmt"
	"strings"
	"time"
	"unicode"
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
