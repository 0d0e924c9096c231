package container

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"path"
	"strings"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/source"
	"recfs/formats/unpack"
)

// Tar has its headers before the files they are of, all over the file.
var Tar = &Kind{Name: "tar", list: listTar, open: openTarMember}

// listTar reads the headers of a tar. After a damaged one it goes on at the next that is whole.
// What has no whole header at all, but for the root, is no tar: its first problem is the error.
func listTar(ctx context.Context, src formats.Input, w Work) (*Members, error) {
	t := &tarList{builder: newBuilder(src.ModTime, w), in: &tarSection{r: src.At(ctx), size: src.Size}}
	if src.Size == formats.UnknownSize {
		t.in.size = maxTar
	}
	for t.in.at >= 0 {
		err := t.members(ctx)
		if t.in.size == maxTar && ctx.Err() == nil && t.in.failed == nil { // what follows looks at the end
			t.in.size, t.in.failed = src.Length(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case t.in.failed != nil:
			return nil, t.in.failed
		case t.in.size == 0:
			return nil, formats.Errorf("tar", 0, io.ErrUnexpectedEOF, "the file is empty")
		case cache.IsShort(err):
			return nil, err
		case errors.Is(err, errTooManyMembers):
			return nil, &formats.Error{Format: "tar", Offset: t.in.at, Err: err}
		case err == io.EOF:
			t.Unended = t.in.header < 0 || t.in.header >= t.in.size
			err = t.afterEnd(ctx)
		default:
			err = t.skip(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	if t.Len() == 1 && len(t.Problems) > 0 {
		p := t.Problems[0]
		return nil, formats.Corrupt("tar", p.Offset, "%s", p.Message)
	}
	return t.finish(), nil
}

// A tarList is the list of a tar while it is made. in is at where it is read next, at -1 if
// that is done.
type tarList struct {
	*builder
	in       *tarSection
	last     member // the last file
	lastName string
}

// members reads headers up to the end, io.EOF, or to one that makes no sense.
func (t *tarList) members(ctx context.Context) error {
	for r := tar.NewReader(t.in); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.in.header = -1
		h, err := r.Next()
		if err != nil {
			return err
		}
		t.last, t.lastName = member{at: t.in.at, size: h.Size}, h.Name
		t.where = t.in.header
		if err := addTar(t.builder, h, t.in); err != nil {
			return err
		}
	}
}

// afterEnd goes on after the end of the tar, if there is a header where there should be nothing: a
// hole in the file reads like the end, and so does the end of each of several tars written one
// after another.
func (t *tarList) afterEnd(ctx context.Context) error {
	if t.in.header >= 0 {
		at, _, begun, err := t.in.badHeader(ctx, t.in.header)
		if err != nil {
			return err
		}
		if begun || at > t.in.size { // it says more of a member whose own header is not there
			t.cutHeaders()
			return nil
		}
	}
	end := t.in.at
	next, err := t.in.findHeader(ctx, end)
	if next >= 0 && err == nil {
		t.problem(BadHeader, end, "", "there are zeros where a header should be; the next one is at %d", next)
	}
	t.in.at = next
	return err
}

// skip notes why the headers stopped making sense, and goes on at the next one that does. There are
// three ways to stop: inside the content of the last member, which then is cut; after the last
// whole header of a member that has several; or at a block that is no header.
func (t *tarList) skip(ctx context.Context) error {
	if t.in.header < 0 { // what was read last is the content of a member
		if there := t.in.size - t.last.at; there < t.last.size {
			t.problem(Truncated, t.in.size, memberPath(t.lastName), "the tar ends after %d of %d bytes", max(there, 0), t.last.size)
		} else {
			t.problem(Truncated, t.in.size, "", "the tar ends too early")
		}
		t.in.at = -1
		return nil
	}
	at, b, begun, err := t.in.badHeader(ctx, t.in.header)
	if err != nil {
		return err
	}
	if at >= t.in.size { // behind the one that is whole
		t.cutHeaders()
		return nil
	}
	rest := t.in.size - at
	if rest < 2*tarBlock && !begun { // a part of the end is as good as none
		if b, err = t.in.bytes(at, rest); err != nil || len(bytes.Trim(b, "\x00")) == 0 {
			t.in.at, t.Unended = -1, rest < tarBlock
			return err
		}
	}
	if rest < tarBlock {
		t.in.at = -1
		t.problem(Truncated, t.in.size, "", "the tar ends inside a header")
		return nil
	}
	next, err := t.in.resume(ctx, at, b)
	switch {
	case err != nil:
		return err
	case validHeader(b):
		t.problem(BadHeader, at, "", "the header of a member, called about %q, makes no sense", nameIn(b))
	default:
		t.problem(BadHeader, at, "", "the header of a member, called about %q, is damaged", nameIn(b))
	}
	t.in.at = next
	return nil
}

// cutHeaders notes that the tar ends where a header should follow, and is done.
func (t *tarList) cutHeaders() {
	t.in.at = -1
	t.problem(Truncated, t.in.size, "", "the tar ends inside the headers of a member")
}

// addTar adds the member whose header was read. Devices and pipes have no content and are not
// shown, nor is what programs have types of their own for. A type that nobody knows is a file
// (POSIX.1-2017, pax, typeflag).
func addTar(l *builder, h *tar.Header, section *tarSection) error {
	switch h.Typeflag {
	case tar.TypeDir:
		return l.addDir(h.Name, h.ModTime)
	case tar.TypeSymlink:
		return l.addLink(h.Name, h.Linkname, h.ModTime)
	case tar.TypeLink:
		return l.addHardLink(h.Name, h.Linkname)
	case tar.TypeGNUSparse:
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo, tar.TypeXGlobalHeader:
		return nil
	case multiVolume:
		l.problem(Unsupported, l.where, memberPath(h.Name), "it is the rest of a file that begins in another tar")
		return nil
	default:
		if 'A' <= h.Typeflag && h.Typeflag <= 'Z' {
			return nil
		}
	}
	if isSparse(h) {
		if h.Size == 0 { // nobody reads it to find out
			if err := l.hidden(h.Name, section); err != nil {
				return err
			}
		}
		return l.addFile(h.Name, member{kind: sparseMember, at: section.header, size: h.Size}, h.ModTime)
	}
	err := l.addFile(h.Name, member{kind: fileMember, at: section.at, size: h.Size}, h.ModTime)
	return cmp.Or(err, l.addHead(h.Name, h.Size, section))
}

// hidden notes that a sparse file that is said to be empty has stored bytes.
func (l *builder) hidden(name string, s *tarSection) error {
	again := &tarSection{r: s.r, size: s.size, at: s.header}
	r, _, err := sparse.Open(bufio.NewReader(again), 0)
	if err == nil {
		_, err = r.Read(make([]byte, 1))
	}
	if err != nil && err != io.EOF && again.failed == nil {
		l.problem(BadHeader, l.where, memberPath(name), "it has stored bytes, though it should have none")
	}
	s.failed = again.failed
	return again.failed
}

// addHead keeps the first bytes of the file called name, which come next in s, if they will be
// asked for. Nothing is kept of a member that cannot be read: a read of it tells why.
func (l *builder) addHead(name string, size int64, s *tarSection) error {
	n := min(size, formats.NamedSize)
	if l.look == nil || n <= 0 || !l.look(path.Base(name)) || l.headed+int(n) > maxHeads {
		return nil
	}
	b := make([]byte, n)
	if s.peek(b) < len(b) {
		return nil
	}
	if l.heads == nil {
		l.heads = heads{}
	}
	l.heads[s.at] = b
	l.headed += len(b)
	return l.reserve(len(b) + headCost)
}

// openTarMember returns a file in a tar.
func openTarMember(_ context.Context, src formats.Input, k source.FileKey, _ *Members, f member, u *unpack.Unpacker) (Content, error) {
	if f.kind == sparseMember {
		return expand(u, sparse, src, f.at, src.Size-f.at, f.size, k), nil
	}
	return plain(src, f.at, f.size), nil
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

// sparse makes the one member of a tar, with its holes. It must not wait for memory: a request that
// waits for it may hold some at the depth of the tar.
var sparse = unpack.Compression{Name: "sparse tar", Open: func(r *bufio.Reader, _ int64) (io.Reader, func(bool), error) {
	t := tar.NewReader(r)
	_, err := t.Next()
	return t, func(bool) {}, err
}}

// multiVolume is the type of a file that goes on from the volume before (GNU tar manual, "Basic Tar
// Format").
const multiVolume = 'M'

const (
	tarBlock  = 512           // POSIX.1-2017, pax, "ustar Interchange Format": all is in blocks of 512 bytes
	maxTar    = math.MaxInt64 // the size of a tar while it is not known
	tarBuffer = 16 << 10      // headers of small members come with one read
)

// A tarSection reads a tar and notes where the headers of a member begin.
type tarSection struct {
	r      io.ReaderAt
	size   int64
	at     int64
	header int64 // of the first whole block that was read since it was set to -1

	buf    []byte
	bufAt  int64
	failed error // of reading the file
}

// Read reads what comes next. The package tar reads headers in whole blocks and, through Seek,
// skips the rest, so that the first read of a block after header was set to -1 is that of a header.
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

// fill reads the buffer from where the section is. An error of the file itself is kept apart from
// the end of the tar, which the package tar would make the same.
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
	if err != io.EOF {
		s.failed = err
	}
	return err
}

// peek reads what comes next, as far as it is there, and stays where it is.
func (s *tarSection) peek(b []byte) int {
	if from := s.at - s.bufAt; from >= 0 && from+int64(len(b)) <= int64(len(s.buf)) {
		return copy(b, s.buf[from:])
	}
	n, _ := s.r.ReadAt(b, s.at)
	return n
}

// Seek goes on from where it is; [tar.Reader] asks for nothing else.
func (s *tarSection) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekCurrent || s.at+offset < s.at {
		return 0, errors.ErrUnsupported
	}
	s.at += offset
	return s.at, nil
}
