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

// A countingWalker is a countingTree of a server.
type countingWalker struct {
	countingTree
	source.Walker
}

// counted returns a tree that tells how many bytes are read from it.
func counted(tree source.Tree, onRead func(int)) source.Tree {
	c := countingTree{tree, onRead}
	if w, ok := tree.(source.Walker); ok {
		return countingWalker{c, w}
	}
	return c
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
