package nethack

import (
	"bytes"
	"strings"
)

// An event is a line between two save lines (docs/formats/nethack.md sections 2.1 and 2.4).
type event struct {
	kind  string // as in "event"
	off   int64
	timed bool   // a time step follows
	clock uint64 // after that step
	bad   bool   // while it is read: not a line of the format

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

// maxEventText bounds the lines between two saves, which are a few hundred bytes.
const maxEventText = 1 << 20

// maxUnknown is how much is shown of a line that is not understood.
const maxUnknown = 200

// isCommand reports whether a line looks like a command. It may still be damaged.
func isCommand(text []byte) bool { return len(text) > 0 && 'a' <= text[0] && text[0] <= 'z' }

// parse reads a line that is neither a save nor a time step. The texts of the event are parts of
// it.
func (e *event) parse(text []byte) {
	switch {
	case isCommand(text):
		e.kind = kindCommand
		e.parseCommand(text)
	case len(text) > 0:
		e.parseAnswer(text[0], text[1:])
	default:
		e.bad = true
	}
	if e.bad {
		*e = event{kind: kindUnknown, off: e.off, fields: e.fields[:0]}
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
func (e *event) parseCommand(s []byte) {
	n := 0
	for n < len(s) && 'a' <= s[n] && s[n] <= 'z' {
		n++
	}
	e.addText("command", s[:n])
	var args [len(arguments)][]byte
	for s = s[n:]; len(s) > 0 && !e.bad; {
		i := -1
		if s[0] == ' ' && len(s) >= 3 {
			i = strings.IndexByte(arguments, s[1])
		}
		if i < 0 || args[i] != nil {
			e.bad = true
			return
		}
		end := 3
		if s[1] != 'I' && s[1] != 'S' {
			if end = bytes.IndexByte(s[1:], ' ') + 1; end == 0 {
				end = len(s)
			}
		}
		args[i] = s[2:end]
		e.bad = len(args[i]) == 0
		s = s[end:]
	}
	for i, arg := range args {
		if arg != nil {
			e.addArgument(arguments[i], arg)
		}
	}
}

func (e *event) addArgument(letter byte, arg []byte) {
	switch letter {
	case 'D':
		e.addDirection(arg)
	case 'P':
		e.addPosition(arg)
	case 'I':
		e.addText("item", arg)
	case 'T':
		e.addText("text", e.blobText(arg))
	case 'S':
		e.addText("spell", arg)
	case 'L':
		e.addNumber("limit", e.number(arg))
	case 'K':
		e.addNumber("key_code", e.number(arg))
	}
}

// parseAnswer reads an answer to a prompt, or another event that begins with the capital letter c.
func (e *event) parseAnswer(c byte, s []byte) {
	switch c {
	case 'P':
		e.cancelOr("position", string(s) == "!", func() { e.parsePosition(s) })
	case 'D':
		e.cancelOr("direction", string(s) == "-1", func() { e.addDirection(s) })
	case 'K':
		e.kind = "key"
		e.parseKey(s)
	case 'Y':
		e.kind, e.bad = "yes_no", len(s) != 1
		e.addText("answer", s)
	case 'M':
		e.cancelOr("menu", string(s) == "!", func() { e.parseItems(s, false) })
	case 'O':
		e.cancelOr("object_menu", string(s) == "!", func() { e.parseItems(s, true) })
	case 'L':
		text := e.blobText(s)
		e.cancelOr("text", string(text) == "\x1b", func() { e.addText("text", text) })
	case 'B':
		e.kind = "bones"
		e.parseBones(s)
	case 'Q':
		e.kind, e.bad = kindOver, len(s) != 0
	case 'R':
		e.kind = "top_ten"
		e.addText("text", s)
	default:
		e.bad = true
	}
}

// cancelOr makes e a prompt that was cancelled, or whose answer parse reads.
func (e *event) cancelOr(kind string, cancelled bool, parse func()) {
	e.kind = kind
	if cancelled {
		e.fields = append(e.fields, field{key: "cancelled", flag: true})
		return
	}
	parse()
}

// check notes that a part of the line could not be read.
func (e *event) check(err error) { e.bad = e.bad || err != nil }

// number reads a number.
func (e *event) number(s []byte) int64 {
	n, err := parseNumber(s)
	e.check(err)
	return n
}

func (e *event) addDirection(s []byte) {
	n := e.number(s)
	if n < 0 || n >= int64(len(directions)) {
		e.bad = true
		return
	}
	e.addText("direction", directions[n])
}

func (e *event) addPosition(s []byte) {
	x, y, _ := bytes.Cut(s, []byte{','})
	e.addNumber("x", e.number(x))
	e.addNumber("y", e.number(y))
}

func (e *event) parsePosition(s []byte) {
	n := len(s) - 1
	if n < 0 || bytes.IndexByte([]byte(".,:;"), s[n]) < 0 {
		e.bad = true
		return
	}
	e.addPosition(s[:n])
	e.addText("key", s[n:])
}

// parseKey reads a key code and perhaps a count, which is -1 if none was given.
func (e *event) parseKey(s []byte) {
	code, count, counted := bytes.Cut(s, []byte{','})
	c := e.number(code)
	e.addNumber("key_code", c)
	if c >= 32 && c <= 126 {
		e.addText("key", []byte{byte(c)})
	}
	if counted {
		if n := e.number(count); n != -1 {
			e.addNumber("count", n)
		}
	}
}

// parseItems reads the chosen items of a menu: ids in hex, plus 4, each with a count in an object
// menu.
func (e *event) parseItems(s []byte, object bool) {
	items := []item{}
	for more := len(s) > 0; more && !e.bad; {
		it, id := item{object: object}, []byte(nil)
		id, s, more = bytes.Cut(s, []byte{':'})
		if object {
			var count []byte
			if id, count, it.counted = bytes.Cut(id, []byte{','}); it.counted {
				it.count = e.number(count)
			}
		}
		v, err := parseHex(id, 8)
		e.check(err)
		it.id = int32(uint32(v) - 4)
		items = append(items, it)
	}
	e.fields = append(e.fields, field{key: "items", items: items})
}

// How much the blobs of texts may hold: the game asks for texts of 256 bytes.
const (
	maxText     = 256
	textPerByte = 8 // of a longer text
)

// blobText returns the string of a blob without the NUL that ends it.
func (e *event) blobText(blob []byte) []byte {
	if compressionOf(blob) != plain {
		if size, _, err := blobSize(blob); err == nil && size > int64(max(maxText, textPerByte*len(blob))) {
			e.bad = true
			return nil
		}
	}
	text, err := decodeBlob(bytes.Clone(blob))
	e.check(err)
	return bytes.TrimSuffix(text, []byte{0})
}

func (e *event) parseBones(s []byte) {
	var data []byte
	if string(s) != "!" {
		var err error
		data, err = decodeBlob(bytes.Clone(s))
		e.check(err)
	}
	e.addNumber("size", int64(len(data)))
}
