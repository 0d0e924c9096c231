package main

import (
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"recfs/formats/compare"
)

// The colours of what is printed, which are those of git and ls.
const (
	bold     = "\x1b[1m"
	red      = "\x1b[31m"
	green    = "\x1b[32m"
	yellow   = "\x1b[33m"
	boldBlue = "\x1b[1;34m"
	boldCyan = "\x1b[1;36m"
	plainly  = "\x1b[m"
)

// Values of --color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// A colorFlag says when a command prints in colours.
type colorFlag string

func registerColor(flags *pflag.FlagSet) {
	c := colorFlag(colorAuto)
	flags.VarPF(&c, "color", "", "print in colours; the default is auto: only to a terminal, unless NO_COLOR is set").NoOptDefVal = flagGiven
	offer(flags, "color", colorAuto, colorAlways, colorNever)
}

func (c *colorFlag) Set(text string) error {
	switch text {
	case flagGiven:
		text = colorAlways
	case colorAuto, colorAlways, colorNever:
	default:
		return errors.New("not auto, always or never")
	}
	*c = colorFlag(text)
	return nil
}

func (c *colorFlag) String() string { return "" } // the usage tells the default

func (c *colorFlag) Type() string { return "" }

// on returns the colours in which to print to e. A pager of git is a terminal, too.
func (c colorFlag) on(e *env) colors {
	if c != colorAuto {
		return c == colorAlways
	}
	terminal := e.terminal || os.Getenv("GIT_PAGER_IN_USE") != ""
	return colors(terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}

// colors paint text, if they are true.
type colors bool

// paint returns text in a colour, "" is none.
func (c colors) paint(color, text string) string {
	if !c || color == "" || text == "" {
		return text
	}
	return color + text + plainly
}

// name returns the name of an entry as ls paints it.
func (c colors) name(mode iofs.FileMode, name string) string {
	return c.paint(map[iofs.FileMode]string{iofs.ModeDir: boldBlue, iofs.ModeSymlink: boldCyan}[mode.Type()], name)
}

// A drawingRow is a row of a drawing in characters, such as a level of NetHack, that has changed.
type drawingRow struct {
	number   int
	old, now []rune // of the same length
}

// leastDrawing is how wide a drawing is at least: rows that are shorter are words.
const leastDrawing = 40

// rowOf returns the row of a drawing that a change is about, if it is about one.
func rowOf(c compare.Change) (row drawingRow, ok bool) {
	var old, now string
	_, index, _ := strings.Cut(strings.TrimSuffix(c.Path, "]"), "[")
	n, err := strconv.Atoi(index)
	if err != nil || json.Unmarshal(c.Old, &old) != nil || json.Unmarshal(c.New, &now) != nil {
		return row, false
	}
	row = drawingRow{n, []rune(printable(old)), []rune(printable(now))}
	return row, len(row.old) == len(row.now) && len(row.old) >= leastDrawing
}

// drawing is the squares of a drawing that have changed, the old ones and the new ones beside each
// other.
func (c colors) drawing(what string, rows []drawingRow) string {
	from, to := len(rows[0].old), 0
	for _, row := range rows {
		for x := range min(len(row.old), len(rows[0].old)) {
			if row.old[x] != row.now[x] {
				from, to = min(from, x), max(to, x+1)
			}
		}
	}
	var b strings.Builder
	head := fmt.Sprintf("~ %s: columns %d to %d of these rows, old and new", what, from, to-1)
	b.WriteString(c.paint(yellow, printable(head)) + "\n")
	for _, row := range rows {
		end := min(to, len(row.old))
		start := min(from, end)
		old, now := row.old[start:end], row.now[start:end]
		fmt.Fprintf(&b, "%4d %s │ %s\n", row.number, c.paintChanged(red, old, now), strings.TrimRight(c.paintChanged(green, now, old), " "))
	}
	return b.String()
}

// paintChanged paints those characters of a text that are others in one of the same length.
func (c colors) paintChanged(color string, text, other []rune) string {
	var b strings.Builder
	for at := 0; at < len(text); {
		end, same := at, text[at] == other[at]
		for end < len(text) && (text[end] == other[end]) == same {
			end++
		}
		if run := string(text[at:end]); same {
			b.WriteString(run)
		} else {
			b.WriteString(c.paint(color, run))
		}
		at = end
	}
	return b.String()
}
