package cache

import (
	"cmp"
	"context"
	"errors"
	iofs "io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Disk keeps byte strings and large files by name in a directory, shared
// with other processes that do the same. The directory is made when there is
// something to save; where that fails, a Disk says so once and keeps nothing.
// What others could have put there is not believed: neither a directory that
// they own or may write, which a Disk refuses and says so, nor links in it.
//
// Layout of DIR/v3: ab/cdef….idx holds a byte string (a sidecar), ab/cdef….zst
// a large file, where abcdef… is the SHA-256 of its name; tmp-PID-… is being
// written and gets its name when it is whole; marks is what Mark was told.
type Disk struct {
	diskDir
	limit  int64
	log    *slog.Logger
	behind Behind // nil: nothing

	mu      sync.Mutex
	ready   bool      // the directory is there and used is known
	used    int64     // bytes in the directory, as far as this process knows
	written int64     // bytes since used was counted
	pause   time.Time // nothing is written before
	failure error     // the first of those that keep it from being written
}

const (
	tempPrefix = "tmp-"
	staleTemp  = 24 * time.Hour
	pauseFor   = time.Minute // after a failed write
)

// DefaultDir returns the directory for a Disk of this user.
func DefaultDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "recfs"), nil
}

// NewDisk returns a Disk in dir that holds up to limit bytes. The log hears
// once if that does not work; nil: nobody does.
func NewDisk(dir string, limit int64, log *slog.Logger) *Disk {
	d := &Disk{diskDir: diskDir{base: dir}, limit: limit, log: cmp.Or(log, slog.New(slog.DiscardHandler))}
	d.refused = d.refuse
	return d
}

// Dir returns the directory that holds the files.
func (d *Disk) Dir() string { return filepath.Join(d.base, layoutDir) }

// Limit returns how many bytes d may hold.
func (d *Disk) Limit() int64 { return d.limit }

// Load returns the bytes saved under name, here or behind. What is damaged is removed.
func (d *Disk) Load(ctx context.Context, name string) ([]byte, bool) {
	data, ok := d.load(name)
	if ok || d.behind == nil {
		return data, ok
	}
	if data, ok = d.behind.Load(ctx, name); ok {
		d.Save(name, data)
	}
	return data, ok
}

func (d *Disk) load(name string) ([]byte, bool) {
	at := place(name, sidecarExt)
	f, info, err := d.open(at)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	data, err := readSidecar(f, info.Size(), name, d.limit)
	if bad := sidecarDamage(""); errors.As(err, &bad) {
		d.log.Warn("cache file is damaged and is made again", "path", f.Name(), "err", err)
		d.removeFile(at, info)
	}
	if err != nil {
		return nil, false
	}
	d.touch(at, info)
	return data, true
}

// Lookup returns a function that tells whether there are bytes or a large
// file saved under a name. It is for very many names: each directory of the
// cache is read at most once, so what is saved meanwhile may stay unseen.
func (d *Disk) Lookup() func(name string) bool {
	listed := map[string][]uint64{}
	return func(name string) bool {
		dir, base := path.Split(place(name, ""))
		names, ok := listed[dir]
		if !ok {
			for _, name := range d.fileNames(path.Clean(dir)) {
				if ext := path.Ext(name); ext == sidecarExt || ext == blobExt {
					names = append(names, shortOf(name))
				}
			}
			slices.Sort(names)
			listed[dir] = slices.Clip(names)
		}
		_, ok = slices.BinarySearch(names, shortOf(base))
		return ok
	}
}

// shortOf returns enough of the checksum that a file is called by to tell it from a million others.
// So much of the names of all files takes an eighth of their memory.
func shortOf(base string) uint64 {
	n, _ := strconv.ParseUint(base[:min(16, len(base))], 16, 64) // of what is no checksum nobody asks
	return n
}

// Save keeps data under name.
func (d *Disk) Save(name string, data []byte) {
	if int64(sidecarHeader+len(name)+len(data)+4) > d.limit {
		return
	}
	blob, err := d.create(name, sidecarExt)
	if err != nil {
		return
	}
	if err := writeSidecar(blob, name, data); err != nil {
		blob.Discard()
		return
	}
	if f, err := blob.Commit(); err == nil {
		f.Close()
	}
}

// Forget removes what Save kept under name.
func (d *Disk) Forget(name string) {
	at := place(name, sidecarExt)
	if root, err := d.dirWith(layoutDir, path.Dir(at)); err == nil {
		root.Remove(at) //nolint:errcheck // what stays is of no use to anybody, and goes in its time
	}
}

// prepare makes the directory, clears what a killed process left, and counts
// what is there, once. The caller holds mu.
func (d *Disk) prepare() error {
	if time.Now().Before(d.pause) {
		return errFull
	}
	if d.ready {
		return nil
	}
	if d.limit <= 0 {
		return errFull
	}
	if err := d.makeDir(); err != nil {
		return err
	}
	items, err := d.scan()
	if err != nil {
		return err
	}
	d.used, d.written, d.ready = sum(items), 0, true
	return nil
}

// Err returns why something could not be written, nil if everything could be.
func (d *Disk) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failure
}

// refuse notes a refusal, and says so once.
func (d *Disk) refuse(err error) {
	if _, ok := errors.AsType[*refusal](err); !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failure == nil {
		d.failure = err
		d.log.Warn("the disk cache is not used", "path", d.base, "err", err)
	}
}

// failed notes that writing does not work at present. The caller holds mu.
func (d *Disk) failed(err error) {
	d.pause = time.Now().Add(pauseFor)
	d.ready = false
	if d.failure == nil {
		d.failure = err
		d.log.Warn("the disk cache cannot be written; going on without", "path", d.Dir(), "err", err)
	}
}

// reserve makes room for n more bytes, of a file that has had bytes already.
// The caller holds mu.
func (d *Disk) reserve(had, n int64) error {
	if had+n > d.limit {
		return errFull
	}
	d.written += n
	d.used += n
	if d.used <= d.limit && d.written <= d.limit/8 {
		return nil
	}
	items, err := d.scan()
	if err != nil {
		return err
	}
	d.used, d.written = sum(items)+n, 0
	if d.used > d.limit {
		_, gone := d.remove(items, d.used-d.limit*9/10)
		d.used -= gone
	}
	if d.used > d.limit { // the rest is being written
		d.used -= n
		return errFull
	}
	return nil
}

// An Item is a file of the cache.
type Item struct {
	Path string
	Name string // what was saved; "" if the file does not say
	Size int64
	Used time.Time // about when it was used last
	at   string    // below the directory
	temp bool
}

// Items returns the files of the cache, the one unused for longest first.
func (d *Disk) Items() ([]Item, error) {
	items, err := d.scan()
	for i := range items {
		items[i].Name = d.sidecarName(items[i].at)
	}
	return items, err
}

// Read returns the bytes of an item that has a name, which is no use of it.
func (d *Disk) Read(it Item) ([]byte, error) {
	f, info, err := d.open(it.at)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readSidecar(f, info.Size(), it.Name, d.limit)
}

// Prune removes what is unused for longest until at most limit bytes are
// left, and returns how many files and bytes went.
func (d *Disk) Prune(limit int64) (files int, bytes int64, err error) {
	items, err := d.scan()
	if err != nil {
		return 0, 0, err
	}
	files, bytes = d.remove(items, sum(items)-limit)
	return files, bytes, nil
}

// Clear removes everything.
func (d *Disk) Clear() (files int, bytes int64, err error) {
	if f := d.openMarks(os.O_RDWR); f != nil {
		err = f.Truncate(0)
	}
	files, bytes, pruneErr := d.Prune(0)
	return files, bytes, errors.Join(err, pruneErr)
}

// remove removes items in order until n bytes are gone.
func (d *Disk) remove(items []Item, n int64) (files int, gone int64) {
	root, err := d.dir()
	if err != nil {
		return 0, 0
	}
	for _, it := range items {
		if gone >= n {
			break
		}
		if !it.temp && root.Remove(it.at) == nil {
			files++
			gone += it.Size
		}
	}
	return files, gone
}

func sum(items []Item) (n int64) {
	for _, it := range items {
		n += it.Size
	}
	return n
}

// scan returns the files of the cache, the one unused for longest first. What
// processes that are gone did not finish it removes.
func (d *Disk) scan() ([]Item, error) {
	root, err := d.dirWith(layoutDir)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var items []Item
	err = iofs.WalkDir(root.FS(), layoutDir, func(file string, e iofs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if errors.Is(err, iofs.ErrNotExist) { // removed by another process
				err = nil
			}
			return err
		}
		if file == marksFile || !kept.MatchString(file) {
			return nil
		}
		temp := strings.HasPrefix(e.Name(), tempPrefix)
		info, err := e.Info()
		if err != nil {
			return nil
		}
		if temp && abandoned(e.Name(), info.ModTime()) {
			root.Remove(file) //nolint:errcheck // the next one tries again
			return nil
		}
		items = append(items, Item{
			Path: filepath.Join(d.base, file), Size: info.Size(), Used: info.ModTime(), at: file, temp: temp,
		})
		return nil
	})
	slices.SortFunc(items, func(a, b Item) int { return a.Used.Compare(b.Used) })
	return items, err
}

// abandoned tells whether nobody writes a temporary file any more.
func abandoned(name string, modified time.Time) bool {
	if time.Since(modified) > staleTemp {
		return true
	}
	pid, _, _ := strings.Cut(strings.TrimPrefix(name, tempPrefix), "-")
	n, err := strconv.Atoi(pid)
	return err != nil || !alive(n)
}
