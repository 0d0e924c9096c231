package unpack

import (
	"context"
	"fmt"
	"log/slog"

	"recfs/cache"
	"recfs/formats"
)

// A store is where the seekable copy of one version of a file lies in the disk cache.
type store struct {
	disk *cache.Disk
	log  *slog.Logger
	packedFile
	place cache.Place
	good  *formats.Seal // of a copy that is known to be of raw; nil: none is yet
	bad   bool          // that of others is damaged
}

// newStore returns where the copy of what c makes of raw lies, nil if none is made.
func newStore(disk *cache.Disk, log *slog.Logger, f packedFile) *store {
	// The number is raised when copies are written in another way, or a decoder gives other bytes, or
	// damage, than before.
	place := f.content.At(fmt.Sprintf("unpacked-6 %s %s", f.c.Name, f.c.Stream))
	if disk == nil || place == nil {
		return nil
	}
	return &store{disk: disk, log: log, packedFile: f, place: place}
}

// open opens the complete copy; nil if there is none.
func (s *store) open(ctx context.Context) *copyFile {
	found := s.place.Find(ctx)
	if len(found.Names) == 0 {
		return nil
	}
	name := found.Names[0]
	done := s.openHere(ctx, name)
	if done == nil {
		done = s.openBehind(ctx, name)
	}
	if done != nil && !s.isOf(ctx, done.seal) {
		done.f.Close()
		return nil
	}
	return done
}

// openHere opens the copy in the disk cache. A damaged one is removed.
func (s *store) openHere(ctx context.Context, name string) *copyFile {
	f, err := s.disk.Open(name)
	if err != nil {
		return nil
	}
	done, err := openCopyFile(ctx, f, name)
	if err != nil {
		s.disk.Remove(name, f.Info)
		return nil
	}
	s.disk.Used(name)
	return done
}

// openBehind opens the copy that others have.
func (s *store) openBehind(ctx context.Context, name string) *copyFile {
	if s.bad {
		return nil
	}
	f, err := s.disk.OpenBehind(ctx, name)
	if err != nil {
		return nil
	}
	done, err := openCopyFile(ctx, f, name)
	if err != nil {
		s.bad = ctx.Err() == nil && !cache.IsShort(err)
		return nil
	}
	return done
}

// begin begins a copy of what is read from raw; nil if there can be none.
func (s *store) begin(ctx context.Context, raw *formats.Tally) *copyWriter {
	name := s.place.Name(ctx)
	if name == "" {
		return nil
	}
	return newCopyWriter(s.disk, name, raw)
}

// isOf reports whether a copy with that seal is of this file. If neither the stamp nor a note of
// its place tells, all that was decompressed is compared.
func (s *store) isOf(ctx context.Context, seal formats.Seal) bool {
	if s.good != nil && s.good.Sum == seal.Sum {
		return true
	}
	in := formats.Input{ReaderAt: s.raw, Size: s.key.Version.Size, Stamp: s.key.Version.Stamp, Content: s.content}
	fit, tally, err := seal.Fit(ctx, in)
	if err != nil || fit == formats.Other {
		return false
	}
	if tally != nil {
		s.content.Prove(ctx, seal)
	}
	s.good = &seal
	return true
}

// commit completes a copy and opens it; nil if that failed.
func (s *store) commit(ctx context.Context, part *copyWriter, e *end) *copyFile {
	done := part.commit(ctx, e.size, e.hurt, s.key.Version.Stamp)
	if done != nil {
		s.good = &done.seal
		s.disk.Used(done.name)
	}
	return done
}

// damaged removes a copy whose frames cannot be read.
func (s *store) damaged(done *copyFile, err error) {
	local, ok := done.f.(*cache.LocalFile)
	if !ok {
		s.log.Warn("the shared copy cannot be read", "copy", done.name, "err", err)
		s.bad = true
		return
	}
	s.log.Warn("cache file is damaged and is made again", "path", local.Name(), "err", err)
	s.disk.Remove(done.name, local.Info)
}
