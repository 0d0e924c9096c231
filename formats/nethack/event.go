package nethack

import (
	"bytes"
	"errors"
)

// An event is a line between two save lines (docs/formats/nethack.md sections 2.1 and 2.4).
type event struct {
	kind  string // as in "event"
	off   int64
	timed bool   // a time step follows
	clock uint64 // after that step

	// fields are the further keys in the order in which they are shown.
	fields []field
}

// A field is one key of an event and its value: of the type of what is set, or a number.
type field struct {
	key    string
	number int64
	text   []byte // a string, if not nil
	items  []item // a list, if not nil
	flag   bool   // true
}

// An item is a choice in a menu.
type item struct {
	id      int32
	count   int64
	counted bool
	object  bool // of an object menu: shown as an object
}

const (
	kindCommand = "command"
	kindTime    = "time"
	kindOver    = "game_over"
	kindUnknown = "unknown"

	gameOver = "Q" // the line of kindOver
)

var directions = bytes.Fields([]byte("W NW N NE E SE S SW up down self"))

var errEvent = errors.New("not a line of the format")

// maxEventText bounds the lines between two saves, which are a few hundred bytes.
const maxEventText = 1 << 20

// maxUnknown is how much is shown of a line that is not understood.
const maxUnknown = 200

// isCommand reports whether a line looks like a command. It may still be damaged.
func isCommand(text []byte) bool { return len(text) > 0 && 'a' <= text[0] && text[0] <= 'z' }

// parse reads a line that is neither a save nor a time step. The texts of the event are parts of
// it.
func (e *event) parse(text []byte) {
	err := errEvent
	switch {
	case isCommand(text):
		e.kind = kindCommand
		err = e.parseCommand(text)
	case len(text) > 0:
		err = e.parseAnswer(text[0], text[1:])
	}
	if err != nil {
		e.kind, e.fields = kindUnknown, e.fields[:0]
		e.addNumber("size", int64(len(text)))
		e.addText("text", text[:min(len(text), maxUnknown)])
	}
}

func (e *event) addNumber(key string, n int64) {
	e.fields = append(e.fields, field{key: key, number: n})
}

func (e *event) addText(key string, b []byte) {
	if b == nil {
		b = []byte{}
	}
	e.fields = append(e.fields, field{key: key, text: b})
}

// arguments are the letters of a command's arguments in the order in which they are shown.
const arguments = "DPITSLK"

// parseCommand reads a command and its arguments (docs/formats/nethack.md section 2.1).
func (e *event) parseCommand(s []byte) error {
	n := 0
	for n < len(s) && 'a' <= s[n] && s[n] <= 'z' {
		n++
	}
	e.addText("command", s[:n])
	var args [len(arguments)][]byte
	for s = s[n:]; len(s) > 0; {
		if s[0] != ' ' || len(s) < 3 {
			return errEvent
		}
		i := bytes.IndexByte([]byte(arguments), s[1])
		if i < 0 || args[i] != nil {
			return errEvent
		}
		end := 3
		if s[1] != 'I' && s[1] != 'S' {
			if end = bytes.IndexByte(s[1:], ' ') + 1; end == 0 {
				end = len(s)
			}
		}
		if args[i] = s[2:end]; len(args[i]) == 0 {
			return errEvent
		}
		s = s[end:]
	}
	for i, arg := range args {
		if arg == nil {
			continue
		}
		if err := e.addArgument(arguments[i], arg); err != nil {
			return err
		}
	}
	return nil
}

func (e *event) addArgument(letter byte, arg []byte) error {
	switch letter {
	case 'D':
		return e.addDirection(arg)
	case 'P':
		return e.addPosition(arg)
	case 'I':
		e.addText("item", arg)
	case 'T':
		text, err := parseText(arg)
		if err != nil {
			return err
		}
		e.addText("text", text)
	case 'S':
		e.addText("spell", arg)
	case 'L':
		return e.parseNumber("limit", arg)
	case 'K':
		return e.parseNumber("key_code", arg)
	}
	return nil
}

// parseAnswer reads an answer to a prompt, or another event that begins with the capital letter c.
func (e *event) parseAnswer(c byte, s []byte) error {
	switch c {
	case 'P':
		return e.cancelOr("position", string(s) == "!", func() error { return e.parsePosition(s) })
	case 'D':
		return e.cancelOr("direction", string(s) == "-1", func() error { return e.addDirection(s) })
	case 'K':
		e.kind = "key"
		return e.parseKey(s)
	case 'Y':
		if len(s) != 1 {
			return errEvent
		}
		e.kind = "yes_no"
		e.addText("answer", s)
	case 'M':
		return e.cancelOr("menu", string(s) == "!", func() error { return e.parseItems(s, false) })
	case 'O':
		return e.cancelOr("object_menu", string(s) == "!", func() error { return e.parseItems(s, true) })
	case 'L':
		text, err := parseText(s)
		if err != nil {
			return err
		}
		return e.cancelOr("text", string(text) == "\x1b", func() error { e.addText("text", text); return nil })
	case 'B':
		e.kind = "bones"
		return e.parseBones(s)
	case 'Q':
		if len(s) != 0 {
			return errEvent
		}
		e.kind = kindOver
	case 'R':
		e.kind = "top_ten"
		e.addText("text", s)
	default:
		return errEvent
	}
	return nil
}

// cancelOr makes e a prompt that was cancelled, or whose answer parse reads.
func (e *event) cancelOr(kind string, cancelled bool, parse func() error) error {
	e.kind = kind
	if cancelled {
		e.fields = append(e.fields, field{key: "cancelled", flag: true})
		return nil
	}
	return parse()
}

func (e *event) parseNumber(key string, s []byte) error {
	n, err := parseNumber(s)
	e.addNumber(key, n)
	return err
}

func (e *event) addDirection(s []byte) error {
	n, err := parseNumber(s)
	if err != nil || n < 0 || n >= int64(len(directions)) {
		return errEvent
	}
	e.addText("direction", directions[n])
	return nil
}

func (e *event) addPosition(s []byte) error {
	x, y, ok := bytes.Cut(s, []byte{','})
	if !ok {
		return errEvent
	}
	if err := e.parseNumber("x", x); err != nil {
		return err
	}
	return e.parseNumber("y", y)
}

func (e *event) parsePosition(s []byte) error {
	n := len(s) - 1
	if n < 0 || bytes.IndexByte([]byte(".,:;"), s[n]) < 0 {
		return errEvent
	}
	if err := e.addPosition(s[:n]); err != nil {
		return err
	}
	e.addText("key", s[n:])
	return nil
}

// parseKey reads a key code and perhaps a count, which is -1 if none was given.
func (e *event) parseKey(s []byte) error {
	code, count, counted := bytes.Cut(s, []byte{','})
	if err := e.parseNumber("key_code", code); err != nil {
		return err
	}
	if c := e.fields[0].number; c >= 32 && c <= 126 {
		e.addText("key", []byte{byte(c)})
	}
	if !counted || string(count) == "-1" {
		return nil
	}
	n, err := parseNumber(count)
	if err == nil && n != -1 {
		e.addNumber("count", n)
	}
	return err
}

// parseItems reads the chosen items of a menu: ids in hex, plus 4, each with a count in an object
// menu.
func (e *event) parseItems(s []byte, object bool) error {
	items := []item{}
	for len(s) > 0 {
		one, rest, more := bytes.Cut(s, []byte{':'})
		if more && len(rest) == 0 {
			return errEvent
		}
		it, err := parseItem(one, object)
		if err != nil {
			return err
		}
		items = append(items, it)
		s = rest
	}
	e.fields = append(e.fields, field{key: "items", items: items})
	return nil
}

func parseItem(s []byte, object bool) (item, error) {
	it := item{object: object}
	id := s
	if object {
		var count []byte
		if id, count, it.counted = bytes.Cut(s, []byte{','}); it.counted {
			var err error
			if it.count, err = parseNumber(count); err != nil {
				return item{}, err
			}
		}
	}
	v, err := parseHex(id, 8)
	it.id = int32(uint32(v) - 4)
	return it, err
}

// How much the blobs of texts may hold: the game asks for texts of 256 bytes.
const (
	maxText     = 256
	textPerByte = 8 // of a longer text
)

// parseText returns the string of a blob without the NUL that ends it.
func parseText(blob []byte) ([]byte, error) {
	if compressionOf(blob) != plain {
		if size, _, err := blobSize(blob); err == nil && size > int64(max(maxText, textPerByte*len(blob))) {
			return nil, errEvent
		}
	}
	text, err := decodeBlob(bytes.Clone(blob))
	return bytes.TrimSuffix(text, []byte{0}), err
}

func (e *event) parseBones(s []byte) error {
	if string(s) == "!" {
		e.addNumber("size", 0)
		return nil
	}
	data, err := decodeBlob(bytes.Clone(s))
	e.addNumber("size", int64(len(data)))
	return err
}
