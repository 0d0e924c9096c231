package echo

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unsafe"

	"github.com/google/uuid"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

const (
	butterName = "butter"
	called     = "echo"
	maxString  = 1024    // with its final 0
	maxChunks  = 1 << 19 // a frame each would be 145 minutes; recorders write one for ten seconds
)

// A Header is the stored file header (docs/formats/butter.md section 3).
type Header struct {
	Version     uint8
	Interval    int // frames from one key frame to the next: the frames of a chunk
	Compression uint8
	ClientName  string // bytes as stored, like the names of players
	SessionID   uuid.UUID
	SessionIP   [4]byte
	Players     []TableEntry
	users       *users // the players as frames refer to them
	TotalRounds uint8
	BlueScore   uint8
	OrangeScore uint8
	Private     bool
	MapIndex    uint8
	Chunks      []Extent // without the empty entries of the table
	Entries     int      // of the chunk table, with the empty ones
	Size        int64    // of header and chunk table
	raw         []byte   // as stored: Size bytes
	End         int64    // where the last chunk should end
}

// A TableEntry is an entry of the player table.
type TableEntry struct {
	Name   string
	UserID int64
	Number uint8
	Level  uint8
}

// invalid is the name of nobody.
const invalid = "[INVALID]"

// users is the player table as frames refer to it, by a byte.
type users struct {
	of   []user     // nobody, and those of the table
	same [256]uint8 // the first reference to the same user id: what a base is looked up by
}

// A user is what a reference means.
type user struct {
	name          string
	id            int64
	number, level int32
}

func newUsers(table []TableEntry) *users {
	u := &users{of: make([]user, 1, 1+len(table))}
	u.of[0] = user{name: invalid, number: -1, level: -1}
	for ref := range u.same {
		u.same[ref] = uint8(ref)
	}
	first := map[int64]uint8{0: 0}
	for i, e := range table {
		if _, ok := first[e.UserID]; !ok {
			first[e.UserID] = uint8(i + 1)
		}
		u.same[i+1] = first[e.UserID]
		u.of = append(u.of, user{e.Name, e.UserID, int32(e.Number), int32(e.Level)})
	}
	return u
}

// memory is how many bytes the list takes.
func (u *users) memory() int64 { return int64(len(u.of)) * int64(unsafe.Sizeof(user{})) }

// at returns what a reference means, even one beyond the table.
func (u *users) at(ref uint8) user {
	if int(ref) < len(u.of) {
		return u.of[ref]
	}
	return user{name: "Player " + strconv.Itoa(int(ref)), number: -1, level: -1}
}

// An Extent is where a chunk lies in the file.
type Extent struct{ Offset, Size int64 }

// End returns the offset behind it.
func (e Extent) End() int64 { return e.Offset + e.Size }

var mapNames = [...]string{
	"uncoded", "mpl_lobby_b2", "mpl_arena_a", "mpl_combat_fission", "mpl_combat_combustion", "mpl_combat_dyson",
	"mpl_combat_gauss", "mpl_tutorial_arena",
}

// MapName returns the game's name of the map.
func (h *Header) MapName() string {
	if int(h.MapIndex) < len(mapNames) {
		return mapNames[h.MapIndex]
	}
	return "unknown"
}

func (h *Header) kind() mapKind {
	switch {
	case h.MapIndex == 2:
		return arena
	case h.MapIndex >= 3 && h.MapIndex <= 6:
		return combat
	}
	return other
}

// MatchType returns the game's match_type, which is not stored.
func (h *Header) MatchType() string {
	suffix := ""
	if h.Private {
		suffix = "_Private"
	}
	switch h.kind() {
	case arena:
		return "Echo_Arena" + suffix
	case combat:
		return "Echo_Combat" + suffix
	}
	return "Unknown"
}

// Session returns the session id as the game prints it.
func (h *Header) Session() string { return strings.ToUpper(h.SessionID.String()) }

// IP returns the address of the session.
func (h *Header) IP() string {
	return fmt.Sprintf("%d.%d.%d.%d", h.SessionIP[0], h.SessionIP[1], h.SessionIP[2], h.SessionIP[3])
}

// The compression codes of chunks.
const (
	stored   = 0
	gzipped  = 1
	zstdLast = 6 // 2 to 6 are zstd
)

// CompressionName returns what the code of the chunks' compression means.
func (h *Header) CompressionName() string {
	switch {
	case h.Compression == stored:
		return "stored"
	case h.Compression == gzipped:
		return "gzip"
	case h.Compression <= zstdLast:
		return "zstd"
	}
	return "unknown"
}

// freeTable is how many bytes at the start of a file are read for its header without being charged.
const freeTable = 64 << 10

// readHeader reads the header and the chunk table of a file of the given size. The Header takes
// five times the bytes that are stored, which are in memory twice while they are read.
func readHeader(ctx context.Context, r formats.ReaderAt, size int64) (*Header, error) {
	held, err := formats.Charge(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer held.Free()
	for n := int64(4096); ; n *= 4 {
		n = min(n, size)
		if n > freeTable {
			if err := held.Grow(6*n - held.Size()); err != nil {
				return nil, err
			}
		}
		b := make([]byte, n)
		if got, err := r.ReadAt(ctx, b, 0); int64(got) < n {
			return nil, formats.ShortRead(butterName, int64(got), err)
		}
		h, err := parseHeader(b, size)
		if n < size && errors.Is(err, io.ErrUnexpectedEOF) {
			continue
		}
		return h, err
	}
}

// parseHeader reads the header from the first bytes of a file of the given size.
func parseHeader(b []byte, size int64) (*Header, error) {
	c := wire.NewCursor(butterName, b, 0)
	h := &Header{Version: c.U8()}
	if c.Err() == nil && (h.Version < 1 || h.Version > 3) {
		return nil, formats.Errorf(butterName, 0, errors.ErrUnsupported, "version %d is not known", h.Version)
	}
	h.Interval = int(c.U16())
	if c.Err() == nil && h.Interval == 0 {
		return nil, formats.Corrupt(butterName, 1, "the key frame interval is 0")
	}
	h.Compression = c.U8()
	h.ClientName = string(c.CString(maxString))
	copy(h.SessionID[:], c.Bytes(16))
	copy(h.SessionIP[:], c.Bytes(4))
	h.players(c)
	h.TotalRounds = c.U8()
	score := c.U8()
	h.BlueScore, h.OrangeScore = score&15, score>>4
	place := c.U8()
	h.Private, h.MapIndex = place&1 != 0, place>>1
	if c.Err() != nil {
		return nil, cut(c, "the file ends inside its header")
	}
	if err := h.table(c, size); err != nil {
		return nil, err
	}
	h.raw = bytes.Clone(b[:h.Size])
	return h, nil
}

func (h *Header) players(c *wire.Cursor) {
	h.Players = make([]TableEntry, c.U8())
	for i := range h.Players {
		h.Players[i].Name = string(c.CString(maxString))
	}
	for i := range h.Players {
		h.Players[i].UserID = int64(c.U64())
	}
	for i := range h.Players {
		h.Players[i].Number = c.U8()
	}
	for i := range h.Players {
		h.Players[i].Level = c.U8()
	}
	h.users = newUsers(h.Players)
}

// table reads the chunk table. Its length is checked against the file before anything is allocated.
func (h *Header) table(c *wire.Cursor, size int64) error {
	at := c.Offset()
	count := int64(c.U32())
	switch {
	case c.Err() != nil:
		return cut(c, "the file ends inside its header")
	case count > maxChunks:
		return formats.Corrupt(butterName, at, "%d chunks are more than a file can have", count)
	case 4*count > size-c.Offset():
		return formats.Errorf(butterName, size, io.ErrUnexpectedEOF, "the file ends inside its chunk table")
	}
	sizes := wire.NewCursor(butterName, c.Bytes(4*int(count)), 0)
	if c.Err() != nil {
		return c.Err() // the caller reads more
	}
	h.Entries, h.Size = int(count), c.Offset()
	h.End = h.Size
	h.Chunks = make([]Extent, 0, count)
	for range count {
		n := int64(sizes.U32())
		if n > 0 {
			h.Chunks = append(h.Chunks, Extent{h.End, n})
		}
		h.End += n
	}
	return nil
}

// cut returns the error of c, with another reason if the bytes ended.
func cut(c *wire.Cursor, reason string) error {
	var e *formats.Error
	if errors.As(c.Err(), &e) && errors.Is(e, io.ErrUnexpectedEOF) {
		return formats.Errorf(butterName, e.Offset, io.ErrUnexpectedEOF, "%s", reason)
	}
	return c.Err()
}

// display returns a stored string as it is shown, and its bytes in hex if it is not UTF-8.
func display(s string) (shown, bytes string) {
	shown = string([]rune(s)) // one U+FFFD for each bad byte
	if shown != s {
		bytes = hex.EncodeToString([]byte(s))
	}
	return shown, bytes
}

// displayed is display for a string that a recording may not have.
func displayed(s *string) (shown *string, bytes string) {
	if s == nil {
		return nil, ""
	}
	text, bytes := display(*s)
	return &text, bytes
}

// matchButter reports whether the first bytes of a file look like a butter file.
func matchButter(head []byte) bool {
	c := wire.NewCursor(butterName, head, 0)
	version, interval, compression := c.U8(), c.U16(), c.U8()
	if c.Err() != nil || version < 1 || version > 3 || interval == 0 || compression > zstdLast {
		return false
	}
	if client := c.CString(64); len(client) == 0 || !printable(client) {
		return false
	}
	c.Skip(16 + 4)
	n := int(c.U8())
	if c.Err() != nil {
		return false
	}
	for range n {
		if !printable(c.CString(64)) {
			return false
		}
	}
	c.Skip(10*n + 2)
	place := c.U8()
	if c.Err() != nil {
		return errors.Is(c.Err(), io.ErrUnexpectedEOF)
	}
	return int(place>>1) < len(mapNames)
}

func printable(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
