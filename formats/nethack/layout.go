package nethack

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"strings"

	"recfs/formats"
)

const name = "nethack" // of the format

// Places of the fixed first two lines (docs/formats/nethack.md sections 1.1 and 1.2).
const (
	statusAt      = 7
	countAt       = 12
	countSize     = 8
	versionAt     = 21
	firstSize     = 31 // with its newline
	descriptionAt = 31
	line3At       = 110
	hintSize      = 8 // digits after the * of line 4
	locationSize  = 1 + hintSize + 1
)

// maxHeader bounds the three header lines together.
const maxHeader = 1 << 20

// firstLine is the pattern of line 1: x a hex digit, d a decimal one, anything else itself.
const firstLine = "NHGAME ---- xxxxxxxx d.ddd.ddd\n"

// A header is the three lines in front of the game.
type header struct {
	status      string
	count       uint32 // of recoveries
	version     string
	description []byte
	start       uint64 // microseconds since 1970 UTC
	mode        int64
	name        []byte
	words       [4]string // role, race, gender, alignment
	size        int64     // of the three lines
	lines       []byte    // as they are
}

var modes = []string{"normal", "explore", "wizard", "set_seed"}

// fourkModes are those of NetHack Fourk, whose versions begin with 3.
var fourkModes = []string{"normal", "challenge", "explore", "wizard", "set_seed"}

// modeName returns the word for the play mode, or "".
func (h *header) modeName() string {
	names := modes
	if strings.HasPrefix(h.version, "3.") {
		names = fourkModes
	}
	if h.mode < 0 || h.mode >= int64(len(names)) {
		return ""
	}
	return names[h.mode]
}

// match tells whether a file begins as a NetHack 4.3 log does.
func match(head []byte) bool { return mismatch(head) < 0 }

// mismatch returns the offset of the first byte that is not that of a NetHack 4.3 log, or -1.
func mismatch(head []byte) int {
	for i := range len(firstLine) {
		if i >= len(head) {
			return i
		}
		c, ok := head[i], false
		switch firstLine[i] {
		case '-':
			word := string(head[statusAt:min(len(head), statusAt+4)])
			if word != "save" && word != "done" {
				return statusAt
			}
			ok = true
		case 'x':
			ok = '0' <= c && c <= '9' || 'a' <= c && c <= 'f'
		case 'd':
			ok = '0' <= c && c <= '9'
		default:
			ok = c == firstLine[i]
		}
		if !ok {
			return i
		}
	}
	return -1
}

// readHeader reads the first three lines of a log of the given size.
func readHeader(ctx context.Context, r io.ReaderAt, size int64) (*header, error) {
	head := make([]byte, min(size, line3At))
	if _, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, &formats.Error{Format: name, Offset: 0, Err: err}
	}
	if at := mismatch(head); at >= 0 {
		if bytes.HasPrefix(head, []byte(firstLine[:statusAt])) {
			return nil, formats.Errorf(name, int64(at), errors.ErrUnsupported, "the first line is not that of a NetHack 4.3 log; "+
				"NitroHack, NetHack 4.2 and DynaHack begin alike but are another format")
		}
		return nil, formats.Corrupt(name, int64(at), "the first line is not that of a NetHack 4.3 log")
	}
	if len(head) < line3At || head[line3At-1] != '\n' || bytes.IndexByte(head[descriptionAt:line3At-1], '\n') >= 0 {
		return nil, formats.Corrupt(name, descriptionAt, "the second line is not 78 bytes long")
	}
	l, err := newScannerSize(r, line3At, min(size, maxHeader), 256).next(ctx)
	if errors.Is(err, io.EOF) {
		return nil, formats.Corrupt(name, line3At, "the third line has no newline")
	}
	if err != nil {
		return nil, &formats.Error{Format: name, Offset: line3At, Err: err}
	}
	count, _ := parseHex(head[countAt:countAt+countSize], countSize)
	h := &header{
		status:      string(head[statusAt : statusAt+4]),
		count:       uint32(count),
		version:     string(head[versionAt : firstSize-1]),
		description: bytes.TrimLeft(head[descriptionAt:line3At-1], " "),
		size:        l.end,
		lines:       append(append(head, l.text...), '\n'),
	}
	return h, h.parseThird(l.text)
}

// parseThird reads the eight fields of line 3 (docs/formats/nethack.md section 1.3).
func (h *header) parseThird(text []byte) error {
	fields := bytes.Split(text, []byte{' '})
	if len(fields) != 8 {
		return formats.Corrupt(name, line3At, "the third line has %d fields instead of 8", len(fields))
	}
	var err error
	if h.start, err = parseHex(fields[0], 16); err != nil {
		return formats.Corrupt(name, line3At, "the start time is %s", err)
	}
	if _, err = parseHex(fields[1], 16); err != nil {
		return formats.Corrupt(name, line3At, "the second field of the third line is %s", err)
	}
	if h.mode, err = parseNumber(fields[2]); err != nil || h.mode < 0 || h.mode > math.MaxInt32 {
		return formats.Corrupt(name, line3At, "the play mode is no decimal number")
	}
	if h.name, err = decodeBlob(bytes.Clone(fields[3])); err != nil {
		return formats.Corrupt(name, line3At, "the player's name: %v", err)
	}
	for i, word := range fields[4:] {
		if len(word) == 0 {
			return formats.Corrupt(name, line3At, "field %d of the third line is empty", i+5)
		}
		h.words[i] = string(word)
	}
	return nil
}

var errNumber = errors.New("not a decimal number")

// parseNumber reads a decimal number of at most 18 digits, perhaps negative.
func parseNumber(s []byte) (int64, error) {
	digits, negative := bytes.CutPrefix(s, []byte{'-'})
	if len(digits) == 0 || len(digits) > 18 {
		return 0, errNumber
	}
	var v int64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, errNumber
		}
		v = 10*v + int64(c-'0')
	}
	if negative {
		v = -v
	}
	return v, nil
}
