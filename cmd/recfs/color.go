package main

import (
	"errors"
	iofs "io/fs"
	"os"

	"github.com/spf13/pflag"
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

func registerColor(flags *pflag.FlagSet) *colorFlag {
	c := colorFlag(colorAuto)
	flags.BoolFunc("color", "print in colours; the default is auto: only to a terminal, unless NO_COLOR is set", func(text string) error {
		switch text {
		case flagGiven:
			text = colorAlways
		case colorAuto, colorAlways, colorNever:
		default:
			return errors.New("not auto, always or never")
		}
		c = colorFlag(text)
		return nil
	})
	offer(flags, "color", colorAuto, colorAlways, colorNever)
	return &c
}

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
