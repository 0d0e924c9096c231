package datafile

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

var _ json.Marshaler = tileCounts{}

// Tiles are the records of a tile layer, row by row from the top left, or the pixels of an image.
// Those of other layers are one row.
type Tiles struct {
	Kind          Kind
	Width, Height int
	Records       []byte // nil if they are too many to be held in memory

	stream formats.ReaderAt // of the records then
	held   *formats.Held

	size int // of a record
	main int // the byte of a record that is its index or type
}

// tiles returns the tiles of a layer without their records.
func (l *Layer) tiles() *Tiles {
	w, h := l.dimensions()
	return &Tiles{Kind: l.Kind, Width: int(w), Height: int(h), size: int(l.recordSize()), main: recordsOf[l.Kind].main}
}

// length is how many bytes all records take.
func (t *Tiles) length() int64 { return int64(t.Width) * int64(t.Height) * int64(t.size) }

// Held is about how much memory the records take.
func (t *Tiles) Held() int64 {
	if t.stream != nil {
		return 2 * inflaterCost
	}
	return int64(len(t.Records))
}

// at returns the records of n tiles from tile i on. They may lie in b.
func (t *Tiles) at(ctx context.Context, b []byte, i, n int) ([]byte, error) {
	if t.stream == nil {
		return t.Records[i*t.size : (i+n)*t.size], nil
	}
	b = slices.Grow(b[:0], n*t.size)[:n*t.size]
	if k, err := t.stream.ReadAt(ctx, b, int64(i)*int64(t.size)); k < len(b) {
		return nil, err
	}
	return b, nil
}

// maxPart is how many tiles or pixels are looked at at once: a row may be as long as a map. It is a
// multiple of all scales of pictures. Of other records there are fewer.
const (
	maxPart       = 16 << 10
	recordsAtOnce = 512
)

// errEnough ends a walk over records before their end.
var errEnough = errors.New("the rest does not matter")

// each calls do with all records, in order, some at a time, and with the number of the first of
// them.
func (t *Tiles) each(ctx context.Context, do func(n int, records []byte) error) error {
	all, step := t.Width*t.Height, maxPart
	if t.size > 8 {
		step = recordsAtOnce
	}
	var b []byte
	for i := 0; i < all; i += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		records, err := t.at(ctx, b, i, min(step, all-i))
		if err == nil {
			err = do(i, records)
		}
		if err != nil {
			return err
		}
		b = records
	}
	return nil
}

// isDot reports whether a grid shows a tile as a dot.
func (t *Tiles) isDot(record []byte) bool {
	if t.numbered() {
		return isZero(record)
	}
	return record[0] == 0 && record[1] == 0
}

// rows are the tiles for a drawing, which takes them from the top left.
type rows struct {
	*Tiles
	b       []byte // what was taken last
	x, y, n int
}

// part returns the records of n tiles of row y from x on, which the next call may change.
func (r *rows) part(ctx context.Context, x, y, n int) (b []byte, err error) {
	if r.b == nil || x != r.x || y != r.y || n != r.n { // where a tile is several pixels high it is taken as often
		if b, err = r.at(ctx, r.b, y*r.Width+x, n); err != nil {
			r.b = nil
			return nil, err
		}
		r.b, r.x, r.y, r.n = b, x, y, n
	}
	return r.b, nil
}

// numbered reports whether a tile has more to it than index and flags.
func (t *Tiles) numbered() bool { return t.main > 0 }

// A tileCounts says how often each index or type occurs.
type tileCounts [256]int

func (t *Tiles) count(ctx context.Context) (c tileCounts, err error) {
	err = t.each(ctx, func(_ int, records []byte) error {
		for i := t.main; i < len(records); i += t.size {
			c[records[i]]++
		}
		return nil
	})
	return c, err
}

// nonAir is the number of tiles with an index or type other than 0.
func (c *tileCounts) nonAir() int {
	sum := 0
	for _, n := range c[1:] {
		sum += n
	}
	return sum
}

// MarshalJSON implements json.Marshaler: an object from index to number, without 0 and those that
// do not occur.
func (c tileCounts) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, n := range c {
		if i == 0 || n == 0 {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = jsonenc.AppendInt(b, i)
		b = append(b, `":`...)
		b = jsonenc.AppendInt(b, n)
	}
	return append(b, '}'), nil
}

func (t *Tiles) appendRecord(b, record []byte) []byte {
	if t.Kind == KindSpeedup {
		b = appendField(b, "force", int(record[0]))
		b = appendField(append(b, ','), "max_speed", int(record[1]))
		b = appendField(append(b, ','), "type", int(record[2]))
		return appendField(append(b, ','), "angle", int(int16(binary.LittleEndian.Uint16(record[4:]))))
	}
	b = appendField(b, "number", int(record[0]))
	b = appendField(append(b, ','), "type", int(record[1]))
	if t.Kind == KindSwitch {
		b = appendField(append(b, ','), "flags", int(record[2]))
		b = appendField(append(b, ','), "delay", int(record[3]))
	}
	return b
}

func appendField(b []byte, key string, v int) []byte {
	b = append(b, '"')
	b = append(b, key...)
	b = append(b, `":`...)
	return jsonenc.AppendInt(b, v)
}

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// Indexes of tiles in which a character cannot be: hookable or not.
const (
	tileSolid  = 1
	tileNohook = 3
)

// maxOutlined bounds the data of a map that is read for its outline alone.
const maxOutlined = 64 << 20

// Outline finds the solid tiles of a map file.
func Outline(ctx context.Context, file []byte) (*formats.Outline, error) {
	r, err := NewReader(ctx, formats.BytesReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	r.MaxData = maxOutlined
	l := r.Map().Game
	if l == nil || l.empty() {
		return nil, formats.Errorf(formatName, 0, errors.ErrUnsupported, "there is no game layer")
	}
	if err := r.checkContent(l, nil); err != nil {
		return nil, err
	}
	data, err := r.ReadData(ctx, int(*l.Data))
	if err != nil {
		return nil, err
	}
	tiles := l.tiles()
	records, err := r.recordsIn(data, tiles, l)
	m := &formats.Outline{Width: tiles.Width, Height: tiles.Height, Solid: make([]bool, len(records)/4)}
	for i := range m.Solid {
		m.Solid[i] = records[4*i] == tileSolid || records[4*i] == tileNohook
	}
	return m, err
}

// tileNames are those of the indexes of game and front layers, and of the types of tele, speedup
// and tune layers (docs/formats/datafile.md section B.9).
var tileNames = map[int]string{
	0: "air", 1: "hookable", 2: "death", 3: "unhookable", 4: "laser block", 5: "hook-through cut", 6: "hook-through", 7: "jump",
	9: "freeze", 10: "evil tele in", 11: "unfreeze", 12: "deep freeze", 13: "deep unfreeze", 14: "weapon tele in", 15: "hook tele in",
	16: "wall jump", 17: "endless hook on", 18: "endless hook off", 19: "hit others on", 20: "hit others off", 21: "solo on", 22: "solo off",
	26: "tele in", 27: "tele out", 28: "boost", 29: "tele checkpoint", 30: "checkpoint tele out", 31: "checkpoint tele in",
	32: "refill jumps", 33: "start", 34: "finish", 60: "stopper", 61: "two-way stopper", 62: "four-way stopper",
	63: "evil checkpoint tele in", 66: "hook-through all", 67: "hook-through one way", 68: "tune",
	192: "spawn", 193: "red spawn", 194: "blue spawn", 195: "red flag", 196: "blue flag", 197: "armor", 198: "health",
	199: "shotgun", 200: "grenade", 201: "ninja", 202: "laser",
}

// switchNames are those of types that mean something else in a switch layer.
var switchNames = map[int]string{22: "timed open", 23: "timed close", 24: "open", 25: "close"}

// cellName returns what the tile of a cell of a grid is called, "" if it has no name. Flags and
// numbers stand behind it.
func (k Kind) cellName(cell string) string {
	if cell == "." {
		cell = "0"
	}
	digits, rest := cell, ""
	if i := strings.IndexAny(cell, "/#"); i >= 0 {
		digits, rest = cell[:i], cell[i:]
	}
	n, err := strconv.Atoi(digits)
	name := tileNames[n]
	switch {
	case err != nil:
		return ""
	case k == KindSwitch && switchNames[n] != "":
		name = switchNames[n]
	case n >= 35 && n <= 59:
		name = fmt.Sprint("time checkpoint ", n-34)
	}
	if name == "" {
		return ""
	}
	return name + rest
}
