package main

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/spf13/pflag"

	"recfs/cache"
	archives "recfs/formats/archive"
	"recfs/formats/catalogue"
	"recfs/formats/source/remote"
	"recfs/nodes"
)

// archiveFlags are the flags of every command that looks into recordings.
type archiveFlags struct {
	formats  formatOptions
	log      logFlags
	cacheMem byteSize
	disk     diskFlags
	remote   remote.Options
	indexAt  string
	input    bool // a FILE may be standard input
}

func readFlags(flags *pflag.FlagSet) *archiveFlags {
	a := &archiveFlags{cacheMem: 256 * mib}
	a.formats.register(flags)
	flags.Var(&a.cacheMem, "cache-mem", "keep at most this much decoded data in memory")
	a.disk.register(flags)
	registerRemote(flags, &a.remote)
	flags.StringVar(&a.indexAt, "index-at", "", "a shared index is at this `URL|DIR`, which index writes (default: $RECFS_INDEX_AT)")
	a.log.register(flags)
	return a
}

// orInput lets the command take standard input for a FILE.
func (f *archiveFlags) orInput() *archiveFlags {
	f.input = true
	return f
}

// open makes the archive that the flags describe.
func (f *archiveFlags) open(e *env) (*archive, error) {
	handler, logged, closeLog, err := f.log.open(e.stderr)
	if err != nil {
		return nil, err
	}
	log := slog.New(handler)
	list, err := f.formats.list()
	if err = cmp.Or(err, checkRemote(f.remote)); err != nil {
		closeLog()
		return nil, err
	}
	f.remote.Log, f.remote.Version = log, version().Version
	limitMemory(int64(f.cacheMem))
	options := archives.Options{Sniff: f.formats.sniff, Log: log}
	var store cache.Store
	if disk := f.disk.open(log); disk != nil {
		store, options.Disk = disk, disk
	}
	c := cache.New(int64(f.cacheMem), store)
	known := catalogue.New(c, options)
	a := &archive{
		formats: list, options: options, mapres: f.formats.search,
		cache: c, catalogue: known, log: log, logged: logged, records: handler.logRecords,
		remote: f.remote, servers: remoteServers{all: map[string]*remote.Server{}},
		sources: map[sourcePlace]nodes.Entry{}, folders: map[string]opened{}, globbed: map[string]string{}, closers: []func(){closeLog, c.Close},
	}
	if err := a.openShared(f.indexAt); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// onPaths is opened for a command whose arguments are all paths: of patterns work gets what they
// stand for.
func (f *archiveFlags) onPaths(work func(ctx context.Context, e *env, a *archive, args []string) error) runFunc {
	return f.opened(func(ctx context.Context, e *env, a *archive, args []string) error {
		return work(ctx, e, a, a.expand(ctx, args))
	})
}

// opened returns what runs work with the archive that the flags describe, on the current directory
// unless there are arguments.
func (f *archiveFlags) opened(work func(ctx context.Context, e *env, a *archive, args []string) error) runFunc {
	return func(ctx context.Context, e *env, args []string) error {
		if len(args) == 0 {
			args = []string{"."}
		}
		if err := checkURLs(args); err != nil {
			return err
		}
		collectLess()
		a, err := f.open(e)
		if err != nil {
			return err
		}
		defer a.close()
		if f.input {
			a.takeInput(ctx)
		}
		return work(ctx, e, a, args)
	}
}
