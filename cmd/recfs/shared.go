package main

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"recfs/cache"
	archives "recfs/formats/archive"
	"recfs/formats/catalogue"
	"recfs/formats/shared"
	"recfs/formats/source/remote"
)

// indexAtVariable names the shared index where no flag does.
const indexAtVariable = "RECFS_INDEX_AT"

// openShared puts the shared index that a flag or the environment names behind the cache on disk.
func (a *archive) openShared(at string) error {
	if at = cmp.Or(at, os.Getenv(indexAtVariable)); at == "" {
		return nil
	}
	if a.options.Disk == nil {
		return usagef("--index-at needs the cache on disk, which --cache-disk 0 turns off")
	}
	if !remote.IsURL(at) {
		a.shared = shared.New(shared.Folder(at), "", a.log)
		a.options.Disk.PutBehind(a.shared)
		return nil
	}
	r, err := remote.ParseURL(at)
	if err != nil {
		return usagef("--index-at: %v", err)
	}
	server, err := a.remoteServer(r)
	if err != nil {
		return err
	}
	dir := r.Key
	if dir != "" {
		dir += "/"
	}
	a.shared = shared.New(server, dir, a.log)
	a.options.Disk.PutBehind(a.shared)
	return nil
}

// share puts what the cache on disk has of a recording into the shared index.
func (a *archive) share(ctx context.Context, r archives.Recording) error {
	for _, at := range append(r.Shared(), catalogue.DigestPlace(r)) {
		if err := a.shareOne(ctx, at); err != nil {
			return err
		}
	}
	name, note, err := r.Content().ObjectNote(ctx)
	if err == nil && name != "" {
		err = a.shared.Put(ctx, name, note) // once all that it leads to is there
	}
	return notShared(err)
}

// shareOne puts what lies at a place there, if anything does.
func (a *archive) shareOne(ctx context.Context, at cache.Place) error {
	if at == nil {
		return nil
	}
	for _, name := range at.Find(ctx).Names {
		if data, ok := a.options.Disk.Load(ctx, name); ok {
			return notShared(a.shared.Put(ctx, name, data))
		}
	}
	return nil
}

func notShared(err error) error {
	if err != nil {
		return fmt.Errorf("not put into the shared index: %w", err)
	}
	return nil
}
