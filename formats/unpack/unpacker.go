// Package unpack decompresses files: small ones whole into the cache, large ones as a stream that a
// seekable copy in the disk cache follows. What decoders remember shares one bounded Memory.
package unpack

import (
	"context"
	"log/slog"

	"recfs/cache"
	"recfs/formats/source"
	"recfs/nodes"
)

// An Unpacker decompresses the files of one source. What it made stays in the
// cache, and of large files in the disk cache.
type Unpacker struct {
	files  *source.Files
	disk   *cache.Disk // nil: no copies are made
	log    *slog.Logger
	memory *Memory // shared by all nested sources
	depth  int     // containers around the source

	inflated   *cache.Memo[source.FileKey, inflated]
	smallSize  int64 // what is decompressed whole into memory
	frames     *cache.Memo[frameKey, []byte]
	seekFrames *cache.Memo[seekableKey, []byte]

	distrusted *cache.Recent[source.FileKey, bool]
}

// Options are what an Unpacker uses besides the cache.
type Options struct {
	Disk   *cache.Disk // for copies of large files; nil: none are made
	Log    *slog.Logger
	Memory *Memory
	Depth  int // containers around the source
}

// New returns an Unpacker of files.
func New(files *source.Files, c *cache.Cache, opt Options) *Unpacker {
	p := &Unpacker{
		files: files, disk: opt.Disk, log: opt.Log, memory: opt.Memory, depth: opt.Depth,
		smallSize: min(maxSmall, c.Budget()/4), distrusted: cache.NewRecent[source.FileKey, bool](maxDistrusted),
	}
	p.inflated = cache.NewMemo(c, p.inflate)
	p.frames = cache.NewMemo(c, p.loadFrame)
	p.seekFrames = cache.NewMemo(c, p.loadSeekableFrame)
	return p
}

// newDecoder begins to decompress the size bytes of raw.
func (p *Unpacker) newDecoder(c Compression, raw nodes.ReaderAt, size int64) *decoder {
	return newDecoder(c, raw, size, p.memory, p.depth)
}

// maxDistrusted is how many wrong seek tables are remembered.
const maxDistrusted = 1 << 10

// distrust notes that a seekable zstd file is not what its seek table says:
// the next look-up finds it as a file without one.
func (p *Unpacker) distrust(k source.FileKey) { p.distrusted.Swap(k, true) }

// Distrusts reports whether the seek table of a file was found to be wrong.
func (p *Unpacker) Distrusts(k source.FileKey) bool {
	wrong, _ := p.distrusted.Get(k)
	return wrong
}

// Expand returns a reader of what c makes of raw, the stored bytes of a member
// at a version, which should be size bytes.
func (p *Unpacker) Expand(ctx context.Context, c Compression, raw nodes.ReaderAt, v source.Version, size int64) (*Stream, error) {
	u, err := p.newStream(ctx, c, raw, v)
	if err == nil {
		u.inMemory = size <= p.smallSize
	}
	return u, err
}
