package formats

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	iofs "io/fs"
	"strconv"
	"strings"
)

// openTar reads the headers of a tar. If it is cut or damaged, what comes
// before is shown.
func openTar(ctx context.Context, a *archive, src Source) (*memberFS, error) {
	fsys := newMemberFS(src)
	section := io.NewSectionReader(src, 0, src.Size)
	r := tar.NewReader(section)
	var near landmark
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		at, _ := section.Seek(0, io.SeekCurrent) // cannot fail
		if err == nil {
			err = fsys.addTar(a, src, h, near, at)
		}
		if err != nil {
			if len(fsys.members) == 1 {
				return nil, &Error{"tar", at, fmt.Errorf("%w: %w", ErrCorrupt, err)}
			}
			a.log.Warn("archive is damaged; what comes before is shown", "path", src.Name, "offset", at, "err", err)
			break
		}
		near = near.next(h, at)
	}
	fsys.sort()
	return fsys, nil
}

// A landmark is a known place in front of a member: the start of the header
// that stands so many members before its own. How many bytes a sparse member
// takes is known to the reader of the tar alone.
type landmark struct {
	start  int64
	behind int
}

// next returns the landmark of the member behind h, whose data is at at.
func (l landmark) next(h *tar.Header, at int64) landmark {
	if h.Typeflag == tar.TypeReg && !isSparse(h) {
		return landmark{at + (h.Size+511)/512*512, 0}
	}
	return landmark{l.start, l.behind + 1}
}

// addTar adds a member whose data is at at.
func (m *memberFS) addTar(a *archive, src Source, h *tar.Header, near landmark, at int64) error {
	f := member{size: h.Size, modified: h.ModTime}
	switch h.Typeflag {
	case tar.TypeDir:
		f.mode, f.size = iofs.ModeDir, 0
	case tar.TypeSymlink:
		f.mode, f.link, f.size = iofs.ModeSymlink, h.Linkname, 0
	case tar.TypeLink:
		target := m.members[memberPath(h.Linkname)]
		if target == nil || target.mode.IsDir() {
			return nil
		}
		f = *target
	case tar.TypeReg, tar.TypeGNUSparse:
		if isSparse(h) {
			rest := src.Size - near.start
			f.open = a.expand(sparse(near.behind), io.NewSectionReader(src, near.start, rest), rest, h.Size, h.ModTime)
			break
		}
		f.size = max(0, min(h.Size, src.Size-at)) // the last may be cut
		r := io.NewSectionReader(src, at, f.size)
		f.open = func() (io.ReaderAt, error) { return r, nil }
	default:
		return nil
	}
	return m.add(h.Name, f)
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

// sparse makes a member of a tar that stands behind so many others, with its
// holes.
func sparse(behind int) compression {
	return compression{name: "sparse tar", stream: strconv.Itoa(behind), open: func(r io.Reader) (io.Reader, func(bool), error) {
		t := tar.NewReader(r)
		_, err := t.Next()
		for range behind {
			if err == nil {
				_, err = t.Next()
			}
		}
		return t, func(bool) {}, err
	}}
}
