package main

import (
	"errors"
	"iter"
	"runtime"
	"strconv"

	"github.com/spf13/pflag"
)

// jobsFlag adds the flag that says how much is done at a time.
func jobsFlag(flags *pflag.FlagSet) *int {
	jobs := runtime.GOMAXPROCS(0)
	flags.Func("jobs", "work on this `NUMBER` of recordings at a time (default: one for each processor)", func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return errors.New("not a number of 1 and more")
		}
		jobs = n
		return nil
	})
	return &jobs
}

// inOrder calls work for all items, for at most jobs of them at a time, and emit for the results in
// the order of the items.
func inOrder[T, R any](jobs int, items iter.Seq[T], work func(T) R, emit func(R)) {
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
