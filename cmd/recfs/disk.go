package main

import (
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/pflag"

	"recfs/cache"
)

// diskFlags say where the cache on disk is and how large it may become.
type diskFlags struct {
	limit byteSize
	dir   string
}

func (f *diskFlags) register(flags *pflag.FlagSet) {
	f.limit = 4 * gib
	flags.Var(&f.limit, "cache-disk", "keep at most this much of indexes and decompressed copies on disk; 0 keeps none")
	flags.StringVar(&f.dir, "cache-dir", "", "keep them in `DIR` (default: recfs in the user's cache directory)")
}

// open returns the cache on disk that the flags describe, nil if there is none.
func (f *diskFlags) open(log *slog.Logger) *cache.Disk {
	if f.limit == 0 {
		return nil
	}
	dir, err := f.path()
	if err != nil {
		log.Warn("no cache on disk", "err", err)
		return nil
	}
	return cache.NewDisk(dir, int64(f.limit), log)
}

// path is where the cache is: as the flag says, in the directory that the service manager made for
// it, or with the other caches of the user.
func (f *diskFlags) path() (string, error) {
	if f.dir != "" {
		return filepath.Abs(f.dir)
	}
	if dir := os.Getenv("CACHE_DIRECTORY"); dir != "" {
		return dir, nil
	}
	return cache.DefaultDir()
}

// collectLess lets garbage grow to twice what is in use, for a command that ends by itself: below
// the limit of limitMemory it takes some megabytes more, and collects half as often.
func collectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200)
	}
}

// limitMemory tells the garbage collector to stay close to the budget of the cache: what is being
// decoded, and all else that the process holds, gets what `bench recording` needs to keep its speed
// with Echo VR. The program itself takes 16 MiB more.
func limitMemory(budget int64) {
	const rest = 44 << 20
	if os.Getenv("GOMEMLIMIT") == "" && budget < math.MaxInt64-rest {
		debug.SetMemoryLimit(budget + rest)
	}
}
