// Package archive shows a file system as a tree in which every recording is
// replaced by the tree that its format makes of it.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path"
	"slices"
	"strings"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/container"
	"recfs/formats/recordings"
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
	// Follow tells that files are read while they grow: of one that was written a moment ago, some
	// formats show what will stay (formats.Format.HoldsBack). Else all is shown.
	Follow bool
	// OnRead hears how many bytes of the source are read; nil: nobody does.
	OnRead func(n int)
	// Log hears of what does not open, once per version; nil: nobody.
	Log *slog.Logger
}

// An Archive is what all its directories share, and tells what its tree does not. That of a
// container, which has one of its own, shares the cache, the options and the log with the one
// around it. Names are paths in the source.
type Archive struct {
	namings
	tree      source.Tree
	cache     *cache.Cache
	list      []formats.Format
	opt       Options
	log       *slog.Logger
	openFiles *source.Files
	unpack    *unpack.Unpacker
	contents  *formats.Contents // nil: nothing is kept on disk; in a container, which has a Content of its own
	warned    *cache.Recent[string, source.Version]
	growths   *cache.Recent[string, growth]

	listings   *cache.Memo[listingKey, source.Names]
	kinds      *cache.Memo[kindKey, kind]
	unpacked   *cache.Memo[recordingKey, *plainInput]
	recordings *recordings.Store[recordingKey]
	trees      *cache.Memo[recordingKey, nodes.Dir] // they stay when the memory of a large recording is given up
	lists      *cache.Memo[recordingKey, *memberList]
	containers *cache.Memo[recordingKey, nodes.Dir]
	depth      int             // containers around it
	container  *container.Tree // the innermost one of them, which tree is; nil: none
}

// warn logs a message about a file once per version of it, as far back as
// maxWarned remembers.
func (a *Archive) warn(name string, v source.Version, msg string, args ...any) {
	if old, ok := a.warned.Swap(name, v); !ok || old != v {
		a.log.Warn(msg, append([]any{"path", name}, args...)...)
	}
}

// maxWarned is how many files the archive knows that it warned of.
const maxWarned = 1 << 10

// A kind is what a file is shown as.
type kind struct {
	recording bool
	format    int
	packed    bool // under outer compression
}

// kindKey: a decision about a file holds for one version of it, and for one name: that says what
// the bytes have to look like.
type kindKey struct {
	source.FileKey
	naming
}

// kind tells what a file is shown as. It opens the file only if the name does not say, and then
// itself: to read a few bytes takes no longer than to wait for another caller.
func (a *Archive) kind(ctx context.Context, file source.FileKey, n naming) (kind, error) {
	switch {
	case n.format != noFormat && a.list[n.format].MatchNamed == nil:
		return kind{true, n.format, n.packed}, nil
	case n.format != noFormat || a.opt.Sniff:
		key := kindKey{file, n}
		if k, ok := a.kinds.Peek(key); ok {
			return k, nil
		}
		k, err := a.loadKind(ctx, key)
		if err == nil {
			a.kinds.Put(key, k, int64(len(key.Path)+128))
		}
		return k, err
	}
	return kind{}, nil
}

// loadKind looks at the first bytes of a file.
func (a *Archive) loadKind(ctx context.Context, k kindKey) (kind, error) {
	size := int64(formats.HeadSize)
	if a.container != nil && !a.opt.Sniff && !k.packed { // of which the list may know as many
		size = formats.NamedSize
	}
	head, err := a.head(ctx, k.FileKey, size)
	if err != nil {
		return kind{}, err
	}
	if k.format != noFormat {
		ok, err := a.named(ctx, k, head)
		if ok || err != nil {
			return kind{ok, k.format, k.packed}, err
		}
	}
	if !a.opt.Sniff {
		return kind{}, nil
	}
	if i, ok := a.match(head); ok {
		return kind{true, i, false}, nil
	}
	inner, _, err := a.unpack.Head(ctx, k.FileKey, head)
	if err != nil {
		return kind{}, err
	}
	if i, ok := a.match(inner); ok {
		return kind{true, i, true}, nil
	}
	return kind{}, nil
}

// named reports whether a file that begins with head is the recording that its name says. It is
// taken for one, which does not open, if it is compressed and damaged before what would tell.
func (a *Archive) named(ctx context.Context, k kindKey, head []byte) (bool, error) {
	if k.packed {
		inner, hurt, err := a.unpack.Head(ctx, k.FileKey, head)
		if err != nil || hurt != nil && len(inner) < formats.NamedSize {
			return err == nil, err
		}
		head = inner
	}
	return a.list[k.format].MatchNamed(head[:min(len(head), formats.NamedSize)]), nil
}

// match returns the index of the first format that knows a head. The order of the list decides
// between two formats if one is a special case of the other.
func (a *Archive) match(head []byte) (int, bool) {
	i := slices.IndexFunc(a.list, func(f formats.Format) bool { return f.Match != nil && f.Match(head) })
	return i, i >= 0
}

// head returns the first bytes of a file, size of them or all. Those of an object are kept on disk,
// as to ask for them takes a request.
func (a *Archive) head(ctx context.Context, file source.FileKey, size int64) ([]byte, error) {
	if file.Version.Changed != formats.ByContent || a.opt.Disk == nil || a.container != nil {
		return a.readHead(ctx, file, size)
	}
	name := fmt.Sprintf("first %d bytes of an object of %d bytes, %x", size, file.Version.Size, file.Version.Inode)
	if b, ok := a.opt.Disk.Load(ctx, name); ok {
		return b, nil
	}
	b, err := a.readHead(ctx, file, size)
	if err == nil {
		a.opt.Disk.Save(name, b)
	}
	return b, err
}

// readHead reads the first bytes of a file.
func (a *Archive) readHead(ctx context.Context, file source.FileKey, size int64) ([]byte, error) {
	b := make([]byte, min(size, file.Version.Size))
	var n int
	var err error
	if a.container != nil {
		n, err = a.container.First(ctx, file.Path, b)
	} else {
		n, err = source.NewReader(a.openFiles, file).ReadAt(ctx, b, 0)
	}
	if _, ok := errors.AsType[*unpack.Damage](err); err != nil && err != io.EOF && !ok {
		return nil, err
	}
	return b[:n], nil
}

// A recordingKey is all that the tree of a recording or a container depends on.
type recordingKey struct {
	path, name string // in the source; as shown
	v          source.Version
	format     int             // noFormat: it is a container
	kind       *container.Kind // of the container
	packed     bool
	running    bool         // only of a format that HoldsBack
	segments   segments     // the files of a directory
	beside     nodes.Rights // see archive.beside
}

// isDir reports whether the recording is a directory.
func (k recordingKey) isDir() bool { return k.segments != segments{} }

// listingKey: a listing holds until the directory changes.
type listingKey struct {
	path string
	v    source.Version
}

// A plainInput is what a compressed recording decompresses to, or why it does
// not.
type plainInput struct {
	src  formats.Input
	hurt unpack.DamageFunc // tells of damage of what is around the bytes, and may read them to their end; nil: nothing is
	err  error
}

// A recording is the tree of one version of a recording, opened when it is
// looked into. It is a value, equal to another of the same version.
type recording struct {
	a   *Archive
	key recordingKey
}

// A Recording is one version of a recording. It is a value, equal to another of the same version.
type Recording struct{ r recording }

// A naming is what the name of a file tells of it.
type naming struct {
	format    int             // index of the format whose extension it has, or noFormat
	container *container.Kind // if it has the extension of one and of no format; else nil
	packed    bool            // the extension of a compression follows the other
}

// noFormat is the format of a container, and of what is none.
const noFormat = -1

// namings tell what names say.
type namings struct {
	ext        map[string]int // index of the format by extension
	containers bool           // files that hold files are directories
}

func newNamings(list []formats.Format, containers bool) namings {
	n := namings{map[string]int{}, containers}
	for i, f := range list {
		for _, ext := range f.Extensions {
			n.ext[ext] = i
		}
	}
	return n
}

// IsNamed reports whether a file's name is that of a recording of one of the formats, or of a
// container.
func IsNamed(list []formats.Format, name string) bool {
	n := newNamings(list, true).naming(name)
	return n.format != noFormat || n.container != nil
}

// naming returns what a name tells.
func (n namings) naming(name string) naming {
	stem, packed := name, false
	for _, ext := range unpack.Extensions {
		if inner, found := strings.CutSuffix(name, ext); found {
			stem, packed = inner, true
			break
		}
	}
	if ext := path.Ext(stem); ext != stem { // else there is nothing before it
		if format, ok := n.ext[ext]; ok {
			return naming{format: format, packed: packed}
		}
	}
	if !n.containers {
		return naming{format: noFormat}
	}
	kind, compression := container.KindOf(name)
	return naming{noFormat, kind, compression != ""}
}
