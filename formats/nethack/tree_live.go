package nethack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"recfs/formats"
	"recfs/nodes"
)

// A liveLog reads the log of a game that may be running, without a lock: one held by a stranger
// would stop the game (docs/formats/nethack.md section 9). But for the few bytes that are rewritten
// in place, what is written stays until a recovery cuts the log, which changes the recovery count
// first. So bytes are good if the count is the same before and after they are read.
type liveLog struct {
	r     nodes.ReaderAt
	size  int64
	count [countSize]byte
}

// live returns the bytes of a log for reads that notice when it is cut after its header was read. A
// copy of a compressed one is not.
func live(in formats.Input, h *header) nodes.ReaderAt {
	if in.Raw != nil {
		return in.ReaderAt
	}
	return &liveLog{r: in.ReaderAt, size: in.Size, count: [countSize]byte(h.lines[countAt:])}
}

// ReadAt implements nodes.ReaderAt. It fails with nodes.ErrStale once the log was cut.
func (l *liveLog) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := l.r.ReadAt(ctx, p, off)
	if n < len(p) && off+int64(n) < l.size && (err == nil || errors.Is(err, io.EOF)) {
		return 0, fmt.Errorf("the log was cut at %d: %w", off+int64(n), nodes.ErrStale)
	}
	var count [countSize]byte
	if _, err := l.r.ReadAt(ctx, count[:], countAt); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if !bytes.Equal(count[:], l.count[:]) {
		return 0, fmt.Errorf("the game was recovered: %w", nodes.ErrStale)
	}
	return n, err
}
