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
	ctx    context.Context // see [formats.InContext]
	links  links
	dir    string
	below  string // where names count from, below dir
	rights nodes.Rights
}

var _ iofs.SubFS = besideFS{}

// InContext tells [formats.InContext].
func (b besideFS) InContext(ctx context.Context) iofs.FS {
	b.ctx = ctx
	return b
}

// Sub implements io/fs.SubFS.
func (b besideFS) Sub(dir string) (iofs.FS, error) {
	if !validName(dir) {
		return nil, &iofs.PathError{Op: "sub", Path: dir, Err: iofs.ErrInvalid}
	}
	b.below = path.Join(b.below, dir)
	return b, nil
}

// Open implements io/fs.FS.
func (b besideFS) Open(name string) (iofs.File, error) {
	if !validName(name) {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrInvalid}
	}
	rights := b.rights
	at, info, err := b.links.resolve(b.ctx, b.dir, path.Join(b.below, name), func(dir source.Info) { rights = limitedBy(rights, dir) })
	if err != nil {
		return nil, err
	}
	if limited(rights, info.Rights) != b.rights {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrPermission}
	}
	f, err := b.links.tree.Open(b.ctx, at)
	if err != nil {
		return nil, err
	}
	now, err := f.Info(b.ctx)
	if err != nil || !info.SameFile(now) {
		f.Close()
		return nil, cmp.Or(err, source.Stale(at))
	}
	return source.IOFile(b.ctx, name, f, now), nil
}

// validName is iofs.ValidPath without asking for UTF-8.
func validName(name string) bool { return iofs.ValidPath(strings.ToValidUTF8(name, "_")) }
