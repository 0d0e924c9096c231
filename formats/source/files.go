package source

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
	maxFiles = 128              // files held open
	idleFile = 20 * time.Second // after which one is closed
	maxHolds = 64               // files opened on look-up, in a second
)

// Files holds files open between reads: at most maxFiles of them
// beyond those being read this moment, and none for long without a read.
type Files struct {
	fsys iofs.FS

	mu    sync.Mutex
	open  map[FileKey]*openFile
	idle  list.List // of *openFile, the one idle for longest first
	timer *time.Timer

	second int64 // of the last hold
	holds  int   // in that second
}

// A FileKey is a file as it was at a version.
type FileKey struct {
	Path    string
	Version Version
}

// An openFile is a file that is held open, and how many read it.
type openFile struct {
	key  FileKey
	file iofs.File
	r    nodes.ReaderAt

	refs int
	idle *list.Element // nil while in use
	last time.Time
}

// NewFiles returns the open files of a file system, none yet.
func NewFiles(fsys iofs.FS) *Files {
	return &Files{fsys: fsys, open: map[FileKey]*openFile{}}
}

// Hold opens a file that was looked up. Who opens it in the mount does not
// tell us so, and should find it even if it is replaced before the first
// read. A walk over many files opens but a few of them.
func (h *Files) Hold(key FileKey) {
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
func (h *Files) acquire(key FileKey) (*openFile, error) {
	if hd := h.take(key); hd != nil {
		return hd, nil
	}
	f, err := h.fsys.Open(key.Path)
	if err != nil {
		if IsGone(err) {
			err = Stale(key.Path)
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !key.Version.SameFile(info) {
		err = Stale(key.Path)
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
	hd := &openFile{key: key, file: f, r: readerAt(f), refs: 1}
	h.open[key] = hd
	return hd, nil
}

// take returns the file if it is open.
func (h *Files) take(key FileKey) *openFile {
	h.mu.Lock()
	defer h.mu.Unlock()
	if hd := h.open[key]; hd != nil {
		return h.use(hd)
	}
	return nil
}

// use counts one more user of hd. The caller holds mu.
func (h *Files) use(hd *openFile) *openFile {
	hd.refs++
	if hd.idle != nil {
		h.idle.Remove(hd.idle)
		hd.idle = nil
	}
	return hd
}

func (h *Files) release(hd *openFile) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if hd.refs--; hd.refs > 0 {
		return
	}
	hd.last = time.Now()
	hd.idle = h.idle.PushBack(hd)
	if h.idle.Len() > maxFiles {
		h.closeFirst()
	}
	if h.timer == nil {
		h.timer = time.AfterFunc(idleFile, h.sweep)
	}
}

// closeFirst closes the file that is idle for longest. The caller holds mu.
func (h *Files) closeFirst() {
	hd := h.idle.Remove(h.idle.Front()).(*openFile)
	delete(h.open, hd.key)
	hd.file.Close()
}

// CloseIdle closes all files that nobody reads.
func (h *Files) CloseIdle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.idle.Len() > 0 {
		h.closeFirst()
	}
}

// sweep closes what is idle for too long and comes back while there is more.
func (h *Files) sweep() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.timer = nil
	for h.idle.Len() > 0 {
		rest := idleFile - time.Since(h.idle.Front().Value.(*openFile).last)
		if rest > 0 {
			h.timer = time.AfterFunc(rest, h.sweep)
			return
		}
		h.closeFirst()
	}
}

// IsGone reports whether err says that nothing has that path any more: also where a directory of the
// path became a file.
func IsGone(err error) bool {
	return errors.Is(err, iofs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Stale returns the error of a read for bytes that the file at path has no more.
func Stale(path string) error {
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
