package main

import (
	"context"
	"errors"
	"iter"
	"path"
	"runtime"
	"strconv"

	"github.com/spf13/pflag"

	"recfs/formats"
	"recfs/nodes"
)

// A found is a recording, or a file that belongs to none, and its name for people.
type found struct {
	name  string
	entry nodes.Entry

	formats.Description // of a recording
	isRecording         bool
}

// find yields everything that the arguments name, of a mount what its source has. What cannot be looked
// into goes to fail.
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
	if d, ok := formats.Describe(ctx, e.Dir); ok {
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

func jobsFlag(flags *pflag.FlagSet) *jobCount {
	n := jobCount(runtime.GOMAXPROCS(0))
	flags.Var(&n, "jobs", "work on this `NUMBER` of recordings at a time")
	return &n
}

// A jobCount is a flag value: how much is done at a time.
type jobCount int

func (n *jobCount) Set(s string) error {
	i, err := strconv.Atoi(s)
	if err != nil || i < 1 {
		return errors.New("not a number of 1 and more")
	}
	*n = jobCount(i)
	return nil
}

func (n *jobCount) String() string { return strconv.Itoa(int(*n)) }
func (n *jobCount) Type() string   { return "number" }

// inOrder calls work for all items, for at most jobs of them at a time, and emit for the results in the
// order of the items.
func inOrder[T, R any](jobs jobCount, items iter.Seq[T], work func(T) R, emit func(R)) {
	const ahead = 64 // of an item that takes long
	slots := make(chan struct{}, jobs)
	results := make(chan chan R, ahead)
	go func() {
		defer close(results)
		for item := range items {
			result := make(chan R, 1)
			slots <- struct{}{}
			results <- result
			go func() {
				result <- work(item)
				<-slots
			}()
		}
	}()
	for result := range results {
		emit(<-result)
	}
}
