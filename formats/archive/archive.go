// Package archive shows a file system as a tree in which every recording is
// replaced by the tree that its format makes of it.
package archive

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/container"
	"recfs/formats/source"
	"recfs/formats/unpack"
	"recfs/nodes"
)

// Options are what can be chosen about an archive.
type Options struct {
	// Sniff looks at the first bytes of every file whose name says nothing.
	Sniff bool
	// Disk keeps decompressed copies of large recordings; nil: none are made,
	// and to go back in such a recording means to decompress it again.
	Disk *cache.Disk
	// Shared tells that others than the user of this process are let in. What
	// lies beside a recording and adds to its tree, such as a schema or a map,
	// then does so only if all who may read the recording may read it.
	Shared bool
	// Indexed hears when the index.json of a recording was made or asked for; nil: nobody does.
	Indexed func(context.Context, Recording)
	// Log hears of what does not open, once per version; nil: nobody.
	Log *slog.Logger
}

// New presents fsys with every recording of the listed formats replaced
// by its tree. What is neither a recording nor a directory appears as it is.
// The names of a directory are listed without opening anything in it.
func New(fsys iofs.FS, list []formats.Format, c *cache.Cache, opt Options) Root {
	return &rootDir{a: newArchive(fsys, list, c, opt, unpack.NewMemory(c, maxDepth), 0)}
}

// NewFile returns the tree of one recording, the file called name in
// fsys. If its name says nothing its first bytes do; if they say nothing
// either, the error is errors.ErrUnsupported.
func NewFile(fsys iofs.FS, name string, list []formats.Format, c *cache.Cache, opt Options) (nodes.Dir, error) {
	opt.Sniff = true
	t := &rootDir{a: newArchive(fsys, list, c, opt, unpack.NewMemory(c, maxDepth), 0), file: name}
	e, err := t.a.lookup(context.Background(), folder{t.a, path.Dir(name)}, path.Base(name))
	if err != nil {
		return nil, err
	}
	if e.Dir == nil {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: errors.ErrUnsupported}
	}
	return t, nil
}

// An archive is what all its directories share.
type archive struct {
	fsys      iofs.FS
	base      func() string // see findBase
	list      []formats.Format
	ext       map[string]int // index in list by extension
	opt       Options
	log       *slog.Logger
	openFiles *source.Files
	unpack    *unpack.Unpacker
	memory    *unpack.Memory // shared with the archives in it
	warned    *cache.Recent[string, source.Version]

	listings   *cache.Memo[listingKey, *listing]
	kinds      *cache.Memo[kindKey, kind]
	trees      *cache.Memo[recordingKey, nodes.Dir]
	lists      *cache.Memo[containerKey, *listed]
	maxList    int64 // of the memory that one takes
	containers *cache.Memo[containerKey, nodes.Dir]
	depth      int // containers around it
}

func newArchive(fsys iofs.FS, list []formats.Format, c *cache.Cache, opt Options, memory *unpack.Memory, depth int) *archive {
	a := &archive{
		fsys: fsys, list: list, ext: map[string]int{}, opt: opt, log: opt.Log, depth: depth, memory: memory,
		openFiles: source.NewFiles(fsys), warned: cache.NewRecent[string, source.Version](maxWarned),
		maxList: max(c.Budget()/2, container.MinList),
	}
	a.base = sync.OnceValue(a.findBase)
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	for i, f := range list {
		for _, ext := range f.Extensions {
			a.ext[ext] = i
		}
	}
	a.listings = cache.NewMemo(c, a.loadListing)
	a.kinds = cache.NewMemo(c, a.loadKind)
	a.unpack = unpack.New(a.openFiles, c, unpack.Options{Disk: opt.Disk, Log: a.log, Memory: memory, Depth: depth})
	a.trees = cache.NewMemo(c, func(ctx context.Context, k recordingKey) (nodes.Dir, int64, error) {
		return a.open(ctx, k, c)
	})
	a.lists = cache.NewMemo(c, func(ctx context.Context, k containerKey) (*listed, int64, error) {
		return a.loadList(ctx, k, c)
	})
	a.containers = cache.NewMemo(c, func(ctx context.Context, k containerKey) (nodes.Dir, int64, error) {
		return a.loadContainer(ctx, k, c)
	})
	return a
}

// warn logs a message about a file once per version of it, as far back as
// maxWarned remembers.
func (a *archive) warn(name string, v source.Version, msg string, args ...any) {
	if old, ok := a.warned.Swap(name, v); !ok || old != v {
		a.log.Warn(msg, append([]any{"path", name}, args...)...)
	}
}

// maxWarned is how many files the archive knows that it warned of.
const maxWarned = 1 << 10

// byName returns the index of the format whose extension name has, and
// whether the extension of a compression is behind it.
func (a *archive) byName(name string) (format int, packed, ok bool) {
	for _, ext := range unpack.Extensions {
		if inner, found := strings.CutSuffix(name, ext); found {
			name, packed = inner, true
			break
		}
	}
	ext := path.Ext(name)
	if ext == name { // no name in front of it
		return 0, false, false
	}
	format, ok = a.ext[ext]
	return format, packed && ok, ok
}

// A kind is what a file is shown as.
type kind struct {
	recording bool
	format    int
	packed    bool // under outer compression
}

// kindKey: a decision about a file holds for one version of it.
type kindKey struct {
	path string
	v    source.Version
}

// kind tells what the file at a path is shown as. It opens the file only if
// the name does not say.
func (a *archive) kind(ctx context.Context, k kindKey) (kind, error) {
	f, packed, ok := a.byName(path.Base(k.path))
	switch {
	case ok && a.list[f].MatchNamed == nil:
		return kind{true, f, packed}, nil
	case ok || a.opt.Sniff:
		return a.kinds.Get(ctx, k)
	}
	return kind{}, nil
}

func (a *archive) loadKind(ctx context.Context, k kindKey) (kind, int64, error) {
	cost := int64(len(k.path) + 128)
	head, err := a.head(ctx, k.path, k.v)
	if err != nil {
		return kind{}, 0, err
	}
	if f, packed, ok := a.byName(path.Base(k.path)); ok {
		inner := head
		if packed {
			if inner, err = a.unpack.Head(ctx, source.FileKey{Path: k.path, Version: k.v}, head); err != nil {
				return kind{}, 0, err
			}
		}
		if a.list[f].MatchNamed(inner) {
			return kind{true, f, packed}, cost, nil
		}
	}
	if !a.opt.Sniff {
		return kind{}, cost, nil
	}
	if i, ok := a.match(head); ok {
		return kind{true, i, false}, cost, nil
	}
	inner, err := a.unpack.Head(ctx, source.FileKey{Path: k.path, Version: k.v}, head)
	if err != nil {
		return kind{}, 0, err
	}
	if i, ok := a.match(inner); ok {
		return kind{true, i, true}, cost, nil
	}
	return kind{}, cost, nil
}

// match returns the index of the first format that knows a head.
func (a *archive) match(head []byte) (int, bool) {
	i := slices.IndexFunc(a.list, func(f formats.Format) bool { return f.Match != nil && f.Match(head) })
	return i, i >= 0
}

// head returns the first bytes of a file.
func (a *archive) head(ctx context.Context, name string, v source.Version) ([]byte, error) {
	b := make([]byte, min(formats.HeadSize, v.Size))
	if _, err := source.NewReader(a.openFiles, name, v).ReadAt(ctx, b, 0); err != nil && err != io.EOF {
		return nil, err
	}
	return b, nil
}
