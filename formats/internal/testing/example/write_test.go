package example

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"time"
)

// start is that of the logs of tests.
var start = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

// head is the header of the logs of tests.
var head = headerOf(50, start.UnixMilli())

// ending is the frame that ends a log.
var ending = string(make([]byte, frameHead))

func headerOf(tickMS uint16, start int64) string {
	b := binary.LittleEndian.AppendUint16([]byte(magic), tickMS)
	return string(binary.LittleEndian.AppendUint64(b, uint64(start))) + "\x04dust"
}

// A chunkText is a chunk that is being written.
type chunkText struct {
	b    []byte
	tick int64
}

// newChunk begins a chunk of players with these points.
func newChunk(tick int64, points int64, players ...string) *chunkText {
	c := &chunkText{append(binary.AppendUvarint(nil, uint64(tick)), byte(len(players))), tick}
	for i, player := range players {
		c.b = append(append(c.b, byte(len(player))), player...)
		c.b = binary.AppendVarint(c.b, max(points+int64(i), 0))
	}
	return c
}

func (c *chunkText) add(tick int64, player byte, points int64) *chunkText {
	c.b = append(binary.AppendUvarint(c.b, uint64(tick-c.tick)), player)
	c.b, c.tick = binary.AppendVarint(c.b, points), tick
	return c
}

// frame returns the chunk in a frame.
func (c *chunkText) frame() string {
	var stored bytes.Buffer
	w := zlib.NewWriter(&stored)
	w.Write(c.b)
	w.Close()
	return frameOf(stored.Bytes(), len(c.b))
}

func frameOf(stored []byte, size int) string {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(stored)))
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	return string(append(binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(stored)), stored...))
}

// inChunk is how many scores a chunk of a long log has, and inTick a tick.
const (
	inChunk = 300
	inTick  = 3
)

// longLog returns a log of n scores without an end.
func longLog(n int) string {
	log := []byte(head)
	for first := 0; first < n; first += inChunk {
		c := newChunk(int64(first/inTick), int64(first-5), "player0", "player1", "player2", "player3", "player4")
		for i := first; i < min(first+inChunk, n); i++ {
			c.add(int64(i/inTick), byte(i%5), int64(i))
		}
		log = append(log, c.frame()...)
	}
	return string(log)
}

// noDate is a start that has no date.
const noDate = math.MaxInt64

// broken returns a frame with a bit of its checksum changed.
func broken(frame string) string {
	b := slices.Clone([]byte(frame))
	b[8] ^= 1
	return string(b)
}

// cutStream returns a zlib stream that ends after so many bytes of a chunk.
func cutStream(b []byte, n int) string {
	var stored bytes.Buffer
	w := zlib.NewWriter(&stored)
	w.Write(b[:n])
	w.Flush()
	return stored.String()
}
