package main

import (
	"bufio"
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
'ls' shows what it holds, 'prune' shrinks it to --cache-disk, 'clear' empties it. All of it can be made again.`,
	run: runCache,
}

func runCache(flags *pflag.FlagSet) runFunc {
	opt := readFlags(flags)
	return func(_ context.Context, e *env, args []string) error {
		dir, err := opt.disk.path()
		if err != nil {
			return err
		}
		disk := cache.NewDisk(dir, int64(opt.disk.limit), slog.New(slog.NewTextHandler(e.stderr, nil)))
		switch {
		case len(args) == 0 || args[0] == "ls":
			return listCache(e.stdout, disk)
		case args[0] == "prune":
			return tellRemoved(e.stdout)(disk.Prune(int64(opt.disk.limit)))
		case args[0] == "clear":
			return tellRemoved(e.stdout)(disk.Clear())
		}
		return usagef("cache: name one of ls, prune and clear")
	}
}

// listCache prints what the cache holds, the one unused for longest first.
func listCache(out io.Writer, disk *cache.Disk) error {
	items, err := disk.Items()
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	var total int64
	for _, it := range items {
		total += it.Size
		name := it.Name
		if name == "" {
			name = it.Path
		}
		fmt.Fprintf(w, "%10s  %s  %s\n", humanSize(it.Size), it.Used.Local().Format("2006-01-02 15:04"), name)
	}
	fmt.Fprintf(w, "%s in %s, %s of %s\n", count(len(items), "file", "files"), disk.Dir(), humanSize(total), humanSize(disk.Limit()))
	return w.Flush()
}

func tellRemoved(w io.Writer) func(int, int64, error) error {
	return func(files int, bytes int64, err error) error {
		_, printErr := fmt.Fprintf(w, "removed %s, %s\n", count(files, "file", "files"), humanSize(bytes))
		return errors.Join(err, printErr)
	}
}
