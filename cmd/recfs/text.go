package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
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

// A byteSize is a flag value such as 256MiB, 4G or 65536: a whole number and perhaps a unit. Units
// are powers of 1024.
type byteSize int64

const (
	kib byteSize = 1 << (10 * (iota + 1))
	mib
	gib
	tib
)

var units = []struct {
	letter string
	size   byteSize
}{{"T", tib}, {"G", gib}, {"M", mib}, {"K", kib}}

func (b *byteSize) Set(s string) error {
	number := strings.TrimRightFunc(s, unicode.IsLetter)
	unit := unitNamed(strings.ToUpper(s[len(number):]))
	n, err := strconv.ParseUint(number, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && unit > 0 && n > math.MaxInt64/uint64(unit):
		return errors.New("more than any memory or disk has")
	case err != nil, unit == 0:
		return errors.New("not a size such as 256MiB, 4G or 65536")
	}
	*b = byteSize(n) * unit
	return nil
}

// unitNamed returns the unit of that name in capitals, such as MIB, MI, MB or M; 0: there is none.
func unitNamed(name string) byteSize {
	if name == "" || name == "B" {
		return 1
	}
	for _, u := range units {
		if end, ok := strings.CutPrefix(name, u.letter); ok && slices.Contains([]string{"", "B", "I", "IB"}, end) {
			return u.size
		}
	}
	return 0
}

// String is exact, so that a default reads as it can be given.
func (b byteSize) String() string {
	for _, u := range units {
		if b >= u.size && b%u.size == 0 {
			return strconv.FormatInt(int64(b/u.size), 10) + u.letter + "iB"
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

func (b *byteSize) Type() string { return "size" }

// humanSize is a size for people: three digits and a unit.
func humanSize(n int64) string {
	for _, u := range units {
		if byteSize(n) >= u.size {
			return fmt.Sprintf("%.3g %siB", float64(n)/float64(u.size), u.letter)
		}
	}
	return fmt.Sprintf("%d B", n)
}
