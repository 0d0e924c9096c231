package container

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	iofs "io/fs"
	"strings"

	"github.com/klauspost/compress/zip"

	"recfs/formats"
	"recfs/formats/source"
	"recfs/formats/unpack"
	"recfs/nodes"
)

// Zip has a directory at its end.
var Zip = &Kind{Name: "zip", list: listZip, open: openZipMember}

// listZip reads the directory of a zip. If that is damaged, what comes
// before is shown.
func listZip(ctx context.Context, src formats.Input, w Work) (*Members, error) {
	dir, err := findZipDirectory(src.At(ctx), src.Size)
	if err != nil {
		return nil, err
	}
	l := newBuilder(src.ModTime, w.Limit, w.Room)
	l.base = dir.base
	in := bufio.NewReaderSize(io.NewSectionReader(src.At(ctx), dir.at, dir.size), zipBuffer)
	at, n := dir.at, uint64(0)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var z zipFile
		if z, err = readZipEntry(in, dir.base); err != nil {
			break
		}
		if err := addZip(ctx, l, w.Unpack, src, z, at); err != nil {
			return nil, &formats.Error{Format: "zip", Offset: at, Err: err}
		}
		at += z.length
		n++
	}
	switch {
	case err == io.EOF && n == dir.count:
		return l.finish(), nil
	case n == 0:
		return nil, &formats.Error{Format: "zip", Offset: at, Err: fmt.Errorf("%w: %w", formats.ErrCorrupt, err)}
	case err == io.EOF && n > dir.count: // some write the low 16 bits of a greater number: who knows whether this is all
		err = fmt.Errorf("%w: the directory has %d files, its end counts %d", formats.ErrCorrupt, n, dir.count)
	case err == io.EOF:
		err = fmt.Errorf("%d files missing in the directory: %w", dir.count-n, io.ErrUnexpectedEOF)
	}
	l.Damage = &formats.Error{Format: "zip", Offset: at, Err: err}
	return l.finish(), nil
}

// addZip adds the member whose record is at at.
func addZip(ctx context.Context, l *builder, u *unpack.Unpacker, src formats.Input, z zipFile, at int64) error {
	modified := z.Modified
	if modified.IsZero() {
		modified = src.ModTime
	}
	mode := z.Mode()
	switch {
	case strings.HasSuffix(z.Name, "/"), mode.IsDir():
		return l.addDir(z.Name, modified)
	case z.UncompressedSize64 > 1<<62:
		return nil
	case mode.Type() == 0:
		return l.addFile(z.Name, member{kind: fileMember, at: at, size: int64(z.UncompressedSize64)}, modified)
	case mode.Type() == iofs.ModeSymlink:
		target := zipLink(ctx, u, src, z)
		if err := ctx.Err(); err != nil {
			return err
		}
		return l.addLink(z.Name, target, modified)
	}
	return nil
}

// zipLink returns the target of a symbolic link, which is its content; "" if
// that cannot be read.
func zipLink(ctx context.Context, u *unpack.Unpacker, src formats.Input, z zipFile) string {
	content, err := openZipFile(ctx, u, src, source.Version{}, z)
	if err != nil {
		return ""
	}
	b := make([]byte, min(z.UncompressedSize64, maxMemberPath))
	if _, err := content.ReadAt(ctx, b, 0); err != nil && err != io.EOF {
		return ""
	}
	return string(b)
}

// openZipMember returns a reader of a file in a zip.
func openZipMember(ctx context.Context, src formats.Input, v source.Version, m *Members, f member, u *unpack.Unpacker) (nodes.ReaderAt, error) {
	z, err := readZipEntry(io.NewSectionReader(src.At(ctx), f.at, src.Size-f.at), m.base)
	if err != nil {
		return nil, &formats.Error{Format: "zip", Offset: f.at, Err: err}
	}
	return openZipFile(ctx, u, src, v, z)
}

const zipEncrypted = 1 // flag

// zipBuffer is how much of the directory is read at once.
const zipBuffer = 128 << 10

// zipMethods are the ways to compress a member.
var zipMethods = map[uint16]unpack.Compression{
	zip.Deflate: unpack.Deflate,
	12:          unpack.Bzip2,
	93:          unpack.Zstd,
	95:          unpack.XZ,
}

func openZipFile(ctx context.Context, u *unpack.Unpacker, src formats.Input, v source.Version, z zipFile) (nodes.ReaderAt, error) {
	method, known := zipMethods[z.Method]
	switch {
	case z.Flags&zipEncrypted != 0:
		return nil, fmt.Errorf("%s is encrypted: %w", z.Name, errors.ErrUnsupported)
	case !known && z.Method != zip.Store:
		return nil, fmt.Errorf("%s is compressed by method %d: %w", z.Name, z.Method, errors.ErrUnsupported)
	}
	at, err := zipData(src.At(ctx), z.header)
	if err != nil {
		return nil, err
	}
	if z.CompressedSize64 > uint64(max(src.Size-at, 0)) {
		return nil, fmt.Errorf("%s: %w", z.Name, io.ErrUnexpectedEOF)
	}
	stored := sectionOf(src, at, int64(z.CompressedSize64))
	if z.Method == zip.Store {
		return stored, nil
	}
	stream := fmt.Sprintf("%d %08x", z.UncompressedSize64, z.CRC32)
	checked := method
	checked.Stream = stream
	checked.Open = func(in *bufio.Reader, window int64) (io.Reader, func(bool), error) {
		out, done, err := method.Open(in, window)
		return &checkedReader{out, crc32.NewIEEE(), z.CRC32}, done, err
	}
	return expand(ctx, u, checked, stored, int64(z.UncompressedSize64), v)
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
