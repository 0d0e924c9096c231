package example

import (
	"context"
	"errors"
	"hash/crc32"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/internal/wire"
)

const (
	name      = "example"
	magic     = "SCOR\x01"
	maxHeader = len(magic) + 2 + 8 + 1 + math.MaxUint8
	frameHead = 12

	// What a chunk has at most: bytes, stored or not, records and players. All its lines are made at
	// once, and of a record of three bytes one of 2 KiB.
	maxChunk   = 1 << 20
	maxRecords = 1 << 12
	maxPlayers = 64

	// maxTick keeps times within a time.Duration: so many ticks of a second are 68 years.
	maxTick   = math.MaxInt32
	maxTickMS = 1000
)

// The codes of problems.
const (
	codeFrame    = "bad_frame" // the pass ends there
	codeMany     = "too_many"  // and there
	codeChecksum = "chunk_checksum"
	codeZlib     = "chunk_zlib"
	codeRecord   = "bad_record"
)

// A header is what a log begins with.
type header struct {
	raw    []byte
	start  *time.Time // nil: it is not known
	tickMS int64
	world  string
}

// problems are those of header.json, which index.json has, too.
func (h *header) problems() []formats.Problem {
	if utf8.ValidString(h.world) {
		return []formats.Problem{}
	}
	return []formats.Problem{{Code: "bad_utf8", Offset: int64(len(h.raw) - len(h.world)), Message: "the map has bytes that are not UTF-8"}}
}

// length returns the time from the start to a tick.
func (h *header) length(tick int64) time.Duration {
	return time.Duration(tick*h.tickMS) * time.Millisecond
}

// parseHeader parses the first bytes of a log. A start that has no date is none, and no problem.
func parseHeader(b []byte) (*header, error) {
	if !strings.HasPrefix(string(b), magic) {
		return nil, formats.Corrupt(name, 0, "not a score log of version 1")
	}
	c := wire.NewCursor(name, b, 0)
	c.Skip(len(magic))
	h := &header{tickMS: int64(c.U16())}
	if h.tickMS == 0 || h.tickMS > maxTickMS {
		c.Fail("a tick takes %d ms, not 1 to %d", h.tickMS, maxTickMS)
	}
	if start := time.UnixMilli(int64(c.U64())).UTC(); formats.HasDate(start) {
		h.start = &start
	}
	h.world = string(c.Bytes(int(c.U8())))
	h.raw = b[:c.Pos()]
	return h, c.Err()
}

// A frame is where a chunk lies, and what is said of it there.
type frame struct {
	number       int
	offset       int64
	stored, size int64 // of the chunk
	crc          uint32
}

// parseFrame parses the head of a frame.
func parseFrame(b []byte, number int, offset int64) frame {
	c := wire.NewCursor(name, b, offset)
	return frame{number, offset, int64(c.U32()), int64(c.U32()), c.U32()}
}

// ends reports whether the frame is the one that ends a log.
func (f frame) ends() bool { return f.stored == 0 && f.size == 0 && f.crc == 0 }

// possible reports whether there can be a chunk of such sizes.
func (f frame) possible() bool { return 0 < f.stored && f.stored <= maxChunk && f.size <= maxChunk }

// end returns where the next frame begins.
func (f frame) end() int64 { return f.offset + frameHead + f.stored }

// cost returns how many bytes it takes to read the chunk.
func (f frame) cost() int64 { return f.stored + f.size }

// fault returns the error of a chunk that is damaged. Its code says that the log tells of it, and
// its offset is that of the frame, as those in a compressed chunk are none of the file.
func (f frame) fault(code, msg string, args ...any) *formats.Error {
	e := formats.Corrupt(name, f.offset, msg, args...)
	e.Code, e.Chunk = code, &f.number
	return e
}

// A body is what a chunk inflates to, up to where its stream breaks. It is a value of a Memo, which
// would not keep what comes beside an error.
type body struct {
	bytes []byte
	bad   error // a fault; nil: that is all
}

// chunk reads the chunk. The error says nothing of the log: it is that of a read.
func (f frame) chunk(ctx context.Context, r formats.ReaderAt) (body, error) {
	stored := make([]byte, f.stored)
	if err := readFull(ctx, r, stored, f.offset+frameHead); err != nil {
		return body{}, err
	}
	if sum := crc32.ChecksumIEEE(stored); sum != f.crc { // what these bytes inflate to may be anything
		return body{bad: f.fault(codeChecksum, "the CRC-32 is %08x, the frame says %08x", sum, f.crc)}, nil
	}
	b, rest, err := wire.Zlib(stored, f.size)
	switch {
	case err != nil:
		return body{b, f.fault(codeZlib, "%v", err)}, nil
	case rest > 0:
		return body{b, f.fault(codeZlib, "%d bytes follow the zlib stream", rest)}, nil
	}
	return body{bytes: b}, nil
}

// readFull fills b with the bytes at off.
func readFull(ctx context.Context, r formats.ReaderAt, b []byte, off int64) error {
	if n, err := r.ReadAt(ctx, b, off); n < len(b) {
		return formats.ShortRead(name, off+int64(n), err)
	}
	return nil
}

// A score is a record: from a tick on a player has so many points.
type score struct {
	Tick   int64
	Player int // in the list of the chunk
	Points int32
}

// records are those of a chunk, one after the other, up to the first that does not decode.
type records struct {
	*wire.Cursor
	frame  frame
	bad    error    // where the stream breaks
	n      int      // of the record now
	names  []string // of the players, as they are stored
	points []int32  // that they have before the record now
	now    score
	ok     bool // there is one
}

// newRecords reads the beginning of a chunk and its first record. No tick of it is before least.
func newRecords(f frame, chunk body, least int64) *records {
	r := &records{Cursor: wire.NewCursor(name, chunk.bytes, 0), frame: f, bad: chunk.bad}
	r.now.Tick = int64(r.Uvarint(5))
	if r.now.Tick < least {
		r.Fail("tick %d, the chunks before go up to %d", r.now.Tick, least-1)
	}
	for n := r.U8(); n > 0; n-- {
		r.names = append(r.names, string(r.Bytes(int(r.U8()))))
		r.points = append(r.points, r.zigzag())
	}
	r.next()
	return r
}

// next goes on to the next record.
func (r *records) next() {
	if r.ok = r.Len() > 0; !r.ok {
		return
	}
	s := score{r.now.Tick + int64(r.Uvarint(5)), int(r.U8()), r.zigzag()}
	if r.n++; r.n > maxRecords || len(r.names) > maxPlayers {
		r.Fail("record %d of %d players", r.n, len(r.names))
	}
	if s.Tick > maxTick || s.Player >= len(r.names) {
		r.Fail("tick %d of player %d, there are %d players", s.Tick, s.Player, len(r.names))
	}
	if r.ok = r.Err() == nil; r.ok {
		r.now = s
	}
}

// zigzag reads a number with a sign, of 32 bits.
func (r *records) zigzag() int32 {
	n := wire.Zigzag(r.Uvarint(5))
	if n != int64(int32(n)) {
		r.Fail("%d points", n)
	}
	return int32(n)
}

// play goes on until behind the records of a tick, and calls fn for each of them.
func (r *records) play(tick int64, fn func()) {
	for ; r.ok && r.now.Tick <= tick; r.next() {
		if r.now.Tick == tick {
			fn()
		}
		r.points[r.now.Player] = r.now.Points
	}
}

// fault returns why records are missing: the stream breaks, or one does not decode. nil: none are.
func (r *records) fault() error {
	e, ok := errors.AsType[*formats.Error](r.Err())
	if !ok || r.bad != nil {
		return r.bad
	}
	return r.frame.fault(codeRecord, "at byte %d of the chunk: %v", e.Offset, e.Err)
}

// append appends the record now as compact JSON: a line of lines/, and an element of ticks/.
func (r *records) append(b []byte) []byte {
	b = jsonenc.AppendInt(append(b, `{"tick":`...), r.now.Tick)
	b = jsonenc.AppendText(b, "player", r.names[r.now.Player])
	return append(jsonenc.AppendInt(jsonenc.AppendKey(b, "score"), r.now.Points), '}')
}

// A standing is what a player has at some time.
type standing struct {
	Player    string `json:"player"`
	PlayerHex string `json:"player_hex,omitempty"` // if the name is not UTF-8
	Points    int32  `json:"score"`
}

// standings are those of all players of the chunk before the record now.
func (r *records) standings() []standing {
	list := make([]standing, len(r.names))
	for i, player := range r.names {
		list[i] = standing{player, formats.HexOf(player), r.points[i]}
	}
	return list
}
