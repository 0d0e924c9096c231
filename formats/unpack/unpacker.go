// Package unpack decompresses files: small ones whole into the cache, large ones as a stream that a
// seekable copy in the disk cache follows. What decoders remember counts in the account of the
// cache.
package unpack

import (
	"log/slog"
	"time"

	"recfs/cache"
	"recfs/formats/source"
)

// An Unpacker decompresses the files of one source. What it made stays in the
// cache, and of large files in the disk cache.
type Unpacker struct {
	files  *source.Files
	cache  *cache.Cache
	disk   *cache.Disk // nil: no copies are made
	log    *slog.Logger
	nested bool

	inflated   *cache.Memo[source.FileKey, smallContent]
	smallSize  int64 // what is decompressed whole into memory
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
	maxStreams = 128              // open at once, beyond those in use
	idleStream = 10 * time.Second // a stream without a reader is closed after one to two of these
	maxEnds    = 1 << 10          // streams of which something is remembered when they are closed
)

// New returns an Unpacker of files.
func New(files *source.Files, c *cache.Cache, opt Options) *Unpacker {
	small := min(maxSmall, c.Budget()/16) // which stays when work leaves a quarter of the budget to values
	return &Unpacker{
		files: files, cache: c, disk: opt.Disk, log: opt.Log, nested: opt.Nested,
		smallSize: small,
		inflated: cache.NewMemo[source.FileKey, smallContent](c, nil).Peak(func(k source.FileKey) int64 {
			return 2 * maxInflated(small, k.Version.Size) // it moves as it grows
		}),
		streams: cache.NewLRU[source.FileKey](cache.LRUOptions[*stream]{
			Max: maxStreams, Idle: idleStream, Close: (*stream).close, Cache: c,
		}),
		frames:     cache.NewMemo[frameKey, []byte](c, nil),
		seekFrames: cache.NewMemo[frameKey, []byte](c, nil),
		ends:       cache.NewRecent[source.FileKey, *end](maxEnds),
		lost:       cache.NewRecent[source.FileKey, int](maxEnds),
	}
}
