package datafile

import (
	"context"
	"io"

	"recfs/formats"
)

var _ io.Writer = (*runCounter)(nil)

// checkContent finds what the items and tables alone say about whether a layer's content can be
// shown. It does not look into data items, and does not judge the length of those that are faulty.
func (r *Reader) checkContent(l *Layer, faulty map[int32]bool) error {
	offset := r.Items[l.Item].Offset
	if l.Short {
		return fault("item_short", offset, "layer %d has %d ints, %d are needed", l.Index, r.Items[l.Item].Size/4, l.Need)
	}
	if l.Kind == KindUnknown || l.empty() {
		return nil
	}
	ref := *l.Data
	if err := r.checkRef(ref, offset, "layer "+itoa(l.Index)); err != nil {
		return err
	}
	there, record := r.Data[ref].Size, l.recordSize()
	w, h := l.dimensions()
	if l.Tiles != nil {
		switch {
		case w < 1 || h < 1 || w*h >= 1<<31:
			return fault("layer_size", offset, "layer %d has %dx%d tiles, its data %d bytes", l.Index, w, h, there)
		case w*h*record > r.MaxData:
			return fault("layer_size", offset, "layer %d has %dx%d tiles of %d bytes, the limit is %d bytes", l.Index, w, h, record, r.MaxData)
		case !faulty[ref] && !l.runs() && there < w*h*record:
			return fault("tiles_size", offset, "layer %d has %dx%d tiles of %d bytes, data %d has %d bytes", l.Index, w, h, record, ref, there)
		}
		return nil
	}
	if faulty[ref] || w >= 0 && there >= w*record {
		return nil
	}
	code := "sources_size"
	if l.Kind == KindQuads {
		code = "quads_size"
	}
	return fault(code, offset, "layer %d has %d records of %d bytes, data %d has %d bytes", l.Index, w, record, ref, there)
}

// maxPicture bounds a picture made of one layer. No map of a game comes near.
const maxPicture = 256 << 20

// About what a record takes in JSON.
const (
	tileText = 50
	quadText = 400
)

// recordSize is the length of a tile, quad or sound source.
func (l *Layer) recordSize() int64 {
	switch l.Kind {
	case KindTele, KindTune:
		return 2
	case KindSpeedup:
		return 6
	case KindQuads:
		return quadSize
	case KindSounds:
		return sourceSize
	case KindOldSounds:
		return oldSourceSize
	}
	return 4
}

// dimensions are the width and height of a tile layer that is not short. Other layers are a row of
// records.
func (l *Layer) dimensions() (w, h int64) {
	if l.Tiles == nil {
		return l.count(), 1
	}
	return int64(*l.Tiles.Width), int64(*l.Tiles.Height)
}

// count is the number of quads or sources of such a layer that is not short.
func (l *Layer) count() int64 {
	if l.Quads != nil {
		return int64(*l.Quads.NumQuads)
	}
	return int64(*l.Sounds.NumSources)
}

// runs reports whether the tiles are stored as run lengths. The physics layers of DDNet never are.
func (l *Layer) runs() bool {
	return l.Tiles != nil && *l.Tiles.Version >= tilesRuns && !l.Kind.physics()
}

// empty reports whether l announces no quads or sources, so that its data reference means nothing.
func (l *Layer) empty() bool { return (l.Quads != nil || l.Sounds != nil) && l.count() == 0 }

// layerRecords cuts the content of a layer out of its data item, for a layer that passed
// checkContent. Run lengths are expanded.
func (r *Reader) layerRecords(ctx context.Context, l *Layer, data []byte) ([]byte, error) {
	n := l.tiles().length()
	if !l.runs() {
		return data[:n], nil
	}
	var runs runCounter
	_, _ = runs.Write(data)
	if err := r.checkRuns(l, runs.tiles()); err != nil {
		return nil, err
	}
	records := make([]byte, n)
	_, err := newRunStream(formats.BytesReader(data), int64(len(data))).ReadAt(ctx, records, 0)
	return records, err
}

// checkRuns checks that run lengths of n tiles end exactly with the last tile of a layer.
func (r *Reader) checkRuns(l *Layer, n int64) error {
	w, h := l.dimensions()
	if n == w*h {
		return nil
	}
	return fault("tiles_run_length", r.Items[l.Item].Offset,
		"layer %d has %dx%d tiles, its %d bytes of run lengths make %d", l.Index, w, h, r.Data[*l.Data].Size, max(n, 0))
}

// A runCounter counts the tiles that the run lengths written to it make.
type runCounter struct{ bytes, repeats int64 }

// Write implements io.Writer. The third byte of a tile is how often it is repeated.
func (c *runCounter) Write(p []byte) (int, error) {
	for i := (6 - c.bytes%4) % 4; i < int64(len(p)); i += 4 {
		c.repeats += int64(p[i])
	}
	c.bytes += int64(len(p))
	return len(p), nil
}

// tiles returns how many there are, -1 if the run lengths do not end with a whole one.
func (c *runCounter) tiles() int64 {
	if c.bytes%4 != 0 {
		return -1
	}
	return c.bytes/4 + c.repeats
}
