package formats

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	iofs "io/fs"
	"strings"
)

// openTar reads the headers of a tar. If it is cut or damaged, what comes
// before is shown.
func openTar(ctx context.Context, a *archive, src Source) (*memberFS, error) {
	fsys := newMemberFS(src)
	section := io.NewSectionReader(src, 0, src.Size)
	r := tar.NewReader(section)
	for start := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		at, _ := section.Seek(0, io.SeekCurrent) // cannot fail
		if err == nil {
			err = fsys.addTar(a, src, h, start, at)
		}
		if err != nil {
			if len(fsys.members) == 1 {
				return nil, &Error{"tar", at, fmt.Errorf("%w: %w", ErrCorrupt, err)}
			}
			a.log.Warn("archive is damaged; what comes before is shown", "path", src.Name, "offset", at, "err", err)
			break
		}
		start = at + (h.Size+511)/512*512
	}
	fsys.sort()
	return fsys, nil
}

// addTar adds the member whose header is at start and whose data is at at.
func (m *memberFS) addTar(a *archive, src Source, h *tar.Header, start, at int64) error {
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
			rest := src.Size - start
			f.open = a.expand(sparse, io.NewSectionReader(src, start, rest), rest, h.Size, h.ModTime)
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

// sparse makes the one member of a tar, with its holes.
var sparse = compression{name: "sparse tar", open: func(r io.Reader) (io.Reader, func(bool), error) {
	t := tar.NewReader(r)
	_, err := t.Next()
	return t, func(bool) {}, err
}}
