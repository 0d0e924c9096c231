package formats

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	iofs "io/fs"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zip"
)

// maxDirectory is how many bytes the directory of a zip may have: all of it is
// held in memory.
const maxDirectory = 64 * maxMembers

// A directoryReader reads no more than so many bytes until that is done.
type directoryReader struct {
	io.ReaderAt
	left int
	done bool
}

func (d *directoryReader) ReadAt(p []byte, off int64) (int, error) {
	if !d.done {
		if d.left -= len(p); d.left < 0 {
			return 0, errMembers
		}
	}
	return d.ReaderAt.ReadAt(p, off)
}

// openZip reads the directory at the end of a zip.
func openZip(ctx context.Context, a *archive, src Source) (*memberFS, error) {
	in := &directoryReader{ReaderAt: src, left: maxDirectory}
	r, err := zip.NewReader(in, src.Size)
	switch {
	case errors.Is(err, errMembers):
		return nil, &Error{"zip", 0, fmt.Errorf("%w: %w", errors.ErrUnsupported, err)}
	case err != nil:
		return nil, &Error{"zip", 0, fmt.Errorf("%w: %w", ErrCorrupt, err)}
	}
	in.done = true
	fsys := newMemberFS(src)
	for _, f := range r.File {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := fsys.addZip(a, src, f); err != nil {
			a.log.Warn("archive is not shown whole", "path", src.Name, "err", err)
			break
		}
	}
	fsys.sort()
	return fsys, nil
}

func (m *memberFS) addZip(a *archive, src Source, z *zip.File) error {
	f := member{modified: z.Modified}
	if z.Modified.IsZero() {
		f.modified = src.ModTime
	}
	switch mode := z.Mode(); {
	case strings.HasSuffix(z.Name, "/"), mode.IsDir():
		f.mode = iofs.ModeDir
		return m.add(z.Name, f)
	case mode.Type() != 0 && mode.Type() != iofs.ModeSymlink || z.UncompressedSize64 > 1<<62:
		return nil
	}
	f.size = int64(z.UncompressedSize64)
	f.open = func() (io.ReaderAt, error) { return a.openZipMember(src, z) }
	if z.Mode().Type() == iofs.ModeSymlink {
		target, err := a.zipLink(src, z)
		if err != nil {
			return nil // not what it says; nothing to show
		}
		f = member{modified: f.modified, mode: iofs.ModeSymlink, link: target}
	}
	return m.add(z.Name, f)
}

// zipLink returns the target of a symbolic link, which is its content.
func (a *archive) zipLink(src Source, z *zip.File) (string, error) {
	if z.UncompressedSize64 == 0 || z.UncompressedSize64 > maxMember {
		return "", ErrCorrupt
	}
	r, err := a.openZipMember(src, z)
	if err != nil {
		return "", err
	}
	b := make([]byte, z.UncompressedSize64)
	if _, err := r.ReadAt(b, 0); err != nil && err != io.EOF {
		return "", err
	}
	return string(b), nil
}

const zipEncrypted = 1 // flag

// zipMethods are the ways to compress a member.
var zipMethods = map[uint16]compression{
	zip.Deflate: {name: "deflate", open: func(r io.Reader) (io.Reader, func(bool), error) {
		return flate.NewReader(r), func(bool) {}, nil
	}},
	12: {name: "bzip2", open: openBzip2},
	93: {name: "zstd", open: openZstd},
	95: {name: "xz", open: openXZ},
}

// openZipMember returns a reader of a file in a zip.
func (a *archive) openZipMember(src Source, z *zip.File) (io.ReaderAt, error) {
	method, known := zipMethods[z.Method]
	switch {
	case z.Flags&zipEncrypted != 0:
		return nil, fmt.Errorf("%s is encrypted: %w", z.Name, errors.ErrUnsupported)
	case !known && z.Method != zip.Store:
		return nil, fmt.Errorf("%s is compressed by method %d: %w", z.Name, z.Method, errors.ErrUnsupported)
	}
	at, err := z.DataOffset()
	if err != nil {
		return nil, err
	}
	if z.CompressedSize64 > uint64(max(src.Size-at, 0)) {
		return nil, fmt.Errorf("%s: %w", z.Name, io.ErrUnexpectedEOF)
	}
	stored := io.NewSectionReader(src, at, int64(z.CompressedSize64))
	if z.Method == zip.Store {
		return stored, nil
	}
	stream := fmt.Sprintf("%d %08x", z.UncompressedSize64, z.CRC32)
	checked := compression{name: method.name, stream: stream, open: func(r io.Reader) (io.Reader, func(bool), error) {
		out, done, err := method.open(r)
		return &checkedReader{out, crc32.NewIEEE(), z.CRC32}, done, err
	}}
	return a.expand(checked, stored, stored.Size(), int64(z.UncompressedSize64), z.Modified)()
}

// A checkedReader compares what it read with a checksum at the end.
type checkedReader struct {
	r    io.Reader
	hash hash.Hash32
	want uint32
}

func (c *checkedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.hash.Write(p[:n])
	if err == io.EOF && c.hash.Sum32() != c.want {
		err = zip.ErrChecksum
	}
	return n, err
}
