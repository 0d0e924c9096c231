package datafile

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"sync"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/views"
	"recfs/nodes"
)

var _ nodes.Measured = pictureFile{}

// pictures are drawn from the layers of a map (docs/tree/datafile.md section 9).
type pictures struct {
	*tree
	mapres   []formats.Folder // where external images may lie
	drawings *views.Kept[picture, drawing]

	looking   sync.Mutex
	externals map[int32]*externalImage // nil: not looked for yet
}

// A picture is one that is drawn: that of the layer with this index, or one of these.
type picture int

const (
	collisionPicture picture = -1
	previewPicture   picture = -2
)

// A drawing is the PNG file of a picture.
type drawing struct {
	external uint64 // what tells apart the external images that it was drawn with
	file     []byte
}

func newPictures(t *tree, mapres []formats.Folder) *pictures {
	p := &pictures{tree: t, mapres: mapres}
	p.drawings = views.NewKept(formatName, t.Recording, t.cache, views.Kept[picture, drawing]{
		Name: p.drawingName, Code: codeDrawing, Cost: drawing.cost, Check: p.check,
	})
	return p
}

// pictureVersion is raised when a picture of the same bytes would be another one.
const pictureVersion = 3

// drawingName names the limit of data items, too: a layer with a greater one is left out.
func (p *pictures) drawingName(id picture) string {
	return fmt.Sprintf("picture%d-%d-%d", pictureVersion, id, p.r.MaxData)
}

func (d drawing) cost() int64 { return int64(cap(d.file)) + 16 }

// codeDrawing is the layout of a drawing on disk.
//
//	| external varint | file blob |
func codeDrawing(c indexfile.Codec, d *drawing) {
	indexfile.Uint(c, &d.external, math.MaxUint64)
	c.Values(&d.file)
}

// check refuses a kept picture that was drawn with other external images.
func (p *pictures) check(ctx context.Context, id picture, d drawing) error {
	external, err := p.externalSum(ctx, id)
	if err == nil && (d.external != external || !bytes.HasPrefix(d.file, []byte(pngSignature))) {
		err = formats.ErrOther
	}
	return err
}

// A pictureFile is the PNG file of a picture, which is drawn to learn its size, too.
type pictureFile struct {
	nodes.File
	*pictures
	id picture
}

// IsMeasured implements nodes.Measured.
func (f pictureFile) IsMeasured(ctx context.Context) bool { return f.drawings.Knows(ctx, f.id) }

// file returns the PNG file of a picture of a layer, or of the size of the game layer.
func (p *pictures) file(id picture, l *Layer) nodes.File {
	if err := p.r.checkContent(l, nil); err != nil {
		return nodes.Failing(err)
	}
	scale, perPixel := int64(p.scale(l)), int64(1)
	switch {
	case id == collisionPicture:
		scale = 1
	case id == previewPicture:
		perPixel = bytesPerPixel
	case l.Kind == KindTiles:
		perPixel = rgbaPixel
	}
	w, h := l.dimensions()
	if size := w * h * scale * scale * perPixel; size > maxPicture {
		return nodes.Failing(fault("layer_size", p.r.Items[l.Item].Offset, "layer %d takes %d bytes to draw, the limit is %d", l.Index, size, maxPicture))
	}
	return pictureFile{p.tree.file("pictures", int(id), func(ctx context.Context) ([]byte, error) {
		d, err := p.drawings.Get(ctx, id, func(ctx context.Context) (drawing, error) { return p.load(ctx, id) })
		return d.file, err
	}), p, id}
}

// scale is how many pixels wide a tile of a layer that passed checkContent is drawn: as wide as in
// the preview, if there is one.
func (p *pictures) scale(l *Layer) int {
	if game := p.m.Game; game != nil && p.r.checkContent(game, nil) == nil {
		l = game
	}
	return int(previewScale(l.dimensions()))
}
