package main

import (
	"context"
	"io"
	"iter"

	"recfs/nodes"
)

// entries yields what a listing of e shows, each entry with its time. An error that comes with a
// name is that of one entry; one without ends the listing.
func entries(ctx context.Context, e nodes.Entry) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		dir, err := snapshot(ctx, e.Dir)
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		n, err := dir.Len(ctx)
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		for i := range n {
			if err := ctx.Err(); err != nil {
				yield(nodes.Entry{}, err)
				return
			}
			child, err := dir.At(ctx, i)
			if !yield(child.Inherit(e.Attr), err) {
				return
			}
		}
	}
}

func snapshot(ctx context.Context, dir nodes.Dir) (nodes.Dir, error) {
	if v, ok := dir.(nodes.Volatile); ok {
		return v.Snapshot(ctx)
	}
	return dir, nil
}

// copyFile writes the content of file to w.
func copyFile(ctx context.Context, w io.Writer, file nodes.File) error {
	content, err := file.Open(ctx)
	if err != nil {
		return err
	}
	defer nodes.CloseContent(content)
	_, err = copyContent(ctx, w, content)
	return err
}

// copyStep is how much is read at once: short members of a container whole, which keeps nothing of
// them.
const copyStep = 256 << 10

// copyContent writes all of content to w, and returns how much that is. Content that ends too early
// is an error.
func copyContent(ctx context.Context, w io.Writer, content nodes.Content) (int64, error) {
	to, buf := struct{ io.Writer }{w}, make([]byte, max(1, min(content.Size(), copyStep))) // no ReadFrom of w, which has its own buffer
	n, err := io.CopyBuffer(to, nodes.Reader(ctx, content), buf)
	if err == nil && n != content.Size() {
		err = nodes.SizeError(content.Size(), n)
	}
	return n, err
}
