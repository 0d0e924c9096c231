// Package shared is an index of recordings that many machines share (docs/tree/remote.md section
// 5): what one of them made of a recording none has to make again.
package shared

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"iter"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/outfile"
)

// A Store is where a shared index lies.
type Store interface {
	// Fetch returns all that is at a key; io/fs.ErrNotExist: nothing is.
	Fetch(ctx context.Context, key string, limit int64) ([]byte, error)
	// Store puts the size bytes of body at a key, unless something is there and is not to be replaced.
	Store(ctx context.Context, key string, body io.ReaderAt, size int64, replace bool) error
	// Names returns the names in a directory.
	Names(ctx context.Context, dir string) ([]string, error)
	// Open opens what is at a key, to be read in parts.
	Open(ctx context.Context, key string) (cache.BehindFile, error)
}

// An Index is what lies behind the cache on disk.
type Index struct {
	store  Store
	dir    string // in store, "" or with a slash at its end
	log    *slog.Logger
	missed *cache.Recent[string, time.Time] // keys under which there was nothing, and when

	mu     sync.Mutex
	down   time.Time           // until when nobody is asked
	copies map[string][]string // that the disk cache has, by the key of what they are of
}

// New returns the index that lies in a directory of a store.
func New(store Store, dir string, log *slog.Logger) *Index {
	return &Index{store: store, dir: dir, log: log, missed: cache.NewRecent[string, time.Time](maxMissed), copies: map[string][]string{}}
}

const (
	maxMissed  = 1 << 16
	missedFor  = time.Minute
	downFor    = 5 * time.Second
	maxIndex   = 256 << 20 // bytes of what is kept of one recording
	sumSize    = 8
	objectKind = "recfs object 1"
	indexKind  = "recfs index 1"
	copyKind   = "recfs copy 1"
)

// keyOf returns where in an index lies what a name of the disk cache stands for; "": it is not
// shared.
func keyOf(name string) string {
	if formats.IsObjectNote(name) {
		return place("at", "", objectKind, name)
	}
	if key, kind, ok := formats.CutKey(name); ok {
		return place("idx", ".idx", indexKind, kind, strconv.Itoa(indexfile.Layout), key)
	}
	return ""
}

// copyOf returns where in an index lies the copy that the disk cache has under a name.
func copyOf(name string) string {
	if key, kind, ok := formats.CutKey(name); ok {
		return place("copy", ".zst", copyKind, kind, key)
	}
	return ""
}

// place returns a place of an index for what these texts name.
func place(dir, extension string, texts ...string) string {
	sum := sha256.New()
	for _, text := range texts {
		io.WriteString(sum, text+"\x00") //nolint:errcheck // a sum takes all
	}
	digits := hex.EncodeToString(sum.Sum(nil))
	return path.Join("v1", dir, digits[:2], digits[2:]+extension)
}

// Elsewhere implements cache.Behind.
func (x *Index) Elsewhere(name string) bool { return name == "" || keyOf(name) != "" }

// Load implements cache.Behind. What is damaged, or of something else, is not there.
func (x *Index) Load(ctx context.Context, name string) ([]byte, bool) {
	key := keyOf(name)
	if key == "" || !x.mayHave(key) {
		return nil, false
	}
	b, err := x.store.Fetch(ctx, x.dir+key, maxIndex)
	if err == nil {
		if data, ok := opened(name, b); ok {
			return data, true
		}
		x.log.Warn("what the shared index has is damaged or of something else", "key", key)
	}
	x.failed(ctx, key, err)
	return nil, false
}

// Open implements cache.Behind.
func (x *Index) Open(ctx context.Context, name string) (cache.BehindFile, error) {
	key := copyOf(name)
	if key == "" || !x.mayHave(key) {
		return nil, iofs.ErrNotExist
	}
	f, err := x.store.Open(ctx, x.dir+key)
	if err != nil {
		x.failed(ctx, key, err)
	}
	return f, err
}

// Used implements cache.Behind.
func (x *Index) Used(name string) {
	key, _, ok := formats.CutKey(name)
	x.mu.Lock()
	defer x.mu.Unlock()
	if ok && !slices.Contains(x.copies[key], name) {
		x.copies[key] = append(x.copies[key], name)
	}
}

// Copies returns the names of the copies of what has a key that were used here.
func (x *Index) Copies(key string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.copies[key])
}

// PutCopy puts a copy of the disk cache there, unless something is.
func (x *Index) PutCopy(ctx context.Context, name string, f io.ReaderAt, size int64) error {
	key := copyOf(name)
	x.missed.Swap(key, time.Time{})
	return x.store.Store(ctx, x.dir+key, f, size, false)
}

// catalogueDir has the parts of the catalogue, I-of-N.
const catalogueDir = "v1/catalogue/"

var partName = regexp.MustCompile(`^\d{1,6}-of-\d{1,6}$`)

// Parts implements cache.Behind.
func (x *Index) Parts(ctx context.Context) iter.Seq2[string, cache.BehindFile] {
	return func(yield func(string, cache.BehindFile) bool) {
		if !x.mayHave(catalogueDir) {
			return
		}
		names, err := x.store.Names(ctx, x.dir+catalogueDir)
		for _, name := range names {
			if !partName.MatchString(name) {
				continue
			}
			var f cache.BehindFile
			if f, err = x.store.Open(ctx, x.dir+catalogueDir+name); err != nil || !yield(name, f) {
				break
			}
		}
		if err != nil {
			x.failed(ctx, catalogueDir, err)
		}
	}
}

// PutPart puts the part of the catalogue there that a shard made, in the place of the one before.
func (x *Index) PutPart(ctx context.Context, i, n int, f io.ReaderAt, size int64) error {
	return x.store.Store(ctx, fmt.Sprintf("%s%s%d-of-%d", x.dir, catalogueDir, i, n), f, size, true)
}

// mayHave reports whether a key is worth a request.
func (x *Index) mayHave(key string) bool {
	if at, ok := x.missed.Get(key); ok && time.Since(at) < missedFor {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return time.Now().After(x.down)
}

// failed notes that nothing came of a request. Where nobody answers, nobody is asked for a while. A
// request of ours that ended, or begins again with more memory, says nothing.
func (x *Index) failed(ctx context.Context, key string, err error) {
	if ctx.Err() != nil || cache.IsShort(err) {
		return
	}
	x.missed.Swap(key, time.Now())
	if err == nil || errors.Is(err, iofs.ErrNotExist) {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if time.Now().After(x.down) {
		x.log.Warn("the shared index cannot be read", "err", err)
	}
	x.down = time.Now().Add(downFor)
}

// Put puts what the disk cache has under a name there, unless something is.
func (x *Index) Put(ctx context.Context, name string, data []byte) error {
	key := keyOf(name)
	b := sealed(name, data)
	x.missed.Swap(key, time.Time{})
	return x.store.Store(ctx, x.dir+key, bytes.NewReader(b), int64(len(b)), false)
}

// sealed returns what is stored: a sum of the name and all that follows, and the data.
func sealed(name string, data []byte) []byte {
	return append(binary.BigEndian.AppendUint64(nil, sumOf(name, data)), data...)
}

// opened returns the data of what is stored, if it is that of a name.
func opened(name string, b []byte) (data []byte, ok bool) {
	if len(b) < sumSize {
		return nil, false
	}
	data = b[sumSize:]
	return data, binary.BigEndian.Uint64(b) == sumOf(name, data)
}

func sumOf(name string, data []byte) uint64 {
	h := xxhash.New()
	h.WriteString(name + "\x00") //nolint:errcheck // a sum takes all
	h.Write(data)                //nolint:errcheck // a sum takes all
	return h.Sum64()
}

// A Folder is a Store on this machine. It need not be there before something is put into it.
type Folder string

// open opens the file of a key.
func (f Folder) open(key string) (*os.File, error) {
	root, err := outfile.OpenDir(filepath.Dir(f.at(key)))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return outfile.OpenRegular(root, filepath.Base(f.at(key)))
}

// Fetch implements Store.
func (f Folder) Fetch(_ context.Context, key string, limit int64) ([]byte, error) {
	file, err := f.open(key)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, limit+1))
	if int64(len(b)) > limit {
		return nil, &iofs.PathError{Op: "read", Path: f.at(key), Err: errors.New("it is too large")}
	}
	return b, err
}

// Names implements Store.
func (f Folder) Names(_ context.Context, dir string) ([]string, error) {
	entries, err := os.ReadDir(f.at(dir))
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// Open implements Store.
func (f Folder) Open(_ context.Context, key string) (cache.BehindFile, error) {
	file, err := f.open(key)
	if err != nil {
		return nil, err
	}
	return cache.NewLocalFile(file)
}

// Store implements Store.
func (f Folder) Store(_ context.Context, key string, body io.ReaderAt, size int64, replace bool) error {
	at := f.at(key)
	if _, err := os.Lstat(at); err == nil && !replace {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		return err
	}
	out, err := outfile.Create(at, 0o666)
	if err != nil {
		return err
	}
	return out.Fill(func(out *outfile.File) error {
		_, err := io.Copy(out, io.NewSectionReader(body, 0, size))
		return err
	})
}

func (f Folder) at(key string) string { return filepath.Join(string(f), filepath.FromSlash(key)) }
