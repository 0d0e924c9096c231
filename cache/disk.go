package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	iofs "io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Disk keeps byte strings and large files by name in a directory, shared
// with other processes that do the same. The directory is made when there is
// something to save; where that fails, a Disk says so once and keeps nothing.
//
// Layout of DIR/v1: ab/cdef….idx holds a byte string (a sidecar), ab/cdef….zst
// a large file, where abcdef… is the SHA-256 of its name; tmp-PID-… is being
// written and gets its name when it is whole.
type Disk struct {
	dir   string
	limit int64
	log   *slog.Logger

	mu      sync.Mutex
	ready   bool      // the directory is there and used is known
	used    int64     // bytes in the directory, as far as this process knows
	written int64     // bytes since used was counted
	pause   time.Time // nothing is written before
	failure error     // the first of those that keep it from being written
}

const (
	layoutDir   = "v1"
	sidecarExt  = ".idx"
	blobExt     = ".zst"
	tempPrefix  = "tmp-"
	staleTemp   = 24 * time.Hour
	refresh     = time.Hour   // how exact the time of the last use is
	pauseFor    = time.Minute // after a failed write
	cacheDirTag = "Signature: 8a477f597d28d172789f06886806bc55\n" +
		"# This directory can be deleted; recfs makes it again when needed.\n"
)

// errFull says that something is larger than all that may be kept.
var errFull = errors.New("larger than the cache may be")

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
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Disk{dir: filepath.Join(dir, layoutDir), limit: limit, log: log}
}

// Dir returns the directory that holds the files.
func (d *Disk) Dir() string { return d.dir }

// Limit returns how many bytes d may hold.
func (d *Disk) Limit() int64 { return d.limit }

// file returns where something is kept.
func (d *Disk) file(name, ext string) string {
	sum := sha256.Sum256([]byte(name))
	h := hex.EncodeToString(sum[:])
	return filepath.Join(d.dir, h[:2], h[2:]+ext)
}

// Load returns the bytes saved under name. What is damaged is removed.
func (d *Disk) Load(name string) ([]byte, bool) {
	file := d.file(name, sidecarExt)
	data, err := readSidecar(file, name, d.limit)
	if bad := damaged(""); errors.As(err, &bad) {
		d.log.Warn("cache file is damaged and is made again", "path", file, "err", err)
		os.Remove(file)
	}
	if err != nil {
		return nil, false
	}
	touch(file)
	return data, true
}

// Lookup returns a function that tells whether there are bytes or a large
// file saved under a name. It is for very many names: each directory of the
// cache is read at most once, so what is saved meanwhile may stay unseen.
func (d *Disk) Lookup() func(name string) bool {
	listed := map[string]map[string]bool{}
	return func(name string) bool {
		dir, base := filepath.Split(d.file(name, ""))
		names, ok := listed[dir]
		if !ok {
			names = fileNames(dir)
			listed[dir] = names
		}
		return names[base+sidecarExt] || names[base+blobExt]
	}
}

// fileNames returns the names in a directory, none if it cannot be read.
func fileNames(dir string) map[string]bool {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.Readdirnames(-1) // what was read before an error counts
	names := make(map[string]bool, len(list))
	for _, name := range list {
		names[name] = true
	}
	return names
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

// touch notes that a file was used, so that it is not the first to go.
func touch(file string) {
	info, err := os.Stat(file)
	if now := time.Now(); err == nil && now.Sub(info.ModTime()) > refresh {
		os.Chtimes(file, now, now) //nolint:errcheck // a read-only cache is fine
	}
}

// Sidecar: magic, version and lengths of name and data (12 bytes), name, data, CRC-32C of
// all before it. Numbers are little-endian.
const (
	sidecarMagic   = "recfsidx"
	sidecarVersion = 1
	sidecarHeader  = len(sidecarMagic) + 4 + 4 + 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// writeSidecar writes data as it is: it may be large, and a copy of it would
// be as large again.
func writeSidecar(w io.Writer, name string, data []byte) error {
	head := append(make([]byte, 0, sidecarHeader+len(name)), sidecarMagic...)
	head = binary.LittleEndian.AppendUint32(head, sidecarVersion)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(name)))
	head = binary.LittleEndian.AppendUint64(head, uint64(len(data)))
	head = append(head, name...)
	sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, data)
	for _, b := range [][]byte{head, data, binary.LittleEndian.AppendUint32(nil, sum)} {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// damaged says what is wrong with a sidecar.
type damaged string

func (d damaged) Error() string { return string(d) }

// readSidecar returns the data in a file. Before it reads that, or makes room
// for it, it knows that the file is the sidecar of that name, as long as it
// says and at most limit bytes.
func readSidecar(file, name string, limit int64) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // to open a fifo may take for ever
		return nil, errors.ErrUnsupported
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, sidecarHeader+len(name))
	if _, err := io.ReadFull(f, head); err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, damaged("too short")
	} else if err != nil {
		return nil, err
	}
	size, err := parseHead(head, name)
	if err != nil {
		return nil, err
	}
	const sumSize = 4
	if rest := info.Size() - int64(len(head)) - sumSize; rest < 0 || size != uint64(rest) {
		return nil, damaged("wrong length")
	}
	if info.Size() > min(limit, math.MaxInt) {
		return nil, errFull
	}
	b := make([]byte, size+sumSize)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, err
	}
	data, sum := b[:size], b[size:]
	if crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, data) != binary.LittleEndian.Uint32(sum) {
		return nil, damaged("wrong checksum")
	}
	return data, nil
}

// parseHead returns how many bytes of data the sidecar of that name has.
func parseHead(head []byte, name string) (uint64, error) {
	if string(head[:len(sidecarMagic)]) != sidecarMagic {
		return 0, damaged("not a cache file")
	}
	h := head[len(sidecarMagic):]
	if v := binary.LittleEndian.Uint32(h); v != sidecarVersion {
		return 0, damaged(fmt.Sprintf("version %d", v))
	}
	if uint64(binary.LittleEndian.Uint32(h[4:])) != uint64(len(name)) || string(head[sidecarHeader:]) != name {
		return 0, damaged("another name")
	}
	return binary.LittleEndian.Uint64(h[8:]), nil
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
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	tag := filepath.Join(filepath.Dir(d.dir), "CACHEDIR.TAG")
	if _, err := os.Stat(tag); err != nil {
		if err := os.WriteFile(tag, []byte(cacheDirTag), 0o600); err != nil {
			return err
		}
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

// failed notes that writing does not work at present. The caller holds mu.
func (d *Disk) failed(err error) {
	d.pause = time.Now().Add(pauseFor)
	d.ready = false
	if d.failure == nil {
		d.failure = err
		d.log.Warn("the disk cache cannot be written; going on without", "path", d.dir, "err", err)
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
		_, gone := remove(items, d.used-d.limit*9/10)
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
	temp bool
}

// Items returns the files of the cache, the one unused for longest first.
func (d *Disk) Items() ([]Item, error) {
	items, err := d.scan()
	for i := range items {
		items[i].Name = sidecarName(items[i].Path)
	}
	return items, err
}

func sidecarName(file string) string {
	if !strings.HasSuffix(file, sidecarExt) {
		return ""
	}
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, sidecarHeader+4096)
	n, _ := f.ReadAt(head, 0) // a short file has what it has
	if head = head[:n]; len(head) < sidecarHeader || string(head[:len(sidecarMagic)]) != sidecarMagic {
		return ""
	}
	names := binary.LittleEndian.Uint32(head[len(sidecarMagic)+4:])
	return string(head[sidecarHeader:][:min(int(names), len(head)-sidecarHeader)])
}

// Prune removes what is unused for longest until at most limit bytes are
// left, and returns how many files and bytes went.
func (d *Disk) Prune(limit int64) (files int, bytes int64, err error) {
	items, err := d.scan()
	if err != nil {
		return 0, 0, err
	}
	files, bytes = remove(items, sum(items)-limit)
	return files, bytes, nil
}

// Clear removes everything.
func (d *Disk) Clear() (files int, bytes int64, err error) { return d.Prune(0) }

// remove removes items in order until n bytes are gone.
func remove(items []Item, n int64) (files int, gone int64) {
	for _, it := range items {
		if gone >= n {
			break
		}
		if !it.temp && os.Remove(it.Path) == nil {
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
	var items []Item
	err := filepath.WalkDir(d.dir, func(file string, e iofs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if errors.Is(err, iofs.ErrNotExist) { // removed by another process
				err = nil
			}
			return err
		}
		temp := strings.HasPrefix(e.Name(), tempPrefix)
		if !temp && filepath.Ext(file) != sidecarExt && filepath.Ext(file) != blobExt {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return nil
		}
		if temp && abandoned(e.Name(), info.ModTime()) {
			os.Remove(file)
			return nil
		}
		items = append(items, Item{Path: file, Size: info.Size(), Used: info.ModTime(), temp: temp})
		return nil
	})
	sortItems(items)
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
