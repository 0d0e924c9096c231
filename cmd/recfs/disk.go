package main

import (
	"log/slog"
	"math"
	"os"
	"os/user"
	"path/filepath"
	"runtime/debug"

	"recfs/cache"
)

// disk returns the cache on disk that the flags describe, nil if there is none.
func (f *archiveFlags) disk(log *slog.Logger) *cache.Disk {
	if f.cacheDisk == 0 {
		return nil
	}
	dir, err := f.diskDir()
	if err != nil {
		log.Warn("no cache on disk", "err", err)
		return nil
	}
	return cache.NewDisk(dir, int64(f.cacheDisk), log)
}

// diskDir is where the cache lies: as the flag says, in the directory that the service manager made
// for it, or with the other caches of the user, also where nobody told us his home.
func (f *archiveFlags) diskDir() (string, error) {
	if f.cacheDir != "" {
		return filepath.Abs(f.cacheDir)
	}
	if dir := os.Getenv("CACHE_DIRECTORY"); dir != "" {
		return dir, nil
	}
	dir, err := cache.DefaultDir()
	if err == nil {
		return dir, nil
	}
	u, userErr := user.Current()
	if userErr != nil {
		return "", err
	}
	return filepath.Join(u.HomeDir, ".cache", "recfs"), nil
}

// limitMemory tells the garbage collector to stay close to the budget of the cache: what is being
// decoded, and all else that the process holds, gets what bench/butter needs to keep its speed.
// The program itself takes 12 MiB more.
func limitMemory(budget int64) {
	const rest = 48 << 20
	if os.Getenv("GOMEMLIMIT") == "" && budget < math.MaxInt64-rest {
		debug.SetMemoryLimit(budget + rest)
	}
}
