package archive

import (
	"container/list"
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"sync"
	"syscall"
	"time"

	"recfs/nodes"
)

const (
	maxHandles = 128              // files held open
	idleHandle = 20 * time.Second // after which one is closed
	maxHolds   = 64               // files opened on look-up, in a second
)

// A handles holds files open between reads: at most maxHandles of them
// beyond those being read this moment, and none for long without a read.
type handles struct {
	fsys iofs.FS

	mu    sync.Mutex
	open  map[handleKey]*handle
	idle  list.List // of *handle, the one idle for longest first
	timer *time.Timer

	second int64 // of the last hold
	holds  int   // in that second
}

type handleKey struct {
	path string
	v    version
}

type handle struct {
	key  handleKey
	file iofs.File
	r    nodes.ReaderAt

	refs int
	idle *list.Element // nil while in use
	last time.Time
}

func newHandles(fsys iofs.FS) *handles {
	return &handles{fsys: fsys, open: map[handleKey]*handle{}}
}

// hold opens a file that was looked up. Who opens it in the mount does not
// tell us so, and should find it even if it is replaced before the first
// read. A walk over many files opens but a few of them.
func (h *handles) hold(key handleKey) {
	h.mu.Lock()
	if now := time.Now().Unix(); now != h.second {
		h.second, h.holds = now, 0
	}
	h.holds++
	enough := h.holds > maxHolds
	h.mu.Unlock()
	if enough {
		return
	}
	if hd, err := h.acquire(key); err == nil {
		h.release(hd)
	}
}

// acquire returns the file at path, which must be the one that had version v
// or a later state of it. The caller releases it.
func (h *handles) acquire(key handleKey) (*handle, error) {
	if hd := h.take(key); hd != nil {
		return hd, nil
	}
	f, err := h.fsys.Open(key.path)
	if err != nil {
		if isGone(err) {
			err = staleError(key.path)
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !key.v.sameFile(info) {
		err = staleError(key.path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if other := h.open[key]; other != nil { // somebody was faster
		f.Close()
		return h.use(other), nil
	}
	hd := &handle{key: key, file: f, r: readerAt(f), refs: 1}
	h.open[key] = hd
	return hd, nil
}

// take returns the file if it is open.
func (h *handles) take(key handleKey) *handle {
	h.mu.Lock()
	defer h.mu.Unlock()
	if hd := h.open[key]; hd != nil {
		return h.use(hd)
	}
	return nil
}

// use counts one more user of hd. The caller holds mu.
func (h *handles) use(hd *handle) *handle {
	hd.refs++
	if hd.idle != nil {
		h.idle.Remove(hd.idle)
		hd.idle = nil
	}
	return hd
}

func (h *handles) release(hd *handle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if hd.refs--; hd.refs > 0 {
		return
	}
	hd.last = time.Now()
	hd.idle = h.idle.PushBack(hd)
	if h.idle.Len() > maxHandles {
		h.closeFirst()
	}
	if h.timer == nil {
		h.timer = time.AfterFunc(idleHandle, h.sweep)
	}
}

// closeFirst closes the file that is idle for longest. The caller holds mu.
func (h *handles) closeFirst() {
	hd := h.idle.Remove(h.idle.Front()).(*handle)
	delete(h.open, hd.key)
	hd.file.Close()
}

// sweep closes what is idle for too long and comes back while there is more.
func (h *handles) sweep() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.timer = nil
	for h.idle.Len() > 0 {
		rest := idleHandle - time.Since(h.idle.Front().Value.(*handle).last)
		if rest > 0 {
			h.timer = time.AfterFunc(rest, h.sweep)
			return
		}
		h.closeFirst()
	}
}

// isGone reports whether err says that nothing has that path any more: also where a directory of the
// path became a file.
func isGone(err error) bool {
	return errors.Is(err, iofs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func staleError(path string) error {
	return &iofs.PathError{Op: "read", Path: path, Err: nodes.ErrStale}
}

// readerAt returns f for reads at an offset, by seeking if it must.
func readerAt(f iofs.File) nodes.ReaderAt {
	switch f := f.(type) {
	case nodes.ReaderAt:
		return f
	case io.ReaderAt:
		return nodes.Unbound(f)
	case io.ReadSeeker:
		return nodes.Unbound(&seekReaderAt{r: f})
	}
	return unreadable{}
}

type seekReaderAt struct {
	mu sync.Mutex
	r  io.ReadSeeker
}

func (s *seekReaderAt) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.r.Seek(off, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(s.r, p)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

type unreadable struct{}

func (unreadable) ReadAt(context.Context, []byte, int64) (int, error) {
	return 0, errors.ErrUnsupported
}
