package datafile

import (
	"bytes"
	"context"
	"hash/fnv"
	"image"
	"image/draw"
	"image/png"
	"io"
	iofs "io/fs"
	"strings"
	"sync"

	"recfs/formats"
)

// maxMapres is the greatest number of pixels of an external image.
const maxMapres = 1 << 24

// FindImage returns which of the directories is the first that has the external image of that name,
// as NAME.png, and what it says of that file.
func FindImage(dirs []iofs.FS, name string) (dir int, info iofs.FileInfo, ok bool) {
	if name == "" || strings.ContainsAny(name, `/\`) {
		return 0, nil, false
	}
	for i, fsys := range dirs {
		if info, err := iofs.Stat(fsys, name+".png"); err == nil && info.Mode().IsRegular() {
			return i, info, true
		}
	}
	return 0, nil, false
}

// An externalImage is one that a map names but does not hold.
type externalImage struct {
	name string
	dir  iofs.FS // where it is, nil if it is nowhere
	sum  uint64  // of name and version
}

// externals are the external images of a map by their index. They are looked for once, when the
// first picture that may need one is asked for, so that all pictures of a tree show the same.
type externals struct {
	dirs []iofs.FS

	mu     sync.Mutex
	images map[int32]*externalImage // nil: not looked for yet
}

// all returns the external images, whose names it asks for the first time.
func (e *externals) all(ctx context.Context, name func(*Image) (string, error), list []Image) (map[int32]*externalImage, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.images != nil {
		return e.images, nil
	}
	images := map[int32]*externalImage{}
	for i := range list {
		if o := &list[i]; o.Short || o.External {
			name, err := name(o)
			if err != nil {
				return nil, err
			}
			images[int32(i)] = e.find(ctx, name)
		}
	}
	if err := ctx.Err(); err != nil { // some may be there all the same
		return nil, err
	}
	e.images = images
	return images, nil
}

// find looks for an image.
func (e *externals) find(ctx context.Context, name string) *externalImage {
	x := &externalImage{name: name}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(name))
	var dirs []iofs.FS
	for _, dir := range e.dirs {
		dirs = append(dirs, formats.InContext(ctx, dir))
	}
	if dir, info, ok := FindImage(dirs, name); ok {
		x.dir = e.dirs[dir]
		_, _ = sum.Write(formats.StampOf(info).Append([]byte{0}))
	}
	x.sum = sum.Sum64()
	return x
}

// decode returns the pixels, nil if the image is not there or no picture.
func (x *externalImage) decode(ctx context.Context) *image.NRGBA {
	if x.dir == nil {
		return nil
	}
	f, err := formats.InContext(ctx, x.dir).Open(x.name + ".png")
	if err != nil {
		return nil
	}
	defer f.Close()
	return decodeMapres(f)
}

// decodeMapres reads a PNG file of bounded size.
func decodeMapres(r io.Reader) *image.NRGBA {
	b, err := io.ReadAll(io.LimitReader(r, 4*maxMapres))
	if err != nil {
		return nil
	}
	config, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil || int64(config.Width)*int64(config.Height) > maxMapres {
		return nil
	}
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	if same, ok := m.(*image.NRGBA); ok {
		return same
	}
	out := image.NewNRGBA(m.Bounds())
	draw.Draw(out, out.Rect, m, m.Bounds().Min, draw.Src)
	return out
}
