package main

import (
	"context"

	"recfs/formats/source"
)

// A countingTree tells how many bytes are read from a source.
type countingTree struct {
	source.Tree
	onRead func(int)
}

func (c countingTree) Open(ctx context.Context, name string) (source.File, error) {
	f, err := c.Tree.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return countingFile{f, c.onRead}, nil
}

// Walk implements source.Walker for what is one.
func (c countingTree) Walk(ctx context.Context, name string) error {
	if w, ok := c.Tree.(source.Walker); ok {
		return w.Walk(ctx, name)
	}
	return nil
}

type countingFile struct {
	source.File
	onRead func(int)
}

func (c countingFile) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := c.File.ReadAt(ctx, p, off)
	c.onRead(n)
	return n, err
}
