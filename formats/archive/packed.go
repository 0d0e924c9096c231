package archive

import (
	"context"
	"errors"
	"io"
	"strings"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/container"
	"recfs/formats/recordings"
	"recfs/formats/source"
	"recfs/formats/unpack"
	"recfs/nodes"
)

// What a recording under outer compression decompresses to, and one in a
// container, is opened when it is read first: with a head and an index on disk
// its tree does without.

// wrapped reports whether something around the bytes of a recording may be
// damaged: a compressed stream or a container.
func (a *Archive) wrapped(k recordingKey) bool {
	return k.packed || a.container != nil && !k.isDir()
}

// input opens a recording or container. The second result watches the reads of
// it.
func (a *Archive) input(ctx context.Context, k recordingKey, how unpack.Choice) (*plainInput, *readErrors) {
	src, reads := a.source(k)
	u := &plainInput{src: src}
	switch {
	case k.packed:
		u.err = a.decompress(ctx, k, how, u, reads)
	case a.wrapped(k):
		u.err = a.member(ctx, k, how, u, reads)
	}
	return u, reads
}

// content returns what a container holds as a recording.
func (a *Archive) content(ctx context.Context, k recordingKey, w *readErrors) (container.Content, error) {
	c, err := a.container.Content(ctx, k.path)
	w.note(err)
	return c, err
}

// member completes the Input of a recording in a container: of one that is
// damaged it has the bytes that there are, like that of a damaged stream, while
// raw is an error from the damage on.
func (a *Archive) member(ctx context.Context, k recordingKey, how unpack.Choice, u *plainInput, w *readErrors) error {
	c, err := a.content(ctx, k, w)
	if err != nil {
		return err
	}
	opened, err := c.Open(ctx, how.Streams)
	u.src.Raw = u.src.ReaderAt
	opened.ReaderAt = c
	u.take(opened, w)
	if err == nil && opened.Size == 0 {
		if d, failed := opened.Damage(ctx); d != nil { // it says all
			u.hurt = nil
			return d
		} else if failed != nil {
			return failed
		}
	}
	if k.format == noFormat { // what it holds is looked at without reading it all
		u.hurt = c.Short
	}
	return err
}

// decompress completes the Input of what is compressed.
func (a *Archive) decompress(ctx context.Context, k recordingKey, how unpack.Choice, u *plainInput, w *readErrors) error {
	file := source.FileKey{Path: k.path, Version: k.v}
	raw := watchedReader{source.NewReader(a.openFiles, file), w}
	u.src.Raw = raw
	how.Content = u.src.Content
	c, err := a.unpack.Open(ctx, file, raw, how)
	if failed, ok := errors.AsType[*unpack.ReadError](err); ok {
		w.note(failed.Err)
	}
	u.take(c, w)
	return err
}

// packedCost is what an opened stream counts for in the cache. It may hold a file open, and a
// process has some thousand of these: a cache of 32 MiB has at most 128 of these.
const packedCost = 256 << 10

// take makes c, as far as it was opened, the bytes.
func (u *plainInput) take(c unpack.Content, w *readErrors) {
	u.hurt = c.Damage
	if c.ReaderAt == nil {
		return
	}
	u.src.ReaderAt, u.src.Size, u.src.Measure = watchedReader{c.ReaderAt, w}, c.Size, c.Measure
}

// loadUnpacked opens a compressed recording. The error is only for what may be better next time:
// that the bytes are refused is a value like others, so that they are not decompressed again for
// each caller.
func (a *Archive) loadUnpacked(ctx context.Context, k recordingKey) (*plainInput, int64, error) {
	u, reads := a.input(ctx, k, unpack.Choice{Streams: a.list[k.format].Streams})
	switch {
	case u.err == nil:
	case ctx.Err() != nil || notSaved(u.err):
		return nil, 0, u.err
	case reads.failure() != nil:
		return nil, 0, reads.failure()
	case !refused(u.err): // another reader of the same stream failed
		return nil, 0, u.err
	}
	if !k.packed {
		return u, openCost, nil
	}
	return u, packedCost, nil
}

// refused reports whether err says something of the bytes of a file, and not
// that they could not be read.
func refused(err error) bool {
	bad, damage := (*formats.Error)(nil), (*unpack.Damage)(nil)
	return errors.As(err, &bad) || errors.As(err, &damage) ||
		errors.Is(err, errors.ErrUnsupported) || errors.Is(err, formats.ErrCorrupt) || errors.Is(err, io.ErrUnexpectedEOF)
}

// recordingOf returns a recording that was not looked at yet.
func (a *Archive) recordingOf(k recordingKey) recordings.Source {
	in, reads := a.source(k)
	src := recordings.Source{Format: &a.list[k.format], Input: in, Failure: reads.failure}
	if !a.wrapped(k) {
		return src
	}
	src.Input.Raw = in.ReaderAt
	src.Input.ReaderAt = unpackedReader{a, k, reads}
	src.Input.Size = formats.UnknownSize
	src.Input.Measure = func(ctx context.Context) (int64, error) {
		u, err := a.unpacked.Get(ctx, k)
		if err != nil {
			return 0, err
		}
		return u.src.Length(ctx)
	}
	src.Open = func(ctx context.Context, in *formats.Input) error {
		u, err := a.unpacked.Get(ctx, k)
		if err != nil {
			reads.note(err)
			return err
		}
		in.Size = u.src.Size
		return u.err
	}
	src.Damage = func(ctx context.Context) (*formats.Problem, error) { return a.damageOf(ctx, k) }
	return src
}

// claimedOf returns a recording for a caller that looks at no more than its head. If it lies in a
// container and its size would have to be measured, it has the size that the container states.
func (a *Archive) claimedOf(k recordingKey) recordings.Source {
	src := a.recordingOf(k)
	if k.packed || !a.wrapped(k) {
		return src
	}
	open := src.Open
	src.Open = func(ctx context.Context, in *formats.Input) error {
		err := open(ctx, in)
		if _, ok := errors.AsType[*cache.NotSavedError](err); !ok {
			return err
		}
		c, failed := a.content(ctx, k, new(readErrors))
		if failed != nil || c.Claimed() == 0 {
			return err
		}
		in.ReaderAt, in.Size = c, c.Claimed()
		return nil
	}
	return src
}

// damageOf returns what is wrong with what is around a recording, nil if nothing is.
func (a *Archive) damageOf(ctx context.Context, k recordingKey) (*formats.Problem, error) {
	u, err := a.unpacked.Get(ctx, k)
	if err != nil {
		return nil, err
	}
	if u.hurt == nil {
		return nil, u.err
	}
	d, err := u.hurt(ctx)
	if d == nil || err != nil {
		return nil, err
	}
	return new(d.Problem()), nil
}

// An unpackedReader reads what a recording decompresses to.
type unpackedReader struct {
	a     *Archive
	key   recordingKey
	reads *readErrors
}

// ReadAt implements nodes.ReaderAt.
func (r unpackedReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	u, err := r.a.unpacked.Get(ctx, r.key)
	if err == nil {
		err = u.err
	}
	if err != nil {
		r.reads.note(err)
		return 0, err
	}
	n, err := u.src.ReadAt(ctx, p, off)
	r.reads.note(err)
	return n, err
}

var _ nodes.ReaderAt = unpackedReader{}

// contentOf names what is kept on disk of a recording or a container; nil: nothing is.
func (a *Archive) contentOf(k recordingKey) *formats.Content {
	if a.container != nil {
		return a.container.Whole.Part(k.path)
	}
	id := a.tree.ID()
	if a.contents == nil || id == "" {
		return nil
	}
	at := id
	if k.path != "." {
		at = strings.TrimSuffix(id, "/") + "/" + k.path
	}
	return a.contents.Of(at, k.stamp(), func(ctx context.Context) (string, error) { return a.contentKey(ctx, k) })
}

// contentKey reads what tells the content of a recording or a container.
func (a *Archive) contentKey(ctx context.Context, k recordingKey) (string, error) {
	key := func(at string, v source.Version) (string, error) {
		r := source.NewReader(a.openFiles, source.FileKey{Path: at, Version: v})
		return formats.ContentKey(ctx, r, v.Size)
	}
	if !k.isDir() {
		return key(k.path, k.v)
	}
	var files []formats.SegmentKey
	var all []segment
	for f := range k.segments.all {
		all = append(all, f)
		files = append(files, formats.SegmentKey{Name: f.name, Size: f.v.Size})
	}
	for _, i := range [...]int{0, len(all) - 1} {
		var err error
		if files[i].Key, err = key(all[i].at, all[i].v); err != nil {
			return "", err
		}
	}
	return formats.SegmentsKey(files), nil
}
