// Package unpack decompresses files: small ones whole into the cache, large ones as a stream that a
// seekable copy in the disk cache follows. What decoders remember counts in the account of the
// cache.
package unpack

import (
	"context"
	"io"
	"log/slog"
	"slices"
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
	// maxSmall is up to which size a decompressed recording is held whole in the cache, or less if the
	// cache is small.
	maxSmall = 16 << 20

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

// A smallContent is the decompressed bytes of a small file.
type smallContent struct {
	data   []byte
	damage *Damage
	more   bool // it is not small, data is empty
}

// smallRatio is how many bytes a file that is decompressed into memory at once
// may give for each of its own.
const smallRatio = 64

// maxInflated is how many bytes a file of so many may give to be held whole, if small are the most.
func maxInflated(small, stored int64) int64 { return min(small, smallRatio*stored+frameSize) }

// A small is a compressed file that is held whole in the cache. It holds no bytes itself.
type small struct {
	p *Unpacker
	packedFile
}

// get returns the decompressed bytes.
func (s small) get(ctx context.Context) (smallContent, error) {
	return s.p.inflated.GetFrom(ctx, s.key, func(ctx context.Context, k source.FileKey) (smallContent, int64, error) {
		w, err := s.inflate(ctx, maxInflated(s.p.smallSize, k.Version.Size))
		return w, int64(cap(w.data)) + 256, err
	})
}

// inflate decompresses what gives at most limit bytes.
func (s small) inflate(ctx context.Context, limit int64) (smallContent, error) {
	d := newDecoder(s.c, s.raw, s.key.Version.Size, inputSize)
	var frames [][]byte
	defer func() {
		for _, b := range frames {
			dropFrame(b)
		}
	}()
	for {
		b := newFrame()
		n, err := d.read(ctx, b[:frameSize])
		frames = append(frames, b[:n])
		size := int64(len(frames)-1)*frameSize + int64(n)
		e := endOf(size, err)
		if err == nil {
			err = ctx.Err()
		}
		if e != nil || err != nil || size > limit {
			d.close(size > limit || e != nil && e.hurt == nil)
		}
		switch {
		case size > limit:
			return smallContent{more: true}, nil
		case e != nil:
			return smallContent{data: slices.Concat(frames...), damage: e.hurt}, nil
		case err != nil:
			return smallContent{}, err
		}
	}
}

// ReadAt reads decompressed bytes.
func (s small) ReadAt(ctx context.Context, b []byte, off int64) (int, error) {
	w, err := s.get(ctx)
	if err != nil {
		return 0, err
	}
	return nodes.BytesContent(w.data).ReadAt(ctx, b, off)
}

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
