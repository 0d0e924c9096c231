package container

import (
	"cmp"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zip"

	"recfs/formats"
	"recfs/formats/internal/zipfile"
	"recfs/formats/unpack"
	"recfs/nodes"
)

// What can be said of a zip and its files while it is listed.

var errNeighbour = &formats.Reason{Kind: formats.ErrCorrupt, Msg: "a zip begins here of which the end of the file does not tell"}

// neighbour returns that there is another zip in the file, in front of that with the directory or
// behind it, nil if there is none. What else is there, such as a program that unpacks the zip, is
// no part of it.
func neighbour(ctx context.Context, src formats.Input, dir zipfile.Directory) error {
	places := []int64{dir.End}
	if dir.Base > 0 {
		before, err := zipfile.FindDirectory(src.At(ctx), dir.Base)
		if err != nil && !damaged(err) {
			return err
		}
		if err == nil && before.End == dir.Base { // it may hold nothing, and others lie before it
			return &formats.Error{Format: "zip", Offset: before.Base, Err: errNeighbour}
		}
		places = append(places, 0)
		if err == nil { // something may stand between the two
			first, err := zipfile.ReadEntry(io.NewSectionReader(src.At(ctx), before.At, before.Size), before.Base)
			switch {
			case err == nil:
				places = append(places, first.Header)
			case err != io.EOF && !zipfile.IsBadEntry(err):
				return err
			}
		}
	}
	if dir.Count == 0 { // the end may be all that is left of a directory
		f, err := (&zipScan{r: src.At(ctx), size: dir.Base}).file(ctx, 0)
		if err != nil && err != io.EOF {
			return err
		}
		if err == nil && !f.cut {
			places = append(places, f.Header)
		}
	}
	for _, at := range places {
		found, err := begins(src.At(ctx), at, zipfile.LocalMagic)
		if err != nil {
			return err
		}
		if found {
			return &formats.Error{Format: "zip", Offset: at, Err: errNeighbour}
		}
	}
	return nil
}

// begins reports whether what lies at a place begins with magic.
func begins(r io.ReaderAt, at int64, magic string) (bool, error) {
	b := make([]byte, len(magic))
	if _, err := r.ReadAt(b, at); err != nil && err != io.EOF {
		return false, err
	}
	return string(b) == magic, nil
}

var errMoved = &formats.Reason{Kind: formats.ErrCorrupt, Msg: "a file of the directory should begin here"}

// zipPlaces are where the files of a directory should begin, as far as that is in doubt. Files do
// not overlap, so that a wrong place is known by that of the file before or behind it. And the
// beginning of a zip behind something else is reckoned from the end of the file, which is wrong for
// what lies in front of bytes that are missing or too many.
type zipPlaces struct {
	first     []int64
	overlap   []int64
	last, end int64 // of the file before: where it begins, and where it ends at least
}

const (
	// maxOverlap is how many places are looked at. A directory that has more is in another order than
	// the files, or they overlap on purpose.
	maxOverlap = 16

	usualDescriptor = 16 // bytes of one with a signature and sizes of 32 bits
)

func (p *zipPlaces) add(e zipfile.Entry) {
	if p.first == nil {
		p.first = []int64{e.Header}
	} else if e.Header < p.end && len(p.overlap) <= maxOverlap {
		p.overlap = append(p.overlap, p.last, e.Header)
	}
	p.last, p.end = e.Header, e.Header+zipfile.LocalSize+int64(len(e.Name))+int64(e.CompressedSize64)
	if e.Streamed() {
		p.end += usualDescriptor
	}
}

// doubtful returns the places to look at.
func (p *zipPlaces) doubtful(dir zipfile.Directory) (list []int64) {
	if dir.Base > 0 {
		list = p.first
	}
	if len(p.overlap) <= maxOverlap {
		list = append(list, p.overlap...)
	}
	if p.end > dir.At {
		list = append(list, p.last)
	}
	return list
}

// moved returns that no file begins at one of these places, nil if one does at each.
func moved(ctx context.Context, src formats.Input, places []int64) error {
	for _, at := range places {
		if found, err := begins(src.At(ctx), at, zipfile.LocalMagic); err != nil || !found {
			return cmp.Or(err, error(&formats.Error{Format: "zip", Offset: at, Err: errMoved}))
		}
	}
	return nil
}

// judge notes what is wrong with the content of a file as far as its header tells.
func (z *zipList) judge(ctx context.Context, e zipfile.Entry) error {
	if strings.HasSuffix(e.Name, "/") {
		return nil
	}
	if err := readable(e); err != nil {
		z.problem(Unsupported, e.Header, memberPath(e.Name), "%v", err)
		return nil
	}
	wrong := contradiction(e)
	if wrong == nil && e.UncompressedSize64 == 0 && e.Mode().IsRegular() { // nobody reads it to find out
		o, err := storedZip(ctx, z.src, e, false)
		if err != nil && !damaged(err) {
			return err
		}
		if wrong = cmp.Or(err, o.odd); wrong == nil {
			if wrong, err = hidden(ctx, z.src, z.u, e, o); err != nil {
				return err
			}
		}
	}
	if wrong != nil {
		z.problem(BadHeader, e.Header, memberPath(e.Name), "%v", wrong)
	}
	return nil
}

// contradiction returns what cannot all be true of a file.
func contradiction(e zipfile.Entry) error {
	switch {
	case e.Method == zip.Store && e.CompressedSize64 != e.UncompressedSize64:
		return storedOf(int64(e.CompressedSize64), int64(e.UncompressedSize64))
	case e.UncompressedSize64 == 0 && e.CRC32 != 0:
		return wrongChecksum(0, e.CRC32)
	}
	return nil
}

// hidden returns what is wrong with a file that is said to be empty, nil if nothing is.
func hidden(ctx context.Context, src formats.Input, u *unpack.Unpacker, e zipfile.Entry, o storedFile) (wrong, err error) {
	if wrong := contradiction(e); wrong != nil || o.c == nil {
		return wrong, nil
	}
	stored := o.size
	if stored == 0 { // some write nothing for an empty file, and then something else follows that makes no sense
		stored = src.Size - o.at
	}
	_, err = u.First(ctx, *o.c, nodes.SectionContent(src, o.at, stored), stored, make([]byte, 1))
	d, hurt := errors.AsType[*unpack.Damage](err)
	switch {
	case err == io.EOF, hurt && o.size == 0 && d.Err != error(errTooLarge):
		return nil, nil
	case hurt: // which counts from where the file is stored
		return d.Err, nil
	}
	return nil, err
}

// differs returns what the header before a file that can be read says otherwise than its entry in
// the directory, nil if they agree. Some writers have other flags in one of them; of a stream the
// header has neither size nor checksum.
func differs(local, e zipfile.Entry) error {
	switch {
	case !sameName(local, e):
		return formats.Reasonf(formats.ErrCorrupt, "the header before it is that of %q", local.Name)
	case local.Method != e.Method:
		return formats.Reasonf(formats.ErrCorrupt, "it is packed by method %d, the header before it says %d", e.Method, local.Method)
	case local.Encrypted():
		return formats.Reasonf(formats.ErrCorrupt, "the header before it says that it is encrypted")
	case local.Streamed():
		return nil
	case local.UncompressedSize64 != e.UncompressedSize64, local.CompressedSize64 != e.CompressedSize64:
		return formats.Reasonf(formats.ErrCorrupt, "it has %d bytes in %d stored ones, the header before it says %d in %d",
			e.UncompressedSize64, e.CompressedSize64, local.UncompressedSize64, local.CompressedSize64)
	case local.CRC32 != e.CRC32:
		return formats.Reasonf(formats.ErrCorrupt, "its checksum is %08x, the header before it says %08x", e.CRC32, local.CRC32)
	}
	return nil
}

// sameName reports whether the names of two entries are one. Some writers have other slashes in one
// of them, and PKZIP 2.50 for Windows the code page of Windows in the header, that of DOS in the
// directory.
func sameName(a, b zipfile.Entry) bool {
	if a.Name == b.Name {
		return true
	}
	if len(a.Name) != len(b.Name) {
		return false
	}
	coded := !a.UTF8() && !b.UTF8()
	for i := range len(a.Name) {
		x, y := a.Name[i], b.Name[i]
		if x != y && !(isSlash(x) && isSlash(y)) && !(coded && min(x, y) >= utf8.RuneSelf) {
			return false
		}
	}
	return true
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }

// storedOf says that a stored file has another size than it should.
func storedOf(stored, size int64) error {
	return formats.Reasonf(formats.ErrCorrupt, "it has %d stored bytes, of %d", stored, size)
}

// link returns the target of a symbolic link, which is its content. It is "" for one that is
// damaged, which is noted, or cannot be unpacked.
func (z *zipList) link(ctx context.Context, e zipfile.Entry) (string, error) {
	b := make([]byte, min(e.UncompressedSize64, maxMemberPath)+1)
	n, err := z.first(ctx, e, b)
	d, hurt := errors.AsType[*unpack.Damage](err)
	switch {
	case err == io.EOF && n == len(b)-1, n == len(b) && e.UncompressedSize64 > maxMemberPath:
		return string(b[:min(n, maxMemberPath)]), nil
	case errors.Is(err, errors.ErrUnsupported) && readable(e) != nil: // as was noted
		return "", nil
	case err == nil || err == io.EOF:
		err = storedOf(int64(n), int64(e.UncompressedSize64))
	case hurt: // which counts from where the link is stored
		err = d.Err
	case !damaged(err):
		return "", err
	}
	z.problem(unpack.BadCompression, e.Header, memberPath(e.Name), "%v", err)
	return "", nil
}

// first fills b with the first bytes of a file. The error is io.EOF only if the whole file is
// right.
func (z *zipList) first(ctx context.Context, e zipfile.Entry, b []byte) (int, error) {
	o, err := storedZip(ctx, z.src, e, false)
	if err != nil {
		return 0, err
	}
	if o.odd != nil {
		z.problem(BadHeader, e.Header, memberPath(e.Name), "%v", o.odd)
	}
	stored := nodes.SectionContent(z.src, o.at, o.size)
	if o.c != nil {
		return z.u.First(ctx, *o.c, stored, o.size, b)
	}
	n, err := stored.ReadAt(ctx, b, 0)
	if crc := crc32.ChecksumIEEE(b[:n]); err == io.EOF && crc != e.CRC32 {
		err = wrongChecksum(crc, e.CRC32)
	}
	return n, err
}

// damaged reports whether an error says that bytes make no sense, and not that they could not be
// read.
func damaged(err error) bool {
	return errors.Is(err, formats.ErrCorrupt) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, io.ErrUnexpectedEOF)
}
