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
