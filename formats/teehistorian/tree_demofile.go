package teehistorian

import (
	"context"
	"io"
	"sync/atomic"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/nodes"
)

// A demoFile is a demo.
type demoFile struct {
	t  *tree
	id demoID
}

// Size implements nodes.File. It renders the demo, but for that of a run whose size is kept on
// disk.
func (f demoFile) Size(ctx context.Context) (int64, error) {
	if f.id.run == noRun {
		return f.render(ctx)
	}
	sizes, err := f.t.runSizes.Get(ctx, struct{}{})
	if err != nil {
		return 0, err
	}
	if n := sizes.get(f.id.run); n > 0 {
		return n, nil
	}
	n, err := f.render(ctx)
	if err == nil {
		sizes.set(f.id.run, n, func() { f.t.runSizes.Save(ctx, struct{}{}, sizes) })
	}
	return n, err
}

// render makes all of the demo, and returns its size.
func (f demoFile) render(ctx context.Context) (int64, error) {
	ends, err := f.t.demoEnds.Get(ctx, f.id)
	if err != nil {
		return 0, err
	}
	return ends[len(ends)-1], nil
}

// IsMeasured implements nodes.Measured.
func (f demoFile) IsMeasured(ctx context.Context) bool {
	sizes, err := f.t.runSizes.Get(ctx, struct{}{})
	return err == nil && f.id.run != noRun && sizes.get(f.id.run) > 0
}

// Open implements nodes.File.
func (f demoFile) Open(ctx context.Context) (nodes.Content, error) {
	size, err := f.Size(ctx)
	return &demoContent{file: f, size: size}, err
}

// beginning is how many pieces of a demo are made one by one for a read near its beginning, such as
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
	if off >= c.size {
		return 0, io.EOF
	}
	want := b[:min(int64(len(b)), c.size-max(off, 0))]
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
	f, list := c.file, c.file.id.spans()
	piece := func(ctx context.Context, i int) ([]byte, error) {
		if i == 0 {
			return f.head(ctx)
		}
		return f.t.demoBlocks.Get(ctx, f.id.key(list[i-1]))
	}
	p := nodes.NewPieces(piece)
	if _, ok := f.t.demoEnds.Peek(f.id); !ok {
		for i := 0; i < min(beginning, len(list)+1) && p.Size() < end; i++ {
			b, err := piece(ctx, i)
			if err != nil {
				return nil, err
			}
			p.Add(int64(len(b)))
		}
		if p.Size() >= end {
			return p, nil
		}
		p = nodes.NewPieces(piece)
	}
	ends, err := f.t.demoEnds.Get(ctx, f.id)
	if err != nil {
		return nil, err
	}
	for _, end := range ends {
		p.Add(end - p.Size())
	}
	if p.Size() != c.size {
		return nil, nodes.SizeError(c.size, p.Size())
	}
	c.all.Store(p)
	return p, nil
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

// loadRunSizes returns the sizes of a recording of whose demos none was made.
func (t *tree) loadRunSizes(ctx context.Context, _ struct{}) (*runSizes, int64, error) {
	_, d, err := t.runs(ctx)
	if err != nil {
		return nil, 0, err
	}
	seal, err := t.Seal(ctx)
	return &runSizes{seal: seal, list: make([]int64, len(d.runs))}, int64(8*len(d.runs)) + 128, err
}

// resumeRunSizes takes saved sizes if they are of this version of the recording.
func (t *tree) resumeRunSizes(ctx context.Context, _ struct{}, saved []byte) (*runSizes, int64, error) {
	r, was := indexfile.Open(name, saved)
	var list []int64
	codeRunSizes(indexfile.Codec{R: r}, &list)
	if err := r.Close(); err != nil {
		return nil, 0, err
	}
	s, cost, err := t.loadRunSizes(ctx, struct{}{})
	if err == nil && (was.Length != s.seal.Length || was.Sum != s.seal.Sum || len(list) != len(s.list)) {
		err = formats.ErrOther
	}
	if err != nil {
		return nil, 0, err
	}
	s.list = list
	for _, n := range list {
		if n > 0 {
			s.known++
		}
	}
	s.saved = s.known
	return s, cost, nil
}
