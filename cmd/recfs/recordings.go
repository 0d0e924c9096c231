package main

import (
	"context"
	"iter"
	"path"

	archives "recfs/formats/archive"
	"recfs/nodes"
)

// A found is a recording, or a file that belongs to none, and its name for people.
type found struct {
	name  string
	entry nodes.Entry

	archives.Description // of a recording
	isRecording          bool
}

// find yields everything that the arguments name, of a mount what its source has. What cannot be
// looked into goes to fail.
func (a *archive) find(ctx context.Context, args []string, fail func(string, error)) iter.Seq[found] {
	return func(yield func(found) bool) {
		for _, name := range args {
			e, err := a.resolve(ctx, sourceOf(name))
			if err != nil {
				fail(name, err)
				continue
			}
			if !findBelow(ctx, name, e, yield, fail) {
				return
			}
		}
	}
}

func findBelow(ctx context.Context, name string, e nodes.Entry, yield func(found) bool, fail func(string, error)) bool {
	if e.Dir == nil {
		return e.File == nil || yield(found{name: name, entry: e})
	}
	if d, ok := archives.Describe(ctx, e.Dir); ok {
		return yield(found{name, e, d, true})
	}
	for child, err := range entries(ctx, e) {
		below := path.Join(name, child.Name)
		if err != nil {
			fail(below, err)
		} else if !findBelow(ctx, below, child, yield, fail) {
			return false
		}
	}
	return true
}
