package unpack

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// A store is where the seekable copy of one version of a file lies in the disk cache.
type store struct {
	disk *cache.Disk
	log  *slog.Logger
	raw  nodes.ReaderAt
	v    source.Version
	name string        // of the copy
	good *formats.Seal // of a copy that is known to be of raw; nil: none is yet
}

// newStore returns where the copy of what c makes of raw lies.
func newStore(ctx context.Context, disk *cache.Disk, log *slog.Logger, f packedFile) (*store, error) {
	id, err := identity(ctx, f)
	// The number is raised when copies are written in another way, or a decoder gives other bytes, or
	// damage, than before.
	return &store{disk: disk, log: log, raw: f.raw, v: f.key.Version, name: "unpacked-5 " + id}, err
}

// identity names what a file decompresses to by its size and samples of its
// bytes, so that it keeps its copy when it is moved, linked or copied. Whether
// the rest of its bytes are those of the copy, isOf tells.
func identity(ctx context.Context, f packedFile) (string, error) {
	const samples, sample = 5, 4096
	size := f.key.Version.Size
	h := sha256.New()
	fmt.Fprintln(h, f.c.Name, f.c.Stream, size)
	b := make([]byte, min(sample, size))
	for i := range int64(samples) {
		off := (size - int64(len(b))) / (samples - 1) * i
		if i == samples-1 {
			off = size - int64(len(b))
		}
		n, err := f.raw.ReadAt(ctx, b, off)
		if hurt := (*Damage)(nil); err != nil && err != io.EOF && !errors.As(err, &hurt) {
			return "", err
		}
		h.Write(b[:n])
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// open opens the complete copy; nil if there is none.
func (s *store) open(ctx context.Context) *copyFile {
	f, err := s.disk.Open(s.name)
	if err != nil {
		return nil
	}
	info, statErr := f.Stat()
	done, err := openCopyFile(f, s.name)
	switch {
	case err != nil && statErr == nil:
		s.disk.Remove(s.name, info)
		return nil
	case err != nil:
		return nil
	case !s.isOf(ctx, done.seal):
		done.f.Close()
		return nil
	}
	return done
}

// isOf reports whether a copy with that seal is of this file. If the stamp does
// not tell, all that was decompressed is compared, and what was found is kept
// under the stamp: it holds for this file, and the copy may be of more of them.
func (s *store) isOf(ctx context.Context, seal formats.Seal) bool {
	if s.good != nil && s.good.Sum == seal.Sum || seal.Stamp.Same(s.v.Stamp) {
		s.good = &seal
		return true
	}
	found := fmt.Sprintf("%s %x", s.name, s.v.Append(nil))
	seal.Stamp = s.v.Stamp
	if b, ok := s.disk.Load(found); ok && seal.Stamp.Changed != 0 && string(b) == string(seal.Append(nil)) {
		s.good = &seal
		return true
	}
	fit, _, err := formats.Seal{Length: seal.Length, Sum: seal.Sum}.Fit(ctx, formats.Input{ReaderAt: s.raw, Size: s.v.Size})
	if err != nil || fit == formats.Other {
		return false
	}
	s.disk.Save(found, seal.Append(nil))
	s.good = &seal
	return true
}

// commit completes a copy and opens it; nil if that failed.
func (s *store) commit(part *copyWriter, e *end) *copyFile {
	done := part.commit(e.size, e.hurt, s.v.Stamp)
	if done != nil {
		s.good = &done.seal
	}
	return done
}

// damaged removes a copy whose frames cannot be read.
func (s *store) damaged(done *copyFile, err error) {
	s.log.Warn("cache file is damaged and is made again", "path", done.f.Name(), "err", err)
	if info, err := done.f.Stat(); err == nil {
		s.disk.Remove(s.name, info)
	}
}
