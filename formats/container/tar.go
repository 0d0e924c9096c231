package container

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"recfs/formats"
	"recfs/formats/source"
	"recfs/formats/unpack"
	"recfs/nodes"
)

// Tar has its headers before the files they are of, all over the file.
var Tar = &Kind{Name: "tar", list: listTar, open: openTarMember}

// listTar reads the headers of a tar. If it is cut or damaged, what comes
// before is shown.
func listTar(ctx context.Context, src formats.Input, w Work) (*Members, error) {
	l := newBuilder(src.ModTime, w.Limit, w.Room)
	section := &tarSection{r: src.At(ctx), size: src.Size}
	for r := tar.NewReader(section); ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		section.header = -1
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = addTar(l, h, section)
		}
		switch {
		case err == nil:
		case errors.Is(err, errTooManyMembers):
			return nil, &formats.Error{Format: "tar", Offset: section.at, Err: err}
		case l.Len() == 1:
			return nil, &formats.Error{Format: "tar", Offset: section.at, Err: fmt.Errorf("%w: %w", formats.ErrCorrupt, err)}
		default:
			l.Damage = &formats.Error{Format: "tar", Offset: section.at, Err: err}
			return l.finish(), nil
		}
	}
	return l.finish(), nil
}

// addTar adds the member whose header was read.
func addTar(l *builder, h *tar.Header, section *tarSection) error {
	switch h.Typeflag {
	case tar.TypeDir:
		return l.addDir(h.Name, h.ModTime)
	case tar.TypeSymlink:
		return l.addLink(h.Name, h.Linkname, h.ModTime)
	case tar.TypeLink:
		return l.addHardLink(h.Name, h.Linkname)
	case tar.TypeReg, tar.TypeGNUSparse:
		if isSparse(h) {
			return l.addFile(h.Name, member{kind: sparseMember, at: section.header, size: h.Size}, h.ModTime)
		}
		size := max(0, min(h.Size, section.size-section.at)) // the last may be cut
		return l.addFile(h.Name, member{kind: fileMember, at: section.at, size: size}, h.ModTime)
	}
	return nil
}

// openTarMember returns a reader of a file in a tar.
func openTarMember(ctx context.Context, src formats.Input, v source.Version, _ *Members, f member, u *unpack.Unpacker) (nodes.ReaderAt, error) {
	if f.kind == sparseMember {
		rest := sectionOf(src, f.at, src.Size-f.at)
		return expand(ctx, u, sparse, rest, f.size, v)
	}
	return nodes.SectionContent(src, f.at, f.size), nil
}

// isSparse tells whether holes of a member are left out.
func isSparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// sparse makes the one member of a tar, with its holes. It must not wait for
// memory: who waits for it may hold some at the depth of the tar.
var sparse = unpack.Compression{Name: "sparse tar", Open: func(r *bufio.Reader, _ int64) (io.Reader, func(bool), error) {
	t := tar.NewReader(r)
	_, err := t.Next()
	return t, func(bool) {}, err
}}

const (
	tarBlock  = 512
	tarBuffer = 16 << 10 // headers of small members come with one read
)

// A tarSection reads a tar and notes where the headers of a member begin.
type tarSection struct {
	r      io.ReaderAt
	size   int64
	at     int64
	header int64 // of the first whole block that was read since it was set to -1

	buf   []byte
	bufAt int64
}

func (s *tarSection) Read(p []byte) (int, error) {
	if len(p) == tarBlock && s.header < 0 {
		s.header = s.at
	}
	if s.at < s.bufAt || s.at >= s.bufAt+int64(len(s.buf)) {
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.buf[s.at-s.bufAt:])
	s.at += int64(n)
	return n, nil
}

func (s *tarSection) fill() error {
	if s.at >= s.size {
		return io.EOF
	}
	if s.buf == nil {
		s.buf = make([]byte, tarBuffer)
	}
	n, err := s.r.ReadAt(s.buf[:min(tarBuffer, s.size-s.at)], s.at)
	s.buf, s.bufAt = s.buf[:n], s.at
	if n > 0 {
		return nil
	}
	return err
}

// Seek goes on from where it is; [tar.Reader] asks for nothing else.
func (s *tarSection) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekCurrent || s.at+offset < s.at {
		return 0, errors.ErrUnsupported
	}
	s.at += offset
	return s.at, nil
}
