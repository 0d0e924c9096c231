package hcrp

import (
	"fmt"
	"iter"
	"sort"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

// msPerTick is fixed: 20 ticks a second.
const msPerTick = 50

// appendMoment appends the start of an object: its tick and time.
func appendMoment(dst []byte, n int64) []byte {
	dst = append(dst, `{"tick":`...)
	dst = jsonenc.AppendInt(dst, n)
	dst = append(dst, `,"time_ms":`...)
	return jsonenc.AppendInt(dst, n*msPerTick)
}

// A tick is one record of a chunk that has events.
type tick struct {
	n           int64
	line        span // of the chunk's text, without newline
	first, last int  // events[first:last]
	cut         bool // an event stopped decoding
}

// A chunk is a decoded chunk.
type chunk struct {
	entry   Entry
	text    []byte // the ticks as JSON lines, then the entries of a snapshot section
	lines   int    // bytes of text that are lines
	ticks   []tick
	events  []event
	records int

	entries    []event           // of a snapshot section
	section    span              // of the body: the snapshot section without its length
	described  bool              // the section was decoded to its end
	marked     int               // leading events that form a published snapshot
	sectionCut bool              // the section does not fit into the body
	lost       bool              // an entry of the section failed: the world is unknown
	foreign    bool              // decoding stopped at an event whose id the schema lacks
	final      int64             // tick of the last complete record
	known      int64             // last tick whose events are known; before entry.Start: none
	stop       *formats.Problem  // where decoding stopped, nil if it came to the end
	problems   []formats.Problem // stop and what else was found
	short      error             // there was too little memory, see formats.Charge
	gathered   int64             // bytes that the blocks and items of its events take
}

// eventSize is about what an event takes in memory.
const eventSize = 256

// weight returns how many bytes of memory the chunk takes.
func (c *chunk) weight() int64 {
	return int64(cap(c.text)) + 64*int64(cap(c.ticks)) + eventSize*int64(cap(c.events)+cap(c.entries)) + c.gathered + 1<<10
}

// decodedPerByte is about how much memory decoding takes for each byte of a body: the byte itself,
// its text, and an event for every 16 bytes. A chunk that needs more is charged as it grows.
const (
	decodedPerByte = 1 + textPerBody + eventSize/16
	textPerBody    = 12
)

// peak returns what it takes to expand and decode chunk i.
func (r *Reader) peak(i int) int64 { return r.bodyPeak(i) + (decodedPerByte-1)*r.claimed(i) }

// bodyPeak returns what it takes to expand chunk i.
func (r *Reader) bodyPeak(i int) int64 {
	return 512<<10 + min(max(r.Entry(i).Stored, 0), r.limits.Body+firstAlloc) + r.claimed(i)
}

// claimed returns the greatest size of the body of chunk i, as the index claims.
func (r *Reader) claimed(i int) int64 { return min(max(r.Entry(i).Size, 0), r.limits.Body) }

// grown returns how many more bytes must be charged for a chunk that n were charged for. A list
// that grows is in memory twice.
func (c *chunk) grown(text []byte, n int64) int64 {
	need := 2 * (int64(cap(text)) + c.weight())
	if need <= n {
		return 0
	}
	return max(need-n, n/2)
}

// between returns the recorded ticks from first to last.
func (c *chunk) between(first, last int64) iter.Seq[*tick] {
	return func(yield func(*tick) bool) {
		i := sort.Search(len(c.ticks), func(i int) bool { return c.ticks[i].n >= first })
		for ; i < len(c.ticks) && c.ticks[i].n <= last && yield(&c.ticks[i]); i++ {
		}
	}
}

// find returns the tick with that number, or nil.
func (c *chunk) find(n int64) *tick {
	for t := range c.between(n, n) {
		return t
	}
	return nil
}

// bytes returns a piece of the text.
func (c *chunk) bytes(s span) []byte { return c.text[s.start:s.end:s.end] }

// name returns the name of an event.
func (c *chunk) name(e *event) string {
	if e.def == nil {
		return "unknown"
	}
	return e.def.Name
}

// Lines returns all recorded ticks as JSON lines, and a last line with the problem where decoding
// stopped.
func (c *chunk) Lines() []byte {
	last := c.stop
	if last == nil && c.lost {
		last = &c.problems[len(c.problems)-1]
	}
	return appendStop(c.text[:c.lines:c.lines], last)
}

// SnapshotLines returns the events or entries of the snapshot, one a line.
func (c *chunk) SnapshotLines(l Layout) []byte {
	var out []byte
	list := c.entries
	if l == Published {
		list = c.events[:c.marked]
	}
	for i := range list {
		out = append(append(out, c.bytes(list[i].text)...), '\n')
	}
	return out
}

// appendStop appends the line that says why no further lines follow, unless p is nil.
func appendStop(dst []byte, p *formats.Problem) []byte {
	if p == nil {
		return dst
	}
	dst = append(dst, `{"problem":{"code":`...)
	dst = jsonenc.AppendString(dst, p.Code)
	dst = fmt.Appendf(dst, `,"chunk":%d,"offset":%d,"message":`, *p.Chunk, p.Offset)
	dst = jsonenc.AppendString(dst, p.Message)
	return append(dst, "}}\n"...)
}
