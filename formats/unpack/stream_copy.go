package unpack

import (
	"context"
	"fmt"

	"recfs/formats"
)

// openCopy opens a complete copy, if there is one.
func (u *Stream) openCopy(ctx context.Context) bool {
	if u.p.disk == nil {
		return false
	}
	f, err := u.p.disk.Open(u.name)
	if err != nil {
		return false
	}
	info, statErr := f.Stat()
	if u.done, err = openCopyFile(f, u.name); err != nil {
		if statErr == nil {
			u.p.disk.Remove(u.name, info)
		}
		return false
	}
	if !u.isOf(ctx, u.done.seal) {
		u.closeCopy()
		return false
	}
	u.size, u.hurt = u.done.size, u.done.damage
	return true
}

// isOf reports whether a copy with that seal is of this file. If the stamp does
// not tell, all that was decompressed is compared, and what was found is kept
// under the stamp: it holds for this file, and the copy may be of more of them.
func (u *Stream) isOf(ctx context.Context, s formats.Seal) bool {
	if u.good != nil && u.good.Sum == s.Sum || s.Stamp.Same(u.v.Stamp) {
		u.good = &s
		return true
	}
	found := fmt.Sprintf("%s %x", u.name, u.v.Append(nil))
	s.Stamp = u.v.Stamp
	if b, ok := u.p.disk.Load(found); ok && s.Stamp.Changed != 0 && string(b) == string(s.Append(nil)) {
		u.good = &s
		return true
	}
	fit, _, err := formats.Seal{Length: s.Length, Sum: s.Sum}.Fit(ctx, formats.Input{ReaderAt: u.raw, Size: u.v.Size})
	if err != nil || fit == formats.Other {
		return false
	}
	u.p.disk.Save(found, s.Append(nil))
	u.good = &s
	return true
}

func (u *Stream) closeCopy() {
	if u.done != nil {
		u.done.f.Close()
		u.done = nil
	}
}
