package teehistorian

import (
	"context"
	"io"
	"sync/atomic"

	"recfs/formats"
	"recfs/nodes"
)

// A demoFile is a demo.
type demoFile struct {
	t  *tree
	id demoID
}

// Size implements nodes.File. It renders the demo.
func (f demoFile) Size(ctx context.Context) (int64, error) {
	ends, err := f.t.demoEnds.Get(ctx, f.id)
	if err != nil {
		return 0, err
	}
	return ends[len(ends)-1], nil
}

// Open implements nodes.File.
func (f demoFile) Open(ctx context.Context) (nodes.Content, error) {
	size, err := f.Size(ctx)
	return &demoContent{file: f, size: size}, err
}

// A runFile is the demo of a run, whose size is kept on disk.
type runFile struct{ demoFile }

// Size implements nodes.File.
func (f runFile) Size(ctx context.Context) (int64, error) {
	sizes, err := f.t.runSizes.Get(ctx, struct{}{})
	if err != nil {
		return 0, err
	}
	if n := sizes.get(f.id.run); n > 0 {
		return n, nil
	}
	n, err := f.demoFile.Size(ctx)
	if err == nil && sizes.set(f.id.run, n) {
		sizes.mu.Lock()
		defer sizes.mu.Unlock()
		f.t.runSizes.Save(struct{}{}, sizes)
	}
	return n, err
}

// IsMeasured implements nodes.Measured.
func (f runFile) IsMeasured(ctx context.Context) bool {
	sizes, err := f.t.runSizes.Get(ctx, struct{}{})
	return err == nil && sizes.get(f.id.run) > 0
}

// Open implements nodes.File.
func (f runFile) Open(ctx context.Context) (nodes.Content, error) {
	size, err := f.Size(ctx)
	return &demoContent{file: f.demoFile, size: size}, err
}

// beginning is how many blocks of a demo are made one by one for a read near its beginning, such as
// that of the header, which the client reads of every demo that it lists.
const beginning = 16

// A demoContent is the content of a demo.
type demoContent struct {
	file demoFile
	size int64
	all  atomic.Pointer[nodes.Pieces]
}

// Size implements nodes.Content.
func (c *demoContent) Size() int64 { return c.size }

// ReadAt implements nodes.ReaderAt.
func (c *demoContent) ReadAt(ctx context.Context, b []byte, off int64) (int, error) {
	want := b[:max(min(int64(len(b)), c.size-off), 0)]
	if off < 0 || len(want) == 0 {
		return nodes.BytesContent(nil).ReadAt(ctx, b, off)
	}
	p, err := c.pieces(ctx, off+int64(len(want)))
	if err != nil {
		return 0, err
	}
	n, err := p.ReadAt(ctx, want, off)
	if err == nil && n < len(b) {
		err = io.EOF
	}
	return n, err
}

// pieces returns all pieces, or at least those before end, which is in the file.
func (c *demoContent) pieces(ctx context.Context, end int64) (*nodes.Pieces, error) {
	if p := c.all.Load(); p != nil {
		return p, nil
	}
	f := c.file
	ends, ok := f.t.demoEnds.Peek(f.id)
	if !ok {
		p, err := f.beginning(ctx, end)
		if err == nil && p != nil && p.Size() < end {
			err = nodes.SizeError(c.size, p.Size())
		}
		if p != nil || err != nil {
			return p, err
		}
		if ends, err = f.t.demoEnds.Get(ctx, f.id); err != nil {
			return nil, err
		}
	}
	p := f.noPieces()
	last := int64(0)
	for _, end := range ends {
		p.Add(end - last)
		last = end
	}
	if last != c.size {
		return nil, nodes.SizeError(c.size, last)
	}
	c.all.Store(p)
	return p, nil
}

// beginning returns the pieces before end, or nil if they are too many.
func (f demoFile) beginning(ctx context.Context, end int64) (*nodes.Pieces, error) {
	p := f.noPieces()
	head, err := f.head(ctx)
	if err != nil {
		return nil, err
	}
	p.Add(int64(len(head)))
	for i, part := range f.id.spans() {
		if p.Size() >= end {
			break
		}
		if i == beginning {
			return nil, nil
		}
		b, err := f.t.demoBlocks.Get(ctx, f.id.key(part))
		if err != nil {
			return nil, err
		}
		p.Add(int64(len(b)))
	}
	return p, nil
}

// noPieces returns the pieces of the demo, to which their sizes must be added: the header and the
// blocks.
func (f demoFile) noPieces() *nodes.Pieces {
	list := f.id.spans()
	return nodes.NewPieces(func(ctx context.Context, i int) ([]byte, error) {
		if i == 0 {
			return f.head(ctx)
		}
		return f.t.demoBlocks.Get(ctx, f.id.key(list[i-1]))
	})
}

// head returns the header, for which the index is enough.
func (f demoFile) head(ctx context.Context) ([]byte, error) {
	_, d, err := f.t.runs(ctx)
	if err != nil {
		return nil, err
	}
	id := f.id
	var markers []int32
	if id.run == noRun {
		markers = markersIn(d.finishes, id.first, id.last)
	} else {
		markers = []int32{d.runs[id.run].tick}
	}
	return f.t.header.demoHeader(id.first, id.last, id.follow != noStay, markers).Append(nil), nil
}

// sealed returns the number of runs and the seal of the index.
func (t *tree) sealed(ctx context.Context) (runs int, seal formats.Seal, err error) {
	_, d, err := t.runs(ctx)
	if err != nil {
		return 0, formats.Seal{}, err
	}
	seal, err = t.Seal(ctx)
	return len(d.runs), seal, err
}

// loadRunSizes returns the sizes of a recording of whose demos none was made.
func (t *tree) loadRunSizes(ctx context.Context, _ struct{}) (*runSizes, int64, error) {
	runs, seal, err := t.sealed(ctx)
	if err != nil {
		return nil, 0, err
	}
	s := newRunSizes(seal, runs)
	return s, s.memory(), nil
}

// resumeRunSizes takes saved sizes if they are of this version of the recording.
func (t *tree) resumeRunSizes(ctx context.Context, _ struct{}, saved []byte) (*runSizes, int64, error) {
	runs, seal, err := t.sealed(ctx)
	if err != nil {
		return nil, 0, err
	}
	s, err := decodeRunSizes(saved, seal, runs)
	if err != nil {
		return nil, 0, err
	}
	return s, s.memory(), nil
}
