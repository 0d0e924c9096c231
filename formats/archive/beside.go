package archive

import (
	"cmp"
	"context"
	iofs "io/fs"
	"path"
	"strings"

	"recfs/formats/source"
	"recfs/nodes"
)

// besideFS is the directory of a recording, with all its names, for those who have
// certain rights. It opens files, and follows links to them.
type besideFS struct {
	links  links
	dir    string
	below  string // where names count from, below dir
	rights nodes.Rights
}

var _ iofs.SubFS = besideFS{}

// Sub implements io/fs.SubFS.
func (b besideFS) Sub(dir string) (iofs.FS, error) {
	if !validName(dir) {
		return nil, &iofs.PathError{Op: "sub", Path: dir, Err: iofs.ErrInvalid}
	}
	b.below = path.Join(b.below, dir)
	return b, nil
}

// Open implements io/fs.FS.
func (b besideFS) Open(name string) (iofs.File, error) { return b.OpenIn(context.Background(), name) }

// OpenIn opens a file for one operation, see [formats.InContext].
func (b besideFS) OpenIn(ctx context.Context, name string) (iofs.File, error) {
	if !validName(name) {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrInvalid}
	}
	rights := b.rights
	at, info, err := b.links.resolve(ctx, b.dir, path.Join(b.below, name), func(dir source.Info) { rights = limitedBy(rights, dir) })
	if err != nil {
		return nil, err
	}
	if limited(rights, info.Rights) != b.rights {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrPermission}
	}
	f, err := b.links.tree.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	now, err := f.Info(ctx)
	if err != nil || !info.SameFile(now) {
		f.Close()
		return nil, cmp.Or(err, source.Stale(at))
	}
	return source.IOFile(ctx, name, f, now), nil
}

// validName is iofs.ValidPath without asking for UTF-8.
func validName(name string) bool { return iofs.ValidPath(strings.ToValidUTF8(name, "_")) }
