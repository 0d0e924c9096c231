// Package export writes the tables of recordings as compressed Parquet on disk (docs/tree/tables.md
// section 8).
package export

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	iofs "io/fs"
	"path/filepath"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/columnar"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/parquet"
	"recfs/formats/outfile"
	"recfs/formats/recordings"
)

// An Exporter writes tables below a directory.
type Exporter struct {
	dir directory
	c   *cache.Cache
	z   *parquet.Encoder
}

// New returns an Exporter to a directory, for so many recordings at a time. What is made counts in
// the account of c.
func New(dir string, c *cache.Cache, jobs int) (*Exporter, error) {
	z, err := parquet.NewEncoder(jobs)
	return &Exporter{directory(dir), c, z}, err
}

// A Recording is one whose tables are exported.
type Recording struct {
	archive.Recording
	Path string        // in what is exported
	Mode iofs.FileMode // of its files, from which the system takes the umask
}

// Export writes the tables of a recording that are wanted and not there yet. The error is that of a
// recording that does not open.
func (x *Exporter) Export(ctx context.Context, r Recording, wanted func(table string) bool) ([]File, error) {
	o, err := r.Open(ctx)
	if err != nil {
		return nil, err
	}
	var files []File
	list := o.Tables()
	for i := range list {
		t := &list[i]
		if !wanted(t.Name) {
			continue
		}
		format := r.Format().Name
		f := x.dirOf(format, t.Name).file(filepath.FromSlash(parquet.EscapePath(r.Path))).of(r.Path)
		if m := x.dir.metadata(f.at); m["recfs.table"] == t.Name {
			f.Same, f.Err = r.isSame(lineOf(m), r.made(o), func() (string, error) { return sumOf(ctx, o) })
		}
		if !f.Same && f.Err == nil {
			if f.Err = x.dir.mayReplace(f.at); f.Err != nil {
				f.Err = fmt.Errorf("%s: %w", f.File, f.Err)
			}
		}
		if !f.Same && f.Err == nil {
			f.Err = x.write(ctx, f, t, r, o)
		}
		files = append(files, *f)
	}
	return files, nil
}

// dirOf returns the directory of a table.
func (x *Exporter) dirOf(format, table string) tableDir {
	return tableDir{x.dir, format, table, filepath.Join(format, table)}
}

// version changes when a file would be another although the recording is the same.
const version = 5

func (r Recording) made(o *recordings.Opened) string {
	f := r.Format()
	return r.madeBeside(f.BesideSum(o.Head))
}

// madeBeside is made of a recording with this sum of what lies beside it.
func (r Recording) madeBeside(sum string) string {
	return fmt.Sprintf("%d.%d %s %s", version, indexfile.Layout, r.Format().Variant, sum)
}

func (r Recording) shownPath() string { return string([]rune(r.Path)) }

func (r Recording) stamp() string { return hex.EncodeToString(r.Stamp().Append(nil)) }

// sumOf returns what tells the bytes of a recording, "" if it is a directory.
func sumOf(ctx context.Context, o *recordings.Opened) (string, error) {
	s, err := o.Seal(ctx)
	if err != nil || s.Length == 0 {
		return "", err
	}
	return fmt.Sprintf("%d-%016x", s.Length, s.Sum), nil
}

// isSame reports whether a line is of the recording as it is now: by its stamp, or else by its
// bytes.
func (r Recording) isSame(l line, made string, sum func() (string, error)) (bool, error) {
	if l.Recording != r.shownPath() || l.Made != made {
		return false, nil
	}
	if b, err := hex.DecodeString(l.Stamp); err == nil && len(b) == formats.StampSize && r.Stamp().Same(formats.ReadStamp(b)) {
		return true, nil
	}
	if l.Sum == "" {
		return false, nil
	}
	now, err := sum()
	return err == nil && l.Sum == now, err
}

// write writes a table.
func (x *Exporter) write(ctx context.Context, f *File, m *columnar.Maker, r Recording, o *recordings.Opened) error {
	t, err := m.Make(ctx)
	if err != nil {
		return err
	}
	sum, err := sumOf(ctx, o)
	if err != nil {
		return err
	}
	k, err := o.Summary(ctx)
	if err != nil {
		return err
	}
	t = t.WithOrigin(r.Format().Timeless, originOf(r.shownPath(), k.Start))
	f.Rows, f.Size = new(int64), new(int64)
	for i := range t.Groups {
		*f.Rows += int64(t.Groups[i].Rows)
	}
	return x.dir.write(f.at, r.Mode, func(out *outfile.File) (err error) {
		*f.Size, err = x.z.WriteTable(ctx, x.c, out, &t, append(parquet.Metadata(r.Format().Name, t.Name, o.Name),
			parquet.Pair{Key: pathKey, Value: r.shownPath()}, parquet.Pair{Key: stampKey, Value: r.stamp()},
			parquet.Pair{Key: sumKey, Value: sum}, parquet.Pair{Key: madeKey, Value: r.made(o)})...)
		return err
	})
}

// originOf returns what the rows of a recording tell of it that began at a time, nil for none.
func originOf(at string, start *time.Time) columnar.Origin {
	if start == nil || !formats.HasDate(*start) {
		return columnar.Origin{Path: at}
	}
	return columnar.Origin{Path: at, Start: start.UnixMicro(), Dated: true}
}

// A Shard is one of several parts of equal size, about, of all recordings.
type Shard struct{ I, N int } // 1 to N of N

// Has reports whether the recording at a path is in the shard: by the first 32 bits of the SHA-256
// of that.
func (s Shard) Has(at string) bool {
	sum := sha256.Sum256([]byte(at))
	return int64(binary.BigEndian.Uint32(sum[:]))%int64(s.N) == int64(s.I-1)
}

// Places are those that files of recordings have, by their hashes.
type Places map[[8]byte]struct{}

// Add adds the place of a recording of a format.
func (s Places) Add(format, at string) { s[placeKey(format, parquet.EscapePath(at))] = struct{}{} }

// has reports whether a file is that of a recording of a format.
func (s Places) has(format, place string) bool {
	_, ok := s[placeKey(format, place)]
	return ok
}

func placeKey(format, place string) [8]byte {
	sum := sha256.Sum256([]byte(format + "/" + place))
	return [8]byte(sum[:])
}
