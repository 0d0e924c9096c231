package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/pflag"

	"recfs/cache"
)

var cacheCommand = command{
	name:    "cache",
	args:    "[ls|prune|clear]",
	summary: "Look after the cache on disk",
	about: `
Without an argument it tells how much is kept of how many recordings, and of which the most. 'ls' lists all
files, 'prune' shrinks the cache to --cache-disk, 'clear' empties it. All of it can be made again.`,
	run: runCache,
}

func runCache(flags *pflag.FlagSet) runFunc {
	asJSON := flags.Bool("json", false, "print JSON: with ls an object for each file")
	opt := readFlags(flags)
	return func(_ context.Context, e *env, args []string) error {
		dir, err := opt.disk.path()
		if err != nil {
			return err
		}
		disk := cache.NewDisk(dir, int64(opt.disk.limit), slog.New(slog.NewTextHandler(e.stderr, nil)))
		switch {
		case len(args) == 0:
			return summarizeCache(e.stdout, disk, *asJSON)
		case args[0] == "ls":
			return listCache(e.stdout, disk, *asJSON)
		case args[0] == "prune":
			return tellRemoved(e.stdout, *asJSON)(disk.Prune(int64(opt.disk.limit)))
		case args[0] == "clear":
			return tellRemoved(e.stdout, *asJSON)(disk.Clear())
		}
		return usagef("cache: name one of ls, prune and clear%s", didYouMean(args[0], []string{"ls", "prune", "clear"}))
	}
}

func tellRemoved(w io.Writer, asJSON bool) func(int, int64, error) error {
	return func(files int, bytes int64, err error) error {
		var printErr error
		if asJSON {
			printErr = writeJSON(w, struct {
				Files int   `json:"files"`
				Bytes int64 `json:"bytes"`
			}{files, bytes})
		} else {
			_, printErr = fmt.Fprintf(w, "removed %s, %s\n", count(files, "file", "files"), humanSize(bytes))
		}
		return errors.Join(err, printErr)
	}
}
