package main

import (
	"cmp"
	"context"
	"errors"
	iofs "io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/pflag"

	"recfs/cache"
	"recfs/formats"
	archives "recfs/formats/archive"
	"recfs/formats/catalogue"
	"recfs/formats/source"
	"recfs/nodes"
)

// archiveFlags are the flags of every command that looks into recordings.
type archiveFlags struct {
	formats  formatOptions
	log      logFlags
	cacheMem byteSize
	disk     diskFlags
}

func readFlags(flags *pflag.FlagSet) *archiveFlags {
	a := &archiveFlags{cacheMem: 256 * mib}
	a.formats.register(flags)
	flags.Var(&a.cacheMem, "cache-mem", "keep at most this much decoded data in memory")
	a.disk.register(flags)
	a.log.register(flags)
	return a
}

// An archive opens sources with one cache for all of them.
type archive struct {
	formats   []formats.Format
	options   archives.Options
	cache     *cache.Cache
	catalogue *catalogue.Catalogue
	log       *slog.Logger
	problems  *problemLog // of what goes through log
	onRead    func(int)   // hears how many bytes of sources are read, unless nil
	sources   map[string]nodes.Entry
	closers   []func()
}

// open makes the archive that the flags describe.
func (f *archiveFlags) open(e *env) (*archive, error) {
	handler, closeLog, err := f.log.open(e.stderr)
	if err != nil {
		return nil, err
	}
	log := slog.New(handler)
	list, err := f.formats.list()
	if err != nil {
		closeLog()
		return nil, err
	}
	limitMemory(int64(f.cacheMem))
	options := archives.Options{Sniff: f.formats.sniff, Log: log}
	var store cache.Store
	if disk := f.disk.open(log); disk != nil {
		store, options.Disk = disk, disk
	}
	c := cache.New(int64(f.cacheMem), store)
	known := catalogue.New(c, &options)
	return &archive{
		formats: list, options: options,
		cache: c, catalogue: known, log: log, problems: handler.problems, sources: map[string]nodes.Entry{}, closers: []func(){closeLog, c.Close},
	}, nil
}

// opened returns what runs work with the archive that the flags describe, on the current directory
// unless there are arguments.
func (f *archiveFlags) opened(work func(ctx context.Context, e *env, a *archive, args []string) error) runFunc {
	return func(ctx context.Context, e *env, args []string) error {
		if len(args) == 0 {
			args = []string{"."}
		}
		a, err := f.open(e)
		if err != nil {
			return err
		}
		defer a.close()
		return work(ctx, e, a, args)
	}
}

func (a *archive) close() {
	for _, c := range slices.Backward(a.closers) {
		c()
	}
}

// source returns what lies at name on disk: an archive, a recording, or a file that is none. All
// arguments of a command that lie in one source share it, so that what is in it is decoded once.
func (a *archive) source(ctx context.Context, name string) (nodes.Entry, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nodes.Entry{}, err
	}
	at, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nodes.Entry{}, err
	}
	if e, ok := a.sources[at]; ok {
		return e, nil
	}
	e, err := a.openSource(ctx, name, info)
	if err == nil && e.Dir != nil {
		a.sources[at] = e
	}
	return e, err
}

// openSource opens the source at name, which info describes.
func (a *archive) openSource(ctx context.Context, name string, info iofs.FileInfo) (nodes.Entry, error) {
	dir, base := name, ""
	if !info.IsDir() {
		at, err := filepath.EvalSymlinks(name)
		if err != nil {
			return nodes.Entry{}, err
		}
		dir, base = filepath.Split(at)
	}
	local, err := source.OpenLocal(cmp.Or(dir, "."))
	if err != nil {
		return nodes.Entry{}, err
	}
	a.closers = append(a.closers, func() { local.Close() })
	var fsys iofs.FS = local
	if a.onRead != nil {
		fsys = countingFS{local, a.onRead}
	}
	root := a.catalogue.Root(archives.New(fsys, a.formats, a.cache, a.options))
	if !info.IsDir() {
		recording, err := archives.NewFile(fsys, base, a.formats, a.cache, a.options)
		if errors.Is(err, errors.ErrUnsupported) {
			return nodes.Lookup(ctx, root, base)
		}
		if err != nil {
			return nodes.Entry{}, err
		}
		root = recording
	}
	self, err := nodes.Child(ctx, root, ".")
	return nodes.Entry{Name: filepath.Base(local.Path()), Attr: self.Attr, Dir: root}, err
}

// resolve finds what name means: the longest part of it that exists on disk is the source, the rest
// is a path below that.
func (a *archive) resolve(ctx context.Context, name string) (nodes.Entry, error) {
	source, inside, err := splitPath(name)
	if err != nil {
		return nodes.Entry{}, err
	}
	e, err := a.source(ctx, source)
	if err != nil || inside == "." {
		return e, err
	}
	if e.Dir == nil {
		return nodes.Entry{}, syscall.ENOTDIR
	}
	found, err := nodes.Follow(ctx, e.Dir, inside)
	if errors.Is(err, iofs.ErrNotExist) {
		err = syscall.ENOENT
	}
	return found.Inherit(e.Attr), err
}
