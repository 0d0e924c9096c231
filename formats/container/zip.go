package container

import (
	"bufio"
	"cmp"
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
	"recfs/formats/internal/zipfile"
	"recfs/formats/source"
	"recfs/formats/unpack"
	"recfs/nodes"
)

// Zip has a directory at its end.
var Zip = &Kind{Name: "zip", list: listZip, open: openZipMember}

// listZip reads the directory of a zip. Where that is damaged or missing, files
// are found by the headers before them: each has most of what the directory says,
// but for what is a link and, if the zip was written as a stream, the sizes.
func listZip(ctx context.Context, src formats.Input, w Work) (*Members, error) {
	z := &zipList{builder: newBuilder(src.ModTime, w), src: src, u: w.Unpack}
	dir, err := zipfile.FindDirectory(src.At(ctx), src.Size)
	if errors.Is(err, formats.ErrCorrupt) {
		return z.recover(ctx, w, zipfile.Directory{}, src.Size, err)
	}
	if err != nil {
		return nil, err
	}
	z.base = dir.Base
	at, n := dir.At, uint64(0)
	var places zipPlaces
	err = entries(ctx, src, dir, func(e zipfile.Entry, where int64) error {
		places.add(e)
		at, n = where+e.Length, n+1
		return z.add(ctx, e, where)
	})
	if err == nil && n == dir.Count {
		if err = cmp.Or(neighbour(ctx, src, dir), moved(ctx, src, places.doubtful(dir))); err == nil {
			return z.finish(), nil
		}
	}
	switch {
	case errors.Is(err, errMoved):
		z.doubt = true
	case errors.Is(err, errNeighbour): // the directory is that of a part, or lies about where it begins
		dir = zipfile.Directory{}
	case err == nil && n > dir.Count: // some programs write the low 16 bits of a greater number, so this may not be all
		err = formats.Reasonf(formats.ErrCorrupt, "the directory has %d files, its end counts %d", n, dir.Count)
	case err == nil:
		err = formats.Reasonf(io.ErrUnexpectedEOF, "%d files are missing in the directory", dir.Count-n)
	case errors.Is(err, errTooManyMembers):
		return nil, &formats.Error{Format: "zip", Offset: at, Err: err}
	case !zipfile.IsBadEntry(err):
		return nil, err
	default:
		dir.Size, z.doubt = at-dir.At, true // the last of these may be wrong
	}
	return z.recover(ctx, w, dir, at, err)
}

// A zipList is the list of a zip while it is made.
type zipList struct {
	*builder
	src   formats.Input
	u     *unpack.Unpacker
	doubt bool // entries of the directory count only if the header of the file agrees
}

// entries calls each for the entries of a directory and where they lie, until one makes no sense.
func entries(ctx context.Context, src formats.Input, dir zipfile.Directory, each func(zipfile.Entry, int64) error) error {
	in := bufio.NewReaderSize(io.NewSectionReader(src.At(ctx), dir.At, dir.Size), zipBuffer)
	for at := dir.At; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		e, err := zipfile.ReadEntry(in, dir.Base)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = each(e, at)
		}
		if err != nil {
			return err
		}
		at += e.Length
	}
}

// recover lists a zip with a directory that is damaged or, if its size is 0, missing: the files
// whose headers are found, and those that the directory has. at is where it is damaged.
func (z *zipList) recover(ctx context.Context, w Work, dir zipfile.Directory, at int64, reason error) (*Members, error) {
	base := z.base
	z.builder = newBuilder(z.src.ModTime, w)
	z.base = base
	var e *formats.Error
	if errors.As(reason, &e) {
		at, reason = e.Offset, e.Err
	}
	z.problem(BadDirectory, at, "", "%v", reason)
	// Three passes: the entries of the directory tell where files lie that need not be looked for; the
	// scan adds the others, in the gaps; and last come the entries themselves, since of two files at
	// one path the later counts, and an entry knows more than a header.
	known := map[int64]int64{} // where the files of the directory begin and end
	err := entries(ctx, z.src, dir, func(e zipfile.Entry, _ int64) error {
		local, err := zipfile.ReadLocal(z.src.At(ctx), e.Header)
		switch {
		case err == nil && (!z.doubt || local.Name == e.Name):
			known[e.Header] = e.Header + local.Length + int64(e.CompressedSize64)
		case !z.doubt:
			known[e.Header] = e.Header + 1
		}
		return z.reserve(knownCost)
	})
	if err == nil {
		err = z.scan(ctx, known)
	}
	if err == nil {
		err = entries(ctx, z.src, dir, func(e zipfile.Entry, where int64) error {
			if _, ok := known[e.Header]; !ok {
				return nil
			}
			return z.add(ctx, e, where)
		})
	}
	switch {
	case err != nil:
		return nil, err
	case z.Len() == 1:
		return nil, &formats.Error{Format: "zip", Offset: at, Err: reason}
	}
	return z.finish(), nil
}

// knownCost is about what it takes to know where a file lies.
const knownCost = 48

// scan adds the files that are not known.
func (z *zipList) scan(ctx context.Context, known map[int64]int64) error {
	s := &zipScan{r: z.src.At(ctx), size: z.src.Size}
	for at := int64(0); ; {
		f, err := s.file(ctx, at)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if end, ok := known[f.Header]; ok {
			at = max(end, f.Header+1)
			continue
		}
		if f.cut {
			z.problem(Truncated, f.end(), memberPath(f.Name), "the end of the file was not found")
		}
		if err := z.addFound(ctx, f); err != nil {
			return err
		}
		if at, err = s.after(&f); err != nil {
			return err
		}
	}
}

// addFound adds a file that was found by its header, which does not tell what is a link.
func (z *zipList) addFound(ctx context.Context, f localFile) error {
	modified := f.Modified
	if modified.IsZero() {
		modified = z.src.ModTime
	}
	if !f.cut || readable(f.Entry) != nil {
		if err := z.judge(ctx, f.Entry); err != nil {
			return err
		}
	}
	z.where = f.Header
	switch {
	case strings.HasSuffix(f.Name, "/"):
		return z.addDir(f.Name, modified)
	case f.cut && f.UncompressedSize64 == 0: // none would know that something is missing
		return nil
	}
	return z.addFile(f.Name, member{kind: foundMember, at: f.Header, size: int64(f.UncompressedSize64)}, modified)
}

// add adds the member whose entry is at at.
func (z *zipList) add(ctx context.Context, e zipfile.Entry, at int64) error {
	modified := e.Modified
	if modified.IsZero() {
		modified = z.src.ModTime
	}
	if err := z.judge(ctx, e); err != nil {
		return err
	}
	z.where = at
	switch typ := e.Mode().Type(); {
	case strings.HasSuffix(e.Name, "/"), typ == iofs.ModeDir:
		return z.addDir(e.Name, modified)
	case typ == iofs.ModeSymlink:
		target, err := z.link(ctx, e)
		if err != nil {
			return err
		}
		return z.addLink(e.Name, target, modified)
	case typ == 0, e.UncompressedSize64 > 0: // a fifo with bytes is what was read from it, as by `zip out.zip -`
		return z.addFile(e.Name, member{kind: fileMember, at: at, size: int64(e.UncompressedSize64)}, modified)
	}
	return nil
}

// openZipMember returns a file in a zip.
func openZipMember(ctx context.Context, src formats.Input, k source.FileKey, m *Members, f member, u *unpack.Unpacker) (Content, error) {
	z, err := entryOf(ctx, src, m, f)
	if err != nil {
		return Content{}, &formats.Error{Format: "zip", Offset: f.at, Err: err}
	}
	o, err := storedZip(ctx, src, z.Entry, z.cut)
	switch {
	case err != nil && damaged(err):
		return absent(f.size, err), nil
	case err != nil:
		return Content{}, err
	case f.size == 0 && !z.cut:
		if wrong, err := hidden(ctx, src, u, z.Entry, o); wrong != nil || err != nil {
			return absent(0, wrong), err
		}
		return plain(src, o.at, 0).told(o.odd), nil
	case o.c != nil:
		return expand(u, *o.c, src, o.at, o.size, f.size, k).told(o.odd), nil
	}
	content := plain(src, o.at, f.size)
	switch {
	case z.cut:
		return content.hurt(&unpack.Damage{Size: content.there, Err: errCut}), nil
	case o.size < content.there: // than the directory says
		content = plain(src, o.at, o.size).hurt(&unpack.Damage{Stored: o.at + o.size, Size: o.size, Err: storedOf(o.size, f.size)})
		content.size = f.size
		return content, nil
	case content.there < f.size:
		return content, nil
	}
	return content.checked(nodes.SectionContent(src, o.at, content.there), o.sums).told(o.odd), nil
}

// entryOf returns what the directory says of a file, or the header that it was found by.
func entryOf(ctx context.Context, src formats.Input, m *Members, f member) (z localFile, err error) {
	if f.kind != foundMember {
		z.Entry, err = zipfile.ReadEntry(io.NewSectionReader(src.At(ctx), f.at, src.Size-f.at), m.base)
		return z, err
	}
	// Only a file of unknown length is cut here. Of another one the header tells the size, and what is
	// missing of it is told like that of any file.
	z, err = (&zipScan{r: src.At(ctx), size: src.Size}).at(ctx, f.at)
	z.cut = z.cut && z.Streamed()
	return z, err
}

var errCut = &formats.Reason{Kind: io.ErrUnexpectedEOF, Msg: "the end of the file was not found"}

// zipBuffer is how much of the directory is read at once: about 1,000 entries.
const zipBuffer = 128 << 10

// zipMethods are the ways to compress a member (APPNOTE.TXT 4.4.5); what is not here is named by
// its number in a problem.
var zipMethods = map[uint16]unpack.Compression{
	zip.Deflate: unpack.Deflate,
	12:          unpack.Bzip2,
	93:          unpack.Zstd,
	95:          unpack.XZ,
}

// readable returns why the content of a file cannot be read, nil if it can.
func readable(z zipfile.Entry) error {
	switch _, known := zipMethods[z.Method]; {
	case z.Encrypted():
		return errEncrypted
	case !known && z.Method != zip.Store:
		return unknownMethod(z.Method)
	}
	return nil
}

// A storedFile is where the stored bytes of a file of a zip lie, as far as they are there.
type storedFile struct {
	c        *unpack.Compression // how they are compressed; nil: not at all
	at, size int64
	odd      error // what the header before them says otherwise than the directory; nil: nothing
	sums     zipSums
}

// storedZip returns where the content of a file lies. Of a file that is cut no checksum is known.
func storedZip(ctx context.Context, src formats.Input, z zipfile.Entry, cut bool) (o storedFile, err error) {
	if err := readable(z); err != nil {
		return o, err
	}
	local, err := zipfile.ReadLocal(src.At(ctx), z.Header)
	if err != nil && (local.Length == 0 || !damaged(err)) {
		return o, err
	}
	o.odd = cmp.Or(err, differs(local, z))
	o.sums = zipSums{z.CRC32, z.CRC32}
	if err == nil && !local.Streamed() && sameName(local, z) {
		o.sums[1] = local.CRC32
	}
	o.at = z.Header + local.Length
	o.size = int64(min(z.CompressedSize64, uint64(max(src.Size-o.at, 0))))
	if z.Method == zip.Store {
		return o, nil
	}
	method := zipMethods[z.Method]
	checked := method
	checked.Stream = fmt.Sprintf("%d %08x", z.UncompressedSize64, z.CRC32)
	checked.Open = func(in *bufio.Reader, window int64) (io.Reader, func(bool), error) {
		out, done, err := method.Open(in, window)
		return &checkedReader{out, crc32.NewIEEE(), o.sums, int64(z.UncompressedSize64), cut}, done, err
	}
	o.c = &checked
	return o, nil
}

var errEncrypted = &formats.Reason{Kind: errors.ErrUnsupported, Msg: "it is encrypted"}

func unknownMethod(method uint16) error {
	return formats.Reasonf(errors.ErrUnsupported, "it is packed by the unknown method %d", method)
}

// A checkedReader compares what it read with a checksum and a size at the end.
type checkedReader struct {
	r    io.Reader
	hash hash.Hash32
	sums zipSums
	rest int64 // of the size
	cut  bool  // neither checksum nor size are known
}

// Read asks for one byte more than there should be, which shows whether there are too many.
func (c *checkedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p[:min(int64(len(p)), c.rest+1)])
	if int64(n) > c.rest {
		n, err = int(c.rest), errTooLarge
	}
	c.rest -= int64(n)
	c.hash.Write(p[:n])
	switch {
	case err != io.EOF:
	case c.cut:
		err = errCut
	case c.rest > 0:
		err = formats.Reasonf(formats.ErrCorrupt, "there are %d bytes fewer than the container says", c.rest)
	case !c.sums.have(c.hash.Sum32()):
		err = wrongChecksum(c.hash.Sum32(), c.sums[0])
	}
	return n, err
}

var errTooLarge = &formats.Reason{Kind: formats.ErrCorrupt, Msg: "there are more bytes than the container says"}
