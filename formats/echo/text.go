package echo

import (
	"context"
	"io"
	"io/fs"
	"math"
	"sort"
	"unicode/utf8"
)

// Documents are kept as they are stored, and shown with one U+FFFD for each byte that is not UTF-8: that has three
// bytes, so that what is shown may be three times as long.

// AppendValid appends b as it is shown, until dst has about limit bytes, and returns how many of b that are.
func AppendValid(dst, b []byte, limit int) ([]byte, int) {
	if head := b[:min(len(b), max(limit-len(dst), 0))]; utf8.Valid(head) {
		return append(dst, head...), len(head)
	}
	i := 0
	for i < len(b) && len(dst) < limit {
		r, n := utf8.DecodeRune(b[i:])
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return dst, i
}

// ValidString returns b as it is shown.
func ValidString(b []byte) string {
	if !utf8.Valid(b) {
		b, _ = AppendValid(nil, b, math.MaxInt)
	}
	return string(b)
}

// blockSize is about how many bytes of a text that is not UTF-8 are made at once.
const blockSize = 32 << 10

// newBlock returns room for a block, whose last rune may go beyond blockSize.
func newBlock() []byte { return make([]byte, 0, blockSize+utf8.UTFMax) }

// writeValid writes b as it is shown, and returns how long that is.
func writeValid(w io.Writer, b []byte) (n int64) {
	if utf8.Valid(b) {
		w.Write(b)
		return int64(len(b))
	}
	buf := newBlock()
	for len(b) > 0 {
		var used int
		buf, used = AppendValid(buf[:0], b, blockSize)
		w.Write(buf)
		b, n = b[used:], n+int64(len(buf))
	}
	return n
}

// A text is bytes as they are shown, made as they are read where they are not UTF-8.
type text struct {
	raw    []byte
	size   int64
	blocks []textBlock // nil: they are shown as they are
}

// A block is where some bytes of a text begin, as they are kept and as they are shown.
type textBlock struct {
	raw int
	at  int64
}

func newText(raw []byte) *text {
	t := &text{raw: raw, size: int64(len(raw))}
	if utf8.Valid(raw) {
		return t
	}
	t.size = 0
	buf := newBlock()
	for i := 0; i < len(raw); {
		t.blocks = append(t.blocks, textBlock{i, t.size})
		var n int
		buf, n = AppendValid(buf[:0], raw[i:], blockSize)
		i, t.size = i+n, t.size+int64(len(buf))
	}
	return t
}

// cost is how much memory the text keeps.
func (t *text) cost() int64 { return int64(cap(t.raw) + 16*len(t.blocks)) }

// Size returns how many bytes are shown.
func (t *text) Size() int64 { return t.size }

// ReadAt implements [nodes.ReaderAt].
func (t *text) ReadAt(ctx context.Context, p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	if t.blocks == nil {
		n = copy(p, t.raw[min(off, t.size):])
	} else {
		n, err = t.read(ctx, p, off)
	}
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// read is ReadAt of a text that is not UTF-8.
func (t *text) read(ctx context.Context, p []byte, off int64) (n int, err error) {
	i := sort.Search(len(t.blocks), func(i int) bool { return t.blocks[i].at > off }) - 1
	buf := newBlock()
	for ; n < len(p) && i < len(t.blocks) && err == nil; i++ {
		b := t.blocks[i]
		buf, _ = AppendValid(buf[:0], t.raw[b.raw:], blockSize)
		n += copy(p[n:], buf[min(off+int64(n)-b.at, int64(len(buf))):])
		err = ctx.Err()
	}
	return n, err
}
