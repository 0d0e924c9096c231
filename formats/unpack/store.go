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
	f, err := s.disk.Open(name)
	if err != nil {
		return nil
	}
	info, statErr := f.Stat()
	done, err := openCopyFile(f, name)
	switch {
	case err != nil && statErr == nil:
		s.disk.Remove(name, info)
		return nil
	case err != nil:
		return nil
	case !s.isOf(ctx, done.seal):
		done.f.Close()
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
func (s *store) commit(part *copyWriter, e *end) *copyFile {
	done := part.commit(e.size, e.hurt, s.key.Version.Stamp)
	if done != nil {
		s.good = &done.seal
	}
	return done
}

// damaged removes a copy whose frames cannot be read.
func (s *store) damaged(done *copyFile, err error) {
	s.log.Warn("cache file is damaged and is made again", "path", done.f.Name(), "err", err)
	if info, err := done.f.Stat(); err == nil {
		s.disk.Remove(done.name, info)
	}
}
