package container

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zip"

	"recfs/formats"
	"recfs/formats/internal/zipfile"
)

// Where the directory of a zip is damaged or missing, its files are found by the headers before
// them.

// A zipScan finds the local headers of a zip in one pass.
type zipScan struct {
	r    io.ReaderAt
	size int64

	buf   []byte
	bufAt int64

	inflated int64 // bytes that were decompressed to learn the sizes of files that are cut
}

const (
	record = "PK" // what all records begin with

	scanWindow = 128 << 10

	// maxInflated is how much is decompressed at most to learn sizes, of one zip: some seconds of
	// work, where each of many headers may claim the same stored bytes.
	maxInflated = 1 << 30
)

// window returns the bytes from at on: n of them or more, or all that are left.
func (s *zipScan) window(at int64, n int) ([]byte, error) {
	end := min(at+int64(n), s.size)
	if at < s.bufAt || end > s.bufAt+int64(len(s.buf)) {
		if s.buf == nil {
			s.buf = make([]byte, scanWindow)
		}
		s.buf = s.buf[:min(scanWindow, max(s.size-at, 0))]
		got, err := s.r.ReadAt(s.buf, at)
		s.buf, s.bufAt = s.buf[:got], at
		if err != nil && err != io.EOF {
			return nil, err
		}
	}
	return s.buf[min(at-s.bufAt, int64(len(s.buf))):], nil
}

// next returns where the next record begins from at on, and its signature; io.EOF: there is none.
// Windows overlap by three bytes, so that no signature is cut in two.
func (s *zipScan) next(ctx context.Context, at int64) (int64, string, error) {
	for at < s.size {
		if err := ctx.Err(); err != nil {
			return 0, "", err
		}
		b, err := s.window(at, 4)
		if err != nil {
			return 0, "", err
		}
		for i := 0; ; i += 2 {
			m := bytes.Index(b[i:], []byte(record))
			if m < 0 || i+m+4 > len(b) {
				break
			}
			i += m
			switch sig := string(b[i:][:4]); sig {
			case zipfile.LocalMagic, zipfile.DescriptorMagic, zipfile.CentralMagic, zipfile.EndMagic:
				return at + int64(i), sig, nil
			}
		}
		at += int64(max(len(b)-3, 1))
	}
	return 0, "", io.EOF
}

// A localFile is a file that was found by its local header.
type localFile struct {
	zipfile.Entry
	data int64 // where the content begins
	cut  bool  // its end was not found: the sizes are those of what there is
}

// end returns where the content ends.
func (z *localFile) end() int64 { return z.data + int64(z.CompressedSize64) }

// after returns where to look for the file after z: after its content, unless nothing begins there
// and so its size may be wrong.
func (s *zipScan) after(z *localFile) (int64, error) {
	follows, err := begins(s.r, z.end(), record)
	if err != nil || follows || z.cut && z.Streamed() {
		return z.end(), err
	}
	if z.Method != zip.Store {
		return z.data, nil
	}
	holds, err := begins(s.r, z.data, record) // headers of its own, as a zip or a tar of zips has
	if holds || err != nil || path.Ext(z.Name) == ".tar" {
		return z.end(), err
	}
	return z.data, nil
}

// file returns the next file from at on; io.EOF: there is none.
func (s *zipScan) file(ctx context.Context, at int64) (z localFile, err error) {
	for ; ; at++ {
		var sig string
		if at, sig, err = s.next(ctx, at); err != nil {
			return z, err
		}
		if sig != zipfile.LocalMagic {
			continue
		}
		z, err = s.at(ctx, at)
		if err == nil || !errors.Is(err, formats.ErrCorrupt) {
			return z, err
		}
	}
}

var errNoHeader = &formats.Reason{Kind: formats.ErrCorrupt, Msg: "no header of a file"}

// at returns the file whose local header is at at.
func (s *zipScan) at(ctx context.Context, at int64) (z localFile, err error) {
	z.Entry, err = zipfile.ReadLocal(s.r, at)
	if err == io.ErrUnexpectedEOF || err == nil && (z.Name == "" || memberPath(z.Name) == "") {
		err = errNoHeader
	}
	if err != nil {
		return z, err
	}
	z.data = at + z.Length
	if !z.Streamed() || z.CompressedSize64 > 0 {
		z.cut = z.end() > s.size
		return z, nil
	}
	return z, s.findEnd(ctx, &z)
}

// findEnd finds out how long a file is whose header does not tell: to its descriptor, or to the
// next record.
func (s *zipScan) findEnd(ctx context.Context, z *localFile) error {
	for at := z.data; ; at++ {
		next, sig, err := s.next(ctx, at)
		if err == io.EOF {
			next, sig = s.size, ""
		} else if err != nil {
			return err
		}
		at = next
		if sig == zipfile.DescriptorMagic {
			if ok, err := s.describe(z, at, at); ok || err != nil {
				return err
			}
			continue
		}
		for _, size := range []int64{12, 20} { // a descriptor without its signature
			if ok, err := s.describe(z, at-size, at); ok || err != nil {
				return err
			}
		}
		z.cut, z.CompressedSize64 = true, uint64(at-z.data)
		return s.measure(ctx, z)
	}
}

// describe reports whether there is a descriptor of a file at at, and takes what it says. One
// without a signature is known by its place before the next record, which begins at end, and by its
// length; and any must tell the compressed size that the file then has.
func (s *zipScan) describe(z *localFile, at, end int64) (bool, error) {
	if at < z.data {
		return false, nil
	}
	n := int64(zipfile.MaxDescriptor)
	if at < end {
		n = end - at
	}
	b := make([]byte, min(n, s.size-at))
	if _, err := s.r.ReadAt(b, at); err != nil && err != io.EOF {
		return false, err
	}
	return z.ReadDescriptor(b, at-z.data) > 0, nil
}

// measure learns how many bytes there are of a file that is cut.
func (s *zipScan) measure(ctx context.Context, z *localFile) error {
	switch z.Method {
	case zip.Store:
		z.UncompressedSize64 = z.CompressedSize64
	case zip.Deflate:
		stored := int64(z.CompressedSize64)
		in := io.NewSectionReader(s.r, z.data, stored)
		limit := min(max(stored*maxRatio, 0), maxInflated-s.inflated)
		n, err := io.Copy(io.Discard, io.LimitReader(flate.NewReader(in), limit))
		s.inflated += n
		z.UncompressedSize64 = uint64(n)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	default:
		z.UncompressedSize64 = 0 // nobody knows: it is not shown
	}
	return nil
}
