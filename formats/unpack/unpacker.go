// Package unpack decompresses files as streams, whose frames stay in the cache if there are few of
// them, and else in a seekable copy in the disk cache. What decoders remember counts in the account
// of the cache.
package unpack

import (
	"context"
	"io"
	"log/slog"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// An Unpacker decompresses the files of one source. What it made stays in the
// cache, and of large files in the disk cache.
type Unpacker struct {
	files  *source.Files
	cache  *cache.Cache
	disk   *cache.Disk // nil: no copies are made
	log    *slog.Logger
	nested bool

	smallSize  int64 // what is held in memory
	streams    *cache.LRU[source.FileKey, *stream]
	frames     *cache.Memo[frameKey, []byte]
	seekFrames *cache.Memo[frameKey, []byte] // by their numbers in seek tables

	ends *cache.Recent[source.FileKey, *end]
	lost *cache.Recent[source.FileKey, int] // how often a decompression was given up for others
}

// Options are what an Unpacker uses besides the cache.
type Options struct {
	Disk   *cache.Disk // for copies of large files; nil: none are made
	Log    *slog.Logger
	Nested bool // the files lie in a container, so that to read one may take memory
}

const (
	// maxSmall is up to which size a decompressed recording is held in the cache, or less if the cache
	// is small.
	maxSmall = 16 << 20

	maxStreams = 128              // open at once, beyond those in use
	idleStream = 10 * time.Second // a stream without a reader is closed after one to two of these
	maxEnds    = 1 << 10          // streams of which something is remembered when they are closed
)

// New returns an Unpacker of files.
func New(files *source.Files, c *cache.Cache, opt Options) *Unpacker {
	return &Unpacker{
		files: files, cache: c, disk: opt.Disk, log: opt.Log, nested: opt.Nested,
		smallSize: min(maxSmall, c.Budget()/16), // which stays when work leaves a quarter of the budget to values
		streams: cache.NewLRU[source.FileKey](cache.LRUOptions[*stream]{
			Max: maxStreams, Idle: idleStream, Close: (*stream).close, Cache: c,
		}),
		frames:     cache.NewMemo[frameKey, []byte](c, nil),
		seekFrames: cache.NewMemo[frameKey, []byte](c, nil),
		ends:       cache.NewRecent[source.FileKey, *end](maxEnds),
		lost:       cache.NewRecent[source.FileKey, int](maxEnds),
	}
}

// A Content is what a compressed file decompresses to.
type Content struct {
	nodes.ReaderAt
	Size    int64                                // or formats.UnknownSize
	Measure func(context.Context) (int64, error) // returns the size, reading to the end; nil: it is known
	Damage  DamageFunc                           // may read to the end
}

// A Choice is what can be chosen for a file.
type Choice struct {
	Streams bool             // its size need not be known: a large one is not read to its end
	Listed  bool             // it is a container: it is read once, and then here and there
	Content *formats.Content // of the file; nil: no copy is made
}

// A DamageFunc reports whether a compressed stream is damaged; nil: it is not.
type DamageFunc func(context.Context) (*Damage, error)

func undamaged(context.Context) (*Damage, error) { return nil, nil }

// smallRatio is how many bytes a file that is held in memory may give for each of its own.
const smallRatio = 64

// maxInflated is how many bytes a file of so many may give to be held in memory, if small are the
// most.
func maxInflated(small, stored int64) int64 { return min(small, smallRatio*stored+frameSize) }

// detect tells how the file raw is compressed.
func detect(ctx context.Context, raw nodes.ReaderAt, size int64) (Compression, error) {
	head := make([]byte, min(8, size))
	if _, err := raw.ReadAt(ctx, head, 0); err != nil && err != io.EOF {
		return Compression{}, err
	}
	if c, ok := compressionOf(head); ok {
		return c, nil
	}
	if size == 0 {
		return Compression{}, formats.Reasonf(io.ErrUnexpectedEOF, "the file is empty")
	}
	return Compression{}, formats.Reasonf(formats.ErrCorrupt, "it is neither xz, zstd, gzip nor bzip2, which its name says")
}
