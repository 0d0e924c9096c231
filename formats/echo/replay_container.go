package echo

import (
	"bytes"
	"context"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zip"

	"recfs/formats"
	"recfs/formats/internal/zipfile"
	"recfs/nodes"
)

const replayName = "echoreplay"

// A replayHead is what is known of a file once it is open: where its text is, and the first frame.
type replayHead struct {
	layout  string // layoutText or layoutZip
	entry   string // name of the zip entry
	method  uint16
	offset  int64   // of the text, or of what it inflates from, in the file
	length  int64   // of that
	sum     *uint32 // CRC-32 of the text, where a zip directory tells
	cut     bool    // the archive has no directory
	size    int64   // of the file
	kind    Kind
	session []byte // of the first frame, if it is near the start
}

const (
	layoutText = "text"
	layoutZip  = "zip"
)

// A replayReader reads the text of one file. It is safe for concurrent use.
type replayReader struct {
	*replayHead
	src     formats.ReaderAt // the file
	section nodes.Content    // the text, or what it inflates from

	mu     sync.Mutex // guards the inflater
	inflow io.Reader
	stored *nodes.Cursor // what inflow reads
	at     int64         // how much of the text it gave
}

// openHead finds the text of a file.
func openHead(ctx context.Context, src formats.ReaderAt, size int64) (*replayHead, error) {
	r := formats.At(ctx, src)
	magic := make([]byte, len(zipfile.LocalMagic))
	if n, err := r.ReadAt(magic, 0); n < len(magic) && err != io.EOF {
		return nil, &formats.Error{Format: replayName, Err: err}
	}
	if string(magic) != zipfile.LocalMagic {
		return &replayHead{layout: layoutText, length: size, size: size}, nil
	}
	c := &replayHead{layout: layoutZip, size: size}
	var err error
	if f, at := firstEntry(r, size); f != nil {
		err = c.fromDirectory(f, at, size)
	} else {
		err = c.fromLocalHeader(ctx, src, size)
	}
	if err != nil {
		return nil, err
	}
	if c.method != zip.Store && c.method != zip.Deflate {
		return nil, formats.Errorf(replayName, 8, errors.ErrUnsupported, "zip method %d", c.method)
	}
	return c, nil
}

// firstEntry returns the first entry of the directory and where its text begins, or nil if it leads
// to no local header.
func firstEntry(r io.ReaderAt, size int64) (*zip.File, int64) {
	z, err := zip.NewReader(io.NewSectionReader(r, 0, size), size) // an entry may lead to before the file
	if err != nil || len(z.File) == 0 {
		return nil, 0
	}
	at, err := z.File[0].DataOffset()
	if err != nil {
		return nil, 0
	}
	return z.File[0], at
}

// fromDirectory finds the text where an entry of the directory says.
func (c *replayHead) fromDirectory(f *zip.File, at, size int64) error {
	if f.Flags&1 != 0 {
		return formats.Errorf(replayName, 6, errors.ErrUnsupported, "the zip entry is encrypted")
	}
	c.entry, c.method, c.sum = f.Name, f.Method, &f.CRC32
	c.offset, c.length = at, min(int64(f.CompressedSize64), size-at)
	return nil
}

// fromLocalHeader finds the text in an archive that was cut before its directory, or whose
// directory leads elsewhere.
func (c *replayHead) fromLocalHeader(ctx context.Context, src formats.ReaderAt, size int64) error {
	r := formats.At(ctx, src)
	head := make([]byte, zipfile.LocalSize)
	if n, err := r.ReadAt(head, 0); n < len(head) {
		return formats.ShortRead(replayName, int64(n), err)
	}
	l, _ := zipfile.ParseLocal(head) // the signature was looked at
	if int64(l.Size()) > size {
		return formats.Errorf(replayName, size, io.ErrUnexpectedEOF, "the file ends inside its zip header")
	}
	entry := make([]byte, l.NameSize)
	if n, err := r.ReadAt(entry, zipfile.LocalSize); n < len(entry) {
		return formats.ShortRead(replayName, zipfile.LocalSize+int64(n), err)
	}
	c.entry, c.method, c.cut = string(entry), l.Method, true
	c.offset, c.length = int64(l.Size()), size-int64(l.Size())
	return nil
}

// newContainer returns a reader of the text of src.
func newContainer(h *replayHead, src formats.ReaderAt) *replayReader {
	return &replayReader{replayHead: h, src: src, section: nodes.SectionContent(src, h.offset, h.length)}
}

// text returns a reader of the whole text for one operation.
func (c *replayReader) text(ctx context.Context) io.Reader {
	if c.method == zip.Deflate {
		return flate.NewReader(nodes.Reader(ctx, c.section))
	}
	return nodes.Reader(ctx, c.section)
}

// A flow reads the lines of a file from where a pass begins. The flow of a zip archive stays open
// when the pass has read all bytes that it may, for the pass that goes on from there, as otherwise
// everything before would have to be inflated again.
type flow struct {
	formats.ReaderAt // the file, or as much of it as may be read
	offset           int64
	stored           *nodes.Cursor // from offset on
	lines            *lineReader
	sum              hash.Hash32 // of the text before
	at               int64       // how long that is
	met              bool        // a read met the end, after which an inflater does not go on
}

// ReadAt implements formats.ReaderAt.
func (f *flow) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := f.ReaderAt.ReadAt(ctx, p, off)
	f.met = f.met || err != nil
	return n, err
}

// flowMargin is how far before the end of its bytes a pass stops between two chunks, so that it
// does not end inside a chunk: 300 deflated frames have fewer bytes.
const flowMargin = 8 << 20

// flowFrom returns the flow of the text from at on: the one that the pass of the earlier index left
// open, or a new one. It returns ErrOther if the text ends before at.
func (c *replayReader) flowFrom(ctx context.Context, earlier formats.Index, at int64) (*flow, error) {
	if x, ok := earlier.(*Index); ok {
		if f, ok := x.Open.(*flow); ok && f.at == at {
			x.Open, f.ReaderAt = nil, c.src
			var err error
			f.lines.held, err = formats.Charge(ctx, 0)
			return f, err
		}
	}
	f := &flow{ReaderAt: c.src, offset: c.offset, sum: crc32.NewIEEE(), at: at}
	f.stored = nodes.NewCursor(nodes.SectionContent(f, c.offset, c.length), 0, c.length)
	if c.layout == layoutText {
		f.stored.Reset(at)
	}
	text := io.Reader(f.stored)
	if c.method == zip.Deflate {
		text = flate.NewReader(f.stored)
	}
	if c.layout == layoutZip {
		defer f.stored.Bind(ctx)()
		if _, err := io.CopyN(f.sum, text, at); err == io.EOF || damaged(err) {
			return nil, formats.ErrOther
		} else if err != nil {
			return nil, err
		}
	}
	var err error
	f.lines, err = newLineReader(ctx, text)
	return f, err
}

// reached reports whether the pass has come close to end.
func (f *flow) reached(end int64) bool {
	return f.offset+f.stored.Offset() >= end-min(flowMargin, end/8)
}

// ReadAt reads from the text.
func (c *replayReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if c.method != zip.Deflate {
		return c.section.ReadAt(ctx, p, off)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inflow == nil || off < c.at {
		c.stored, c.at = nodes.NewCursor(c.section, 0, c.section.Size()), 0
		c.inflow = flate.NewReader(c.stored)
	}
	defer c.stored.Bind(ctx)()
	skipped, err := io.CopyN(io.Discard, c.inflow, off-c.at)
	c.at += skipped
	n := 0
	if err == nil {
		n, err = io.ReadFull(c.inflow, p)
		c.at += int64(n)
	}
	if err != nil {
		c.inflow = nil
	}
	return n, err
}

// matchReplay reports whether the first bytes of a file are those of an .echoreplay file, zipped or
// not.
func matchReplay(head []byte) bool {
	if !bytes.HasPrefix(head, []byte(zipfile.LocalMagic)) {
		return startsLine(head)
	}
	l, ok := zipfile.ParseLocal(head)
	if !ok || l.Size() > len(head) {
		return false
	}
	if bytes.HasSuffix(head[zipfile.LocalSize:l.NameEnd()], []byte(".echoreplay")) {
		return true
	}
	text := io.Reader(bytes.NewReader(head[l.Size():]))
	if l.Method == zip.Deflate {
		text = flate.NewReader(text)
	}
	start := make([]byte, 64)
	n, _ := io.ReadFull(text, start) // what there is before an error counts
	return startsLine(start[:n])
}

// startsLine reports whether a line of a frame starts in b, where the lines before it may be
// anything.
func startsLine(b []byte) bool {
	for line := range bytes.Lines(withoutMark(b)) {
		line = bytes.TrimLeft(line, "\r")
		if len(line) < stampLen+2 || line[stampLen] != '\t' || line[stampLen+1] != '{' {
			continue
		}
		if _, ok := parseStamp(line[:stampLen]); ok {
			return true
		}
	}
	return false
}

// withoutMark returns the text without a byte order mark.
func withoutMark(b []byte) []byte {
	if s := string(b[:min(len(b), 3)]); s == "\ufeff" {
		return b[3:]
	}
	return b
}
