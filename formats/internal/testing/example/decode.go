package example

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"recfs/formats"
)

const (
	name    = "example"
	magic   = "scores "
	maxLine = 1024

	// maxTickMS keeps times within a time.Duration: 2^31 ticks of a second are 68 years.
	maxTickMS = 1000
)

// A header is the first line of a log.
type header struct {
	line   string // without its line feed
	start  time.Time
	tickMS int64
	world  string
}

// size returns how many bytes the header takes.
func (h *header) size() int64 { return int64(len(h.line)) + 1 }

// length returns the time from the start to a tick.
func (h *header) length(tick int64) time.Duration {
	return time.Duration(tick*h.tickMS) * time.Millisecond
}

// parseHeader parses the first line of a log.
func parseHeader(line string) (*header, error) {
	f := strings.Split(line, " ")
	if len(f) != 5 || f[0]+" " != magic || f[1] != "1" {
		return nil, formats.Corrupt(name, 0, "not the header of a score log of version 1")
	}
	start, err := time.Parse("2006-01-02T15:04:05Z", f[2])
	if err != nil || !formats.HasDate(start) {
		return nil, formats.Corrupt(name, int64(len(f[0])+len(f[1])+2), "the start is no time")
	}
	ms, err := strconv.ParseUint(f[3], 10, 16)
	if err != nil || ms == 0 || ms > maxTickMS {
		return nil, formats.Corrupt(name, int64(len(line)-len(f[4])-len(f[3])-1), "a tick takes no 1 to %d ms", maxTickMS)
	}
	return &header{line: line, start: start, tickMS: int64(ms), world: f[4]}, nil
}

// A score is a line of a log.
type score struct {
	Tick   int64  `json:"tick"`
	Player string `json:"player"`
	Score  int32  `json:"score"`
}

// parseScore parses a line without its line feed. A tick has 31 bits.
func parseScore(line []byte) (s score, ok bool) {
	f := bytes.Split(line, []byte{' '})
	if len(f) != 3 || len(f[1]) == 0 {
		return s, false
	}
	tick, err := strconv.ParseUint(string(f[0]), 10, 31)
	if err != nil {
		return s, false
	}
	points, err := strconv.ParseInt(string(f[2]), 10, 32)
	return score{int64(tick), strings.ToValidUTF8(string(f[1]), "\ufffd"), int32(points)}, err == nil
}

// lines reads the lines of a part of a log.
type lines struct {
	ctx  context.Context
	r    *bufio.Reader
	off  int64 // of the next line
	read int64 // where r is
}

func readLines(ctx context.Context, r formats.ReaderAt, off, end int64) *lines {
	return &lines{ctx, bufio.NewReaderSize(io.NewSectionReader(formats.At(ctx, r), off, end-off), maxLine), off, off}
}

// next returns the next line without its line feed, until the next call; nil: it is longer than a
// line can be. io.EOF: the part ends with what has no line feed, or with nothing.
func (l *lines) next() (line []byte, err error) {
	if err := l.ctx.Err(); err != nil {
		return nil, err
	}
	long := false
	for {
		line, err = l.r.ReadSlice('\n')
		l.read += int64(len(line))
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
		long = true
	}
	switch {
	case err == io.EOF:
		return nil, io.EOF
	case err != nil:
		return nil, &formats.Error{Format: name, Offset: l.off, Err: err}
	}
	if l.off = l.read; long {
		return nil, nil
	}
	return line[:len(line)-1], nil
}

// appendLine appends a line of lines/N.jsonl, which is an element of a tick as well.
func (s score) appendLine(b []byte) []byte {
	line, _ := json.Marshal(s) // it has a string and numbers
	return append(append(b, line...), '\n')
}
