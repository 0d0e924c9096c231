package main

import (
	"context"
	"io"

	"recfs/nodes"
)

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
