package main

import (
	"errors"
	"iter"
	"runtime"
	"strconv"

	"github.com/spf13/pflag"
)

func jobsFlag(flags *pflag.FlagSet) *jobCount {
	n := jobCount(runtime.GOMAXPROCS(0))
	flags.Var(&n, "jobs", "work on this `NUMBER` of recordings at a time (default: one for each processor)")
	flags.Lookup("jobs").DefValue = "" // help and manual say the same on every machine
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

func (n *jobCount) Type() string { return "number" }

// inOrder calls work for all items, for at most jobs of them at a time, and emit for the results in
// the order of the items.
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
