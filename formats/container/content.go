package container

import (
	"context"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"sync"

	"recfs/formats"
	"recfs/formats/internal/wire"
	"recfs/formats/source"
	"recfs/formats/unpack"
	"recfs/nodes"
)

// A Content is what a file in a container holds. Its ReaderAt gives the bytes that there are,
// whether they are right or not, and then io.EOF.
type Content struct {
	nodes.ReaderAt
	Damage unpack.DamageFunc // what is wrong with the bytes, or why there are no more; it may read them all
	Short  unpack.DamageFunc // why there are no more; it reads no more than it takes to know the size

	size   int64          // that the container states
	stored int64          // bytes in the container
	there  int64          // how many there are; formats.UnknownSize: that takes reading them
	stream *unpack.Stream // they are decompressed; nil: they lie there as they are
	read   *sum           // the checksum of those read by now; nil: it is not looked at while reading
	odd    *unpack.Damage // what the container says of it in two ways, if all bytes are there and right; else nil
}

// Open returns the bytes like those of a file under compression (unpack.Unpacker.Open). If the size
// has to be measured and may not, as the context is one of cache.SavedOnly, the error says so.
func (c Content) Open(ctx context.Context, streams bool) (unpack.Content, error) {
	if c.stream != nil {
		opened, err := c.stream.Open(ctx, streams)
		opened.Damage = c.Damage
		return opened, err
	}
	return unpack.Content{ReaderAt: c, Size: c.there, Damage: c.Damage}, nil
}

// Claimed returns how many bytes the container says there are, 0 if it is hard to believe.
func (c Content) Claimed() int64 {
	if c.stored < c.size/maxRatio {
		return 0
	}
	return c.size
}

// maxRatio is how many bytes of one stored byte are believed. Deflate makes 1032 at most.
const maxRatio = 1100

// A wholeReader reads a file of a container as it should be: after the bytes that there are comes
// the damage as the error, and the last byte comes only if all are right.
type wholeReader struct{ Content }

// ReadAt waits for the checksum of everything only when a read in order has come to the end by
// itself, so that the last block of a large file costs what one block costs.
func (r wholeReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := r.Content.ReadAt(ctx, p, off)
	end := off + int64(n)
	if err == nil && end < r.size || err != nil && err != io.EOF {
		return n, err
	}
	if end >= r.size && r.read != nil && !r.read.near(r.size) {
		return n, err // a read of the end alone does not wait for a checksum of all
	}
	d, failed := r.Damage(ctx)
	switch {
	case failed != nil:
		return 0, failed
	case d != nil && d == r.odd && r.size == 0: // the list tells it
		return 0, io.EOF
	case d != nil && d == r.odd: // which leaves nothing out
		return n, d
	case d != nil:
		return int(max(0, min(end, r.size-1)-off)), d
	case end < r.size:
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}

// hurt returns c with that damage, nil if there is none, which is known without a read.
func (c Content) hurt(d *unpack.Damage) Content {
	c.Damage = func(context.Context) (*unpack.Damage, error) { return d, nil }
	c.Short = c.Damage
	return c
}

// told returns c with the contradiction odd that the container states about it, unless that is nil.
func (c Content) told(odd error) Content {
	if odd == nil {
		return c
	}
	c.odd = &unpack.Damage{Size: c.size, Err: odd}
	c.Damage, c.Short = orElse(c.Damage, c.odd), orElse(c.Short, c.odd)
	return c
}

// orElse returns a function that tells of d if there is no other damage.
func orElse(hurt unpack.DamageFunc, d *unpack.Damage) unpack.DamageFunc {
	return func(ctx context.Context) (*unpack.Damage, error) {
		if before, err := hurt(ctx); before != nil || err != nil {
			return before, err
		}
		return d, nil
	}
}

// absent returns the content of a file that has no bytes here, such as an encrypted one. It keeps
// the size that the container states, so that a listing shows how much is missing.
func absent(size int64, err error) Content {
	return Content{ReaderAt: nodes.BytesContent(nil), size: size}.hurt(&unpack.Damage{Err: err})
}

// plain returns the content of a file of size bytes that lie at at, if they do: at and size are
// claims of the container, and what lies behind its end is damage, not content.
func plain(src formats.Input, at, size int64) Content {
	there := max(0, min(size, src.Size-at))
	var d *unpack.Damage
	if there < size {
		d = &unpack.Damage{Stored: src.Size, Size: there, Err: formats.Reasonf(
			io.ErrUnexpectedEOF, "the container ends after %d of %d bytes", there, size)}
	}
	return Content{ReaderAt: nodes.SectionContent(src, at, there), size: size, stored: there, there: there}.hurt(d)
}

// expand returns the content of a file that is stored in another form than its own: size bytes that
// c makes of the n stored ones at at, in a container.
func expand(p *unpack.Unpacker, c unpack.Compression, src formats.Input, at, n, size int64, container source.FileKey) Content {
	container.Version.Stamp = stampAt(container.Version.Stamp, at, n)
	s := p.Expand(container, src.Content.Part(strconv.FormatInt(at, 10)), c, nodes.SectionContent(src, at, n), size)
	damage := func(ctx context.Context) (*unpack.Damage, error) {
		// The stream counts stored bytes from its own beginning; people look for the place in the
		// file. The damage is shared by all callers, hence the copy.
		d, err := s.Damaged(ctx)
		if d != nil {
			inFile := *d
			inFile.Stored += at
			d = &inFile
		}
		return d, err
	}
	return Content{ReaderAt: s, stream: s, size: size, stored: n, there: formats.UnknownSize, Damage: damage, Short: damage}
}

// A sum is the checksum (CRC-32) of the first bytes of a file, as far as they were read.
type sum struct {
	mu    sync.Mutex
	at    int64
	crc   uint32
	early []piece // that lie behind a gap
}

// A piece is some bytes of a file: their place, how many, and their checksum.
type piece struct {
	at, size int64
	crc      uint32
}

// add takes in what was read at off. What overlaps with bytes taken in before counts once. What
// lies far behind a gap is left out, and crc reads it again.
func (s *sum) add(b []byte, off int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch done := s.at - off; {
	case done >= int64(len(b)) || done < -sumGap:
		return
	case done < 0:
		s.early = append(s.early, piece{off, int64(len(b)), crc32.ChecksumIEEE(b)})
		s.early = s.early[max(0, len(s.early)-maxEarly):]
		return
	default:
		s.crc = crc32.Update(s.crc, crc32.IEEETable, b[done:])
		s.at = off + int64(len(b))
	}
	for i := 0; i < len(s.early); {
		p := s.early[i]
		if p.at > s.at {
			i++
			continue
		}
		s.early = slices.Delete(s.early, i, i+1)
		if p.at == s.at {
			s.crc, s.at, i = wire.CombineCRC(s.crc, p.crc, p.size), p.at+p.size, 0
		}
	}
}

// now returns of how many first bytes the checksum is known, and that.
func (s *sum) now() (at int64, crc uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at, s.crc
}

// sumStep is how much is read at once for a checksum. sumGap is how far reads may be out of order,
// and maxEarly how many: the kernel reads ahead with several requests of up to 1 MiB in flight,
// which arrive in any order.
const (
	sumStep  = 256 << 10
	sumGap   = 4 << 20
	maxEarly = 64
)

// near reports whether most of the first size bytes were read.
func (s *sum) near(size int64) bool {
	at, _ := s.now()
	return size-at <= sumGap
}

// A sumReader reads bytes whose checksum is known. Bytes that are all read in order are compared
// without another read.
type sumReader struct {
	nodes.Content
	sum *sum
}

func (r sumReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := r.Content.ReadAt(ctx, p, off)
	r.sum.add(p[:n], off)
	return n, err
}

// crc returns the checksum of all, and reads what was not read yet.
func (r sumReader) crc(ctx context.Context) (uint32, error) {
	var buf []byte
	for {
		at, crc := r.sum.now()
		if at >= r.Size() {
			return crc, nil
		}
		if buf == nil {
			buf = make([]byte, min(sumStep, r.Size()-at))
		}
		n, err := r.ReadAt(ctx, buf, at)
		if n == 0 && err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
	}
}

// wrongChecksum says that the bytes of a file do not have the checksum that the container states.
func wrongChecksum(crc, want uint32) error {
	return formats.Reasonf(formats.ErrCorrupt, "its checksum is %08x, the container says %08x", crc, want)
}

// zipSums are the checksums that the directory and the header before a file state. A file that has
// one of them is right: of the other, a bit is wrong.
type zipSums [2]uint32

func (s zipSums) have(crc uint32) bool { return crc == s[0] || crc == s[1] }

// checked returns c, whose bytes have one of these checksums (CRC-32) if they are right.
func (c Content) checked(section nodes.Content, sums zipSums) Content {
	r := sumReader{section, new(sum)}
	c.ReaderAt, c.read = r, r.sum
	before := c.Damage
	c.Damage = func(ctx context.Context) (*unpack.Damage, error) {
		if d, err := before(ctx); d != nil || err != nil {
			return d, err
		}
		crc, err := r.crc(ctx)
		if err != nil || sums.have(crc) {
			return nil, err
		}
		return &unpack.Damage{Size: r.Size(), Err: wrongChecksum(crc, sums[0])}, nil
	}
	return c
}
