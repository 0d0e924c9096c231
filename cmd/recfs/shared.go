package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"

	archives "recfs/formats/archive"
	"recfs/formats/export"
	"recfs/formats/shared"
	"recfs/formats/source/remote"
	"recfs/nodes"
)

// openShared puts the shared index that a flag or the environment names behind the cache on disk.
func (a *archive) openShared(at string) error {
	if at = cmp.Or(at, os.Getenv("RECFS_INDEX_AT")); at == "" {
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
		server.Hide(dir)
		dir += "/"
	}
	a.shared = shared.New(server, dir, a.log)
	a.options.Disk.PutBehind(a.shared)
	return nil
}

// share puts what the cache on disk has of a recording into the shared index.
func (a *archive) share(ctx context.Context, r archives.Recording) error {
	for _, at := range r.Shared() {
		if at == nil {
			continue
		}
		for _, name := range at.Find(ctx).Names {
			data, ok := a.options.Disk.Load(ctx, name)
			if !ok {
				continue
			}
			if err := a.shared.Put(ctx, name, data); err != nil {
				return notShared(err)
			}
			break
		}
	}
	name, note, err := r.Content().ObjectNote(ctx)
	if err == nil && name != "" {
		err = a.shared.Put(ctx, name, note) // once all that it leads to is there
	}
	return notShared(err)
}

// sharePart puts the part of the catalogue there that a shard of a source made.
func (a *archive) sharePart(ctx context.Context, name string, shard export.Shard) error {
	e, err := a.resolve(ctx, sourceOf(name))
	if err != nil || e.Dir == nil {
		return err
	}
	f, err := a.catalogue.OpenSaved(ctx, e.Dir)
	if errors.Is(err, iofs.ErrNotExist) { // it is a recording, or a folder below the source
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return notShared(a.shared.PutPart(ctx, shard.I, shard.N, f.File, f.Size()))
}

// shareCopy puts the seekable copy of a compressed recording there, which is made if there is none:
// by a read of its last byte.
func (a *archive) shareCopy(ctx context.Context, r archives.Recording, dir nodes.Dir) error {
	key, err := r.Content().Key(ctx)
	if err != nil {
		return err
	}
	if err := readLast(ctx, dir); err != nil {
		return err
	}
	for _, name := range a.shared.Copies(key) {
		f, err := a.options.Disk.Open(name)
		if err != nil {
			continue // it went, as there is too little room
		}
		err = a.shared.PutCopy(ctx, name, f.File, f.Size())
		f.Close()
		if err != nil {
			return notShared(err)
		}
	}
	return nil
}

// readLast reads the last byte of raw in the directory of a recording.
func readLast(ctx context.Context, dir nodes.Dir) error {
	e, err := nodes.Child(ctx, dir, "raw")
	if err != nil || e.File == nil {
		return nil // it has several files
	}
	c, err := e.File.Open(ctx)
	if err != nil {
		return err
	}
	defer nodes.CloseContent(c)
	if n := c.Size(); n > 0 {
		_, err = c.ReadAt(ctx, make([]byte, 1), n-1)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

func notShared(err error) error {
	if err != nil {
		return fmt.Errorf("not put into the shared index: %w", err)
	}
	return nil
}
