package demo

import (
	"encoding/binary"
	"strings"
	"time"
	"unicode/utf8"
)

// TicksPerSecond is how many ticks a second has.
const TicksPerSecond = 50

// MaxTick is the last tick that a demo can have.
const MaxTick = 1879048190

// MaxMarkers is how many markers the timeline has at most.
const MaxMarkers = 64

// shaID begins what version 6 has beyond version 5.
var shaID = [16]byte{0x6b, 0xe6, 0xda, 0x4a, 0xce, 0xbd, 0x38, 0x0c, 0x9b, 0x5b, 0x12, 0x89, 0xc8, 0x42, 0xd7, 0x80}

// A Header is what comes before the chunks (docs/formats/demo.md section 1).
type Header struct {
	Map         string // its name
	CRC         uint32
	SHA256      []byte     // 32 bytes; none: unknown
	Follows     bool       // a player
	First, Last int32      // ticks
	Start       *time.Time // of tick 0; nil: unknown
	Markers     []int32    // ticks, strictly rising, at most MaxMarkers
}

// Append appends the header.
func (h *Header) Append(b []byte) []byte {
	version, kind, when := byte(5), "server", ""
	if len(h.SHA256) > 0 {
		version = 6
	}
	if h.Follows {
		kind = "client"
	}
	if h.Start != nil {
		when = h.Start.Add(time.Duration(h.First/TicksPerSecond) * time.Second).Format("2006-01-02_15-04-05")
	}
	b = append(b, "TWDEMO\x00"...)
	b = append(b, version)
	b = appendText(b, "0.6 626fce9a778df4d4", 64)
	b = appendText(b, h.Map, 64)
	b = binary.BigEndian.AppendUint32(b, 0) // the map is not in the demo
	b = binary.BigEndian.AppendUint32(b, h.CRC)
	b = appendText(b, kind, 8)
	b = binary.BigEndian.AppendUint32(b, uint32(h.Last-h.First)/TicksPerSecond)
	b = appendText(b, when, 20)
	b = binary.BigEndian.AppendUint32(b, uint32(len(h.Markers)))
	var markers [MaxMarkers]int32
	copy(markers[:], h.Markers)
	for _, tick := range markers {
		b = binary.BigEndian.AppendUint32(b, uint32(tick))
	}
	if version == 6 {
		b = append(append(b, shaID[:]...), h.SHA256...)
	}
	return b
}

// appendText appends a string as a field of size bytes, with one 00 at least.
func appendText(b []byte, s string, size int) []byte {
	s = Cut(s, size-1)
	b = append(b, s...)
	return append(b, make([]byte, size-len(s))...)
}

// Cut returns s, made valid UTF-8, cut to n bytes at a character.
func Cut(s string, n int) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// BlockTicks is the distance of key frames. They are at the multiples of it and at the first tick,
// so that everything from one multiple up to the next is the same in all demos of a recording.
const BlockTicks = 250

// Marks of a tick (docs/formats/demo.md section 3).
const (
	markKey  = 1<<7 | 1<<6
	markNext = 1<<7 | 1<<5 | 1
)

// Types of data.
const (
	snapshotChunk = 1 << 5
	messageChunk  = 2 << 5
	deltaChunk    = 3 << 5
)

// A Writer appends the chunks of a demo. The zero value is ready for use.
type Writer struct {
	out     []byte
	plain   []byte // a body before it is compressed
	packed  []byte // and after
	payload []byte // of a message
	delta   delta
}

// Bytes returns what was written since the last call of Reset, which the next one overwrites.
func (w *Writer) Bytes() []byte { return w.out }

// Reset forgets what was written.
func (w *Writer) Reset() { w.out = w.out[:0] }

// Key writes a tick as a key frame.
func (w *Writer) Key(tick int32, s *Snapshot) {
	w.out = binary.BigEndian.AppendUint32(append(w.out, markKey), uint32(tick))
	w.plain = s.append(w.plain[:0])
	w.chunk(snapshotChunk)
}

// Idle writes the tick after the last one, in which nothing changed.
func (w *Writer) Idle() { w.out = append(w.out, markNext) }

// Next writes the tick after the last one, whose snapshot was old. The last tick of a demo has a
// delta even if nothing changed.
func (w *Writer) Next(old, s *Snapshot, last bool) {
	w.Idle()
	w.delta.between(old, s)
	if !last && w.delta.empty() {
		return
	}
	w.plain = w.delta.append(w.plain[:0])
	w.chunk(deltaChunk)
}

// chunk writes w.plain as the body of a chunk. A body always has less than 64 KiB: MaxClients
// players with any values take less, and so does every message.
func (w *Writer) chunk(kind byte) {
	w.packed = appendHuffman(w.packed[:0], w.plain)
	switch size := len(w.packed); {
	case size < 30:
		w.out = append(w.out, kind|byte(size))
	case size < 256:
		w.out = append(w.out, kind|30, byte(size))
	default:
		w.out = binary.LittleEndian.AppendUint16(append(w.out, kind|31), uint16(size))
	}
	w.out = append(w.out, w.packed...)
}

// AppendInt appends v in one to five bytes (docs/formats/demo.md section 2): E S and 6 bits, then E
// and 7 bits each, least significant first. S says that the bits are the complement of v, E that
// another byte follows.
func AppendInt(b []byte, v int32) []byte {
	u := uint32(v ^ v>>31)
	c := byte(u&0x3f) | byte(v>>31)&0x40
	for u >>= 6; u != 0; u >>= 7 {
		b = append(b, c|0x80)
		c = byte(u & 0x7f)
	}
	return append(b, c)
}
