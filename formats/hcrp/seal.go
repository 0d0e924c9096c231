package hcrp

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"

	"recfs/formats"
)

// sealedBytes is how much of the last chunk a seal looks at.
const sealedBytes = 1 << 20

// A seal tells what the first chunks of a recording were made of, so that a
// scan of them holds for a version of the recording that has grown.
type seal struct {
	sum  [sha256.Size]byte // of their index entries, and the files they lie in but the last one
	last fileVersion       // of the file in which the last of them lies
	end  [sha256.Size]byte // of the last of them as stored
}

// A fileVersion tells versions of a file apart.
type fileVersion struct{ size, modified int64 }

// sealOf returns the seal of the first n chunks in the order of ticks. The
// bytes of the last one must be there.
func (rec *recording) sealOf(n int) (s seal, err error) {
	r := rec.reader
	h := sha256.New()
	fmt.Fprintf(h, "%s %d", r.Header.Layout, r.Header.Version)
	used := map[int64]bool{}
	var last place
	var b []byte
	for _, k := range r.byTick[:n] {
		i := int(k)
		b = binary.BigEndian.AppendUint64(b[:0], uint64(i))
		h.Write(appendEntry(b, r.Entry(i), 0))
		last = r.place(i)
		used[last.segment] = true
	}
	if n == 0 {
		return s, nil
	}
	for i := range r.segments {
		if f := &r.segments[i]; used[f.number] && f.number != last.segment {
			fmt.Fprintf(h, " %d %v", f.number, f.version())
		}
	}
	s.last = fileVersion{rec.src.Stored, rec.src.ModTime.UnixNano()}
	if f := r.segment(last.segment); f != nil {
		s.last = f.version()
	}
	h.Sum(s.sum[:0])
	h.Reset()
	stored := min(r.Entry(int(r.byTick[n-1])).Stored, sealedBytes)
	_, err = io.Copy(h, io.NewSectionReader(r.at(last), last.offset, stored))
	h.Sum(s.end[:0])
	return s, err
}

func (f *segment) version() fileVersion { return fileVersion{f.size, f.modified} }

// covers tells whether chunks with the seal s are the ones that now have the
// seal o: nothing changed, or the last file became longer.
func (s *seal) covers(o *seal) bool {
	return s.sum == o.sum && s.end == o.end && (s.last == o.last || s.last.size < o.last.size)
}

// variant names the choices that a scan depends on besides the recording:
// schema, limits and dictionary.
func (rec *recording) variant() string {
	h := sha256.New()
	if rec.schema != nil {
		fmt.Fprintf(h, "%x", rec.schema.sum)
	}
	fmt.Fprintf(h, " %+v %x", rec.reader.limits, rec.reader.dictSum)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// makeScan decodes every chunk.
func (rec *recording) makeScan(ctx context.Context) (*scan, error) {
	return rec.sealed(newScanner(rec.reader, rec.decode).run(ctx))
}

func (rec *recording) sealed(s *scan, err error) (*scan, error) {
	if err != nil {
		return nil, err
	}
	s.seal, err = rec.sealOf(s.mark.chunks)
	return s, err
}

// resumeScan brings a packed scan up to date, if it is one of the same
// recording.
func (rec *recording) resumeScan(ctx context.Context, b []byte) (*scan, error) {
	r := rec.reader
	old, err := unpackScan(b, r.byTick, r.Chunks())
	if err != nil {
		return nil, err
	}
	now, err := rec.sealOf(old.mark.chunks)
	if err != nil {
		return nil, err
	}
	if grown := old.seal.last != now.last; !old.seal.covers(&now) || grown && old.mark.lost {
		return nil, formats.Corrupt(formatName, 0, "the recording was rewritten")
	}
	s := newScanner(r, rec.decode)
	s.scan, s.mark = old, old.mark
	for i := range old.tracks {
		t := &old.tracks[i]
		s.lives[t.Entity] = t.Life
		if t.open() {
			s.current[t.Entity] = i
		}
	}
	if s.chunks < len(r.byTick) {
		t := theatre{ctx: ctx, layout: r.Header.Layout, scan: old, decode: rec.decode}
		if s.player, err = t.before(s.stretches); err != nil {
			return nil, err
		}
	}
	return rec.sealed(s.run(ctx))
}
