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
	"math"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	layoutDir   = "v3"
	sidecarExt  = ".idx"
	blobExt     = ".zst"
	marksFile   = layoutDir + "/marks"
	refresh     = time.Hour // how exact the time of the last use is
	cacheDirTag = "Signature: 8a477f597d28d172789f06886806bc55\n" +
		"# This directory can be deleted; recfs makes it again when needed.\n"
)

// errFull says that something is larger than all that may be kept.
var errFull = errors.New("larger than the cache may be")

// A diskDir is the directory of a Disk.
type diskDir struct {
	base    string      // that the user names
	refused func(error) // hears of each refusal

	dirMu sync.Mutex
	root  *os.Root // of base; nil: not opened yet
	held  os.FileInfo
	marks *os.File // nil: not opened yet, or not there
}

// place returns where below the directory something is kept.
func place(name, ext string) string {
	sum := sha256.Sum256([]byte(name))
	h := hex.EncodeToString(sum[:])
	return path.Join(layoutDir, h[:2], h[2:]+ext)
}

// A refusal says why a directory is not used as a cache.
type refusal struct{ dir, reason string }

func (r *refusal) Error() string { return fmt.Sprintf("refused: %s %s", r.dir, r.reason) }

// checkDir refuses what is no directory, a link among it, and a directory where
// others could have put something.
func checkDir(dir string, info os.FileInfo) error {
	if !info.IsDir() {
		return &refusal{dir, "is no directory but " + info.Mode().Type().String()}
	}
	if reason := untrusted(info); reason != "" {
		return &refusal{dir, reason}
	}
	return nil
}

// dir returns the directory, which has to be there. It is looked at each time,
// as it may be removed and made again while a process runs.
func (d *diskDir) dir() (*os.Root, error) {
	info, err := os.Stat(d.base) // the user may well name a link
	if err != nil {
		return nil, err
	}
	d.dirMu.Lock()
	defer d.dirMu.Unlock()
	if d.root == nil || !os.SameFile(info, d.held) {
		root, err := os.OpenRoot(d.base + "/.") // and not a fifo
		if err != nil {
			return nil, err
		}
		if info, err = root.Stat("."); err != nil {
			root.Close()
			return nil, err
		}
		if d.root != nil {
			d.root.Close()
		}
		if d.marks != nil {
			d.marks.Close()
		}
		d.root, d.held, d.marks = root, info, nil
	}
	return d.root, checkDir(d.base, info)
}

// dirWith returns the directory after a look at directories in it.
func (d *diskDir) dirWith(dirs ...string) (*os.Root, error) {
	root, err := d.dir()
	for _, dir := range dirs {
		if err != nil {
			return nil, err
		}
		var info os.FileInfo
		if info, err = root.Lstat(dir); err == nil {
			err = checkDir(dir, info)
		}
	}
	return root, err
}

// makeDir makes the directory, and removes what earlier versions kept in it.
func (d *diskDir) makeDir() error {
	if err := os.MkdirAll(d.base, 0o700); err != nil {
		return err
	}
	root, err := d.dir()
	if err != nil {
		return err
	}
	if err := mkdir(root, layoutDir); err != nil {
		return err
	}
	for _, old := range oldLayouts {
		removeLayout(root, old)
	}
	tag, err := root.OpenFile("CACHEDIR.TAG", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, iofs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = tag.WriteString(cacheDirTag)
	return errors.Join(err, tag.Close())
}

// oldLayouts are the layouts from which nothing can be used.
var oldLayouts = []string{"v1", "v2"}

// kept matches what is kept in the directory of a layout. Users may have directories of that name.
var kept = regexp.MustCompile(`^v\d+/(marks|[0-9a-f]{2}/([0-9a-f]{62}(\.idx|\.zst)|` + tempPrefix + `.+))$`)

// removeLayout removes what is kept in the directory of a layout, and directories that are empty
// then. What stays only takes room.
func removeLayout(root *os.Root, dir string) {
	if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
		return
	}
	var left []string
	_ = iofs.WalkDir(root.FS(), dir, func(file string, _ iofs.DirEntry, err error) error {
		if err == nil && kept.MatchString(file) && root.Remove(file) == nil {
			left = append(left, path.Dir(file))
		}
		return nil //nolint:nilerr // it goes on with the others
	})
	if len(left) == 0 {
		return
	}
	for _, at := range append(slices.Compact(left), dir) {
		root.Remove(at) //nolint:errcheck // it is not empty
	}
}

// mkdir makes a directory unless it is there.
func mkdir(root *os.Root, dir string) error {
	info, err := root.Lstat(dir)
	if errors.Is(err, iofs.ErrNotExist) {
		if err = root.Mkdir(dir, 0o700); !errors.Is(err, iofs.ErrExist) {
			return err
		}
		info, err = root.Lstat(dir) // another process was faster
	}
	if err != nil {
		return err
	}
	return checkDir(dir, info)
}

// open opens a file for reading and returns what it is. Anything but a file
// that nobody else can have written is as good as none: to open a fifo may take
// for ever, and a link may lead anywhere.
func (d *diskDir) open(at string) (*os.File, os.FileInfo, error) {
	root, err := d.dirWith(layoutDir, path.Dir(at))
	if err != nil {
		d.refused(err)
		return nil, nil, err
	}
	if info, err := root.Lstat(at); err != nil {
		return nil, nil, err
	} else if !info.Mode().IsRegular() {
		return nil, nil, errors.ErrUnsupported
	}
	f, err := root.Open(at)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || untrusted(info) != "") {
		err = errors.ErrUnsupported
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// removeFile removes a file, unless another one has its name by now.
func (d *diskDir) removeFile(at string, was os.FileInfo) {
	root, err := d.dirWith(layoutDir, path.Dir(at))
	if err != nil {
		return
	}
	if now, err := root.Lstat(at); err == nil && os.SameFile(now, was) {
		root.Remove(at) //nolint:errcheck // what stays is found to be damaged again
	}
}

// touch notes that a file was used, so that it is not the first to go.
func (d *diskDir) touch(at string, info os.FileInfo) {
	now := time.Now()
	if now.Sub(info.ModTime()) <= refresh {
		return
	}
	if root, err := d.dir(); err == nil {
		root.Chtimes(at, now, now) //nolint:errcheck // a read-only cache is fine
	}
}

// fileNames returns the names in a directory, sorted, none if it cannot be read.
func (d *diskDir) fileNames(dir string) []string {
	root, err := d.dirWith(layoutDir, dir)
	if err != nil {
		d.refused(err)
		return nil
	}
	f, err := root.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.Readdirnames(-1) // what was read before an error counts
	slices.Sort(list)
	return list
}

// openMarks returns the open file, nil if there is none.
func (d *diskDir) openMarks(flag int) *os.File {
	root, err := d.dir()
	if err != nil {
		return nil
	}
	d.dirMu.Lock()
	defer d.dirMu.Unlock()
	if d.marks != nil || root != d.root {
		return d.marks
	}
	if dir, err := root.Lstat(path.Dir(marksFile)); err != nil || checkDir(layoutDir, dir) != nil {
		return nil
	}
	info, err := root.Lstat(marksFile)
	if err == nil && (!info.Mode().IsRegular() || untrusted(info) != "") {
		return nil
	}
	f, err := root.OpenFile(marksFile, flag, 0o600)
	if os.IsPermission(err) { // it can be read
		f, err = root.Open(marksFile)
	}
	if err != nil {
		return nil
	}
	d.marks = f
	return f
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

// A sidecarDamage says what is wrong with a sidecar.
type sidecarDamage string

func (d sidecarDamage) Error() string { return string(d) }

// readSidecar returns the data in an open file of size bytes. Before it reads
// that, or makes room for it, it knows that the file is the sidecar of that
// name, as long as it says and at most limit bytes. The size is that of the
// open file: by now its name may be that of another one.
func readSidecar(f io.Reader, size int64, name string, limit int64) ([]byte, error) {
	head := make([]byte, sidecarHeader+len(name))
	if _, err := io.ReadFull(f, head); err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, sidecarDamage("too short")
	} else if err != nil {
		return nil, err
	}
	if string(head[:len(sidecarMagic)]) != sidecarMagic {
		return nil, sidecarDamage("not a cache file")
	}
	h := head[len(sidecarMagic):]
	if v := binary.LittleEndian.Uint32(h); v != sidecarVersion {
		return nil, sidecarDamage(fmt.Sprintf("version %d", v))
	}
	if uint64(binary.LittleEndian.Uint32(h[4:])) != uint64(len(name)) || string(head[sidecarHeader:]) != name {
		return nil, sidecarDamage("another name")
	}
	const sumSize = 4
	n := binary.LittleEndian.Uint64(h[8:])
	if rest := size - int64(len(head)) - sumSize; rest < 0 || n != uint64(rest) {
		return nil, sidecarDamage("wrong length")
	}
	if size > min(limit, math.MaxInt) {
		return nil, errFull
	}
	b := make([]byte, n+sumSize)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, err
	}
	data, sum := b[:n], b[n:]
	if crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, data) != binary.LittleEndian.Uint32(sum) {
		return nil, sidecarDamage("wrong checksum")
	}
	return data, nil
}

// sidecarName returns what was saved in a file, "" if it does not say.
func (d *diskDir) sidecarName(at string) string {
	if !strings.HasSuffix(at, sidecarExt) {
		return ""
	}
	f, _, err := d.open(at)
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
	return string(head[sidecarHeader:][:min(int64(names), int64(len(head)-sidecarHeader))])
}
