// Package formats is the contract between recording formats and the rest of
// the program: what a format tells of itself ([Format]), what it is given
// ([Input]), and how it says where decoding stopped ([Error]).
package formats

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"iter"
	"slices"
	"strings"
	"time"

	"recfs/cache"
	"recfs/formats/columnar"
	"recfs/nodes"
)

// HeadSize is how many first bytes of a file Match is shown at most.
const HeadSize = 512

// NamedSize is how many first bytes of a file MatchNamed is shown: few, as lists of containers keep
// them.
const NamedSize = 16

// UnknownSize is the Size of a compressed source that was not yet read to
// its end. Only formats with Streams see it.
const UnknownSize = -1

// A Format recognises one kind of recording and opens it as a tree.
type Format struct {
	Name       string   // as in --format, logs and errors
	Called     string   // what users call it, which --format takes, too; "": nothing else
	Extensions []string // ".teehistorian"; a listing goes by these and opens nothing

	// Match tells from the first bytes (up to HeadSize) whether a file whose
	// name says nothing is a recording.
	Match func(head []byte) bool

	// MatchNamed, if set, must agree before a file with one of the
	// Extensions counts as a recording: for an extension that others use too.
	// It is shown the first NamedSize bytes, or all of a shorter file.
	MatchNamed func(head []byte) bool

	// Segments, if set, says which directories are recordings; nil: none is.
	Segments *Segments

	// Streams says that Open copes with an Input of UnknownSize.
	Streams bool

	// Variant tells apart what the options of the format make of the same
	// recording. It is part of the name under which a result is kept on disk.
	Variant string

	// Timeless says that a recording is none of a game: it never has a start,
	// a length, a map or players.
	Timeless bool

	// Single names the tables all of whose rows an Index has. Of them there is one file for all
	// recordings of an archive (docs/tree/tables.md section 9).
	Single []columnar.Table // names and columns

	// HoldsBack says that Tree shows less of an Input that is Running, which is a version of its own.
	HoldsBack bool

	// Runs, if set, returns all runs of players that an index tells. A Summary has the best of them.
	Runs func(x Index) []Runner

	// Demo, if set, returns the path of a demo in the tree of a recording. Its error is for people.
	Demo func(h Head, x Index, q DemoQuery) (Demo, error)

	// Things, if set, names what was there when a game was saved last; none was if it was not saved.
	Things func(ctx context.Context, tree nodes.Dir, x Index) (Things, error)

	// Compact, if set, writes what is whole of a recording as one file to out. scratch is empty.
	Compact func(ctx context.Context, rec Recording, out io.Writer, scratch Scratch, opt CompactOptions) (*CompactReport, error)

	// Parts tell by which parts two recordings are compared, if they are not by ticks.
	Parts PartsReader

	// Needs tell which other files a recording was made with.
	Needs NeedsReader

	// Open reads the head of a recording: the header and tables, and what it
	// takes to know how to read the rest. If in is none of this format, or too
	// damaged to open, the error is an *Error and the archive shows it as
	// error.txt beside raw.
	Open func(ctx context.Context, in Input) (Head, error)

	// ReadHead returns the Head whose Append gave saved, without a look at the
	// bytes of in: they are the same ones. What lies beside the recording may
	// be others. An error means that Open is asked.
	ReadHead func(ctx context.Context, in Input, saved []byte) (Head, error)

	// Scan makes the index in one pass. earlier, if it is not nil, is the index
	// of a recording whose bytes, up to where its Reach is, are still the same:
	// Scan goes on from there, may change it, or fails with ErrOther to be asked
	// again without it.
	Scan func(ctx context.Context, in Input, h Head, earlier Index) (Index, error)

	// Prefixes says that Scan of the first bytes of a recording, however many after the head, makes
	// an index from which it goes on to the same that it makes of all bytes at once. So a pass that is
	// interrupted need not begin again. Size of the Input is then that of the first bytes.
	Prefixes bool

	// ReadIndex returns the Index whose Append gave saved. It is a claim: a program that can write
	// to the cache can write anything. So it is held against itself, the head and the size of in,
	// but no byte of in is read. in.Size may be more than it was for the index.
	ReadIndex func(in Input, h Head, saved []byte) (Index, error)

	// Beside, if set, tells of what the index depends on that lies beside the recording, such as a
	// schema. It may change while the recording stays the same: then the index is made again.
	Beside *Beside

	// Steady, if set, returns r with zeros in place of what a writer changes in
	// the middle of a recording although its index stays right. An index is
	// tied to these bytes.
	Steady func(h Head, r ReaderAt) ReaderAt

	// Tree returns the tree of a recording, and what returns the tables that its directory tables/
	// shows (docs/tree/tables.md), the same ones each time; nil: it has none. It reads nothing.
	Tree func(rec Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker)

	// Summary returns what a person wants to know first: with an Index all, with
	// nil what the head says.
	Summary func(ctx context.Context, rec Recording, x Index) (Summary, error)
}

// SingleTable returns the one of Single that has a name, nil if there is none.
func (f *Format) SingleTable(name string) *columnar.Table {
	if i := slices.IndexFunc(f.Single, func(t columnar.Table) bool { return t.Name == name }); i >= 0 {
		return &f.Single[i]
	}
	return nil
}

// Segments are a recording that is a directory of files.
type Segments struct {
	// File is the name of a file that makes the directory it is in a recording.
	File string

	// Match, if set, must agree before a directory with the File counts as a recording: for a name
	// that others use too. It sees the first bytes of the File and the names of all files.
	Match func(head []byte, names iter.Seq[string]) bool
}

// Beside is what lies beside recordings and an index depends on.
type Beside struct {
	// Sum names what lies there.
	Sum func(h Head) string

	// Files names the files in the Folder of a recording, there or not, on whose versions Sum depends,
	// and with a / in front those in any of Elsewhere. ok is false if it depends on others, too.
	Files func(in Input, h Head) (names []string, ok bool)

	// Elsewhere are directories that are not in the source and have such files.
	Elsewhere []Folder
}

// BesideSum returns the Sum of what lies beside a recording, "" if its index depends on none of
// that.
func (f *Format) BesideSum(h Head) string {
	if f.Beside == nil {
		return ""
	}
	return f.Beside.Sum(h)
}

// A ReaderAt reads bytes of a source in the context of an operation.
type ReaderAt = nodes.ReaderAt

// BytesReader returns a ReaderAt of bytes in memory.
func BytesReader(b []byte) ReaderAt { return nodes.BytesContent(b) }

// At binds r to the context of one operation, which the result must not outlive.
func At(ctx context.Context, r ReaderAt) io.ReaderAt { return nodes.At(ctx, r) }

// A Folder has the files beside a recording. It follows links to them.
type Folder interface {
	// Open returns the file with a slash-separated name. The error is ErrNoFile if that is a directory
	// or what else is no file.
	Open(ctx context.Context, name string) (File, error)
}

// ErrNoFile says that a name stands for something that is no file.
var ErrNoFile = errors.New("it is no regular file")

// A File is one version of a file. It holds nothing open.
type File struct {
	ReaderAt
	Name  string
	Stamp Stamp
}

// All returns all bytes of the file.
func (f File) All(ctx context.Context) ([]byte, error) { return nodes.ReadAll(ctx, f.Node()) }

// Node returns the file as one of a tree.
func (f File) Node() nodes.File { return nodes.Section(f.ReaderAt, 0, f.Stamp.Size) }

// Files are the regular files of a recording that is a directory, and links to such files. They are
// sorted by name.
type Files []File

// Open implements Folder.
func (l Files) Open(_ context.Context, name string) (File, error) {
	i, ok := slices.BinarySearchFunc(l, name, func(f File, name string) int { return strings.Compare(f.Name, name) })
	if !ok {
		return File{}, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrNotExist}
	}
	return l[i], nil
}

// An Input is the bytes of one recording at one version (name, size, time).
// Only the ReaderAt varies: a local file, a decompressed view of one, a
// bytes.Reader in tests.
type Input struct {
	nodes.ReaderAt           // the bytes of the recording, without outer compression; nil for a directory
	Name           string    // of the file or directory
	Size           int64     // bytes in ReaderAt, or UnknownSize
	Stored         int64     // bytes of the file as it lies there
	ModTime        time.Time // of the file; for a directory that of the File of its Segments
	Stamp          Stamp     // of the file, for Seal; zero: nothing is known of it
	Content        *Content  // for names of durable indexes; nil: keep none

	// Files are those of a recording that is a directory.
	Files Files
	// Beside is where the recording was found, or its Files; nil: nowhere.
	Beside Folder

	// Raw is the file as it lies there, if ReaderAt is a decompressed view
	// of it, else nil.
	Raw nodes.ReaderAt
	// Grows says that the program that writes the file may add to it: what it shows that can only
	// become longer is an entry that grows, too.
	Grows bool
	// Running says that somebody seems to be adding to the file at present. What the next bytes may
	// still change is held back where an entry grows.
	Running bool

	// Measure returns the size of an Input of UnknownSize, reading it to
	// its end; nil otherwise.
	Measure func(ctx context.Context) (int64, error)
}

// SourceInfo is the object "source" of header.json.
type SourceInfo struct {
	Name     string `json:"name"`
	NameHex  string `json:"name_hex,omitempty"` // if the name is not UTF-8
	Size     int64  `json:"size"`
	Modified string `json:"modified"`
}

// Info returns what header.json tells of the source.
func (s Input) Info() SourceInfo {
	return SourceInfo{s.Name, HexOf(s.Name), s.Stored, s.ModTime.UTC().Format(time.RFC3339Nano)}
}

// HasDate reports whether t lies in the years 1 to 9999. A time that does not is shown nowhere.
func HasDate(t time.Time) bool { return nodes.HasDate(t) }

// Place returns where an index of the recording is kept on disk, nil if it is not. kind is the name
// of the format, or what else is kept, and variant what the index depends on besides the bytes of
// the recording, such as an option; it may be empty.
func (s Input) Place(kind, variant string) cache.Place {
	if variant != "" {
		kind += "-" + variant
	}
	if s.Raw != nil { // the same bytes may lie there as they are
		kind += " unpacked"
	}
	return s.Content.At(kind)
}

// Sealed reports whether what has a seal is of these bytes for sure.
func (s Input) Sealed(ctx context.Context, seal Seal) bool {
	return seal.Stamp.Same(s.Stamp) || s.Content.Holds(ctx, seal)
}

// RawEntry returns the entry raw of a recording that is a file: its bytes as
// they lie there.
func (s Input) RawEntry() nodes.Entry {
	e := nodes.Entry{Name: "raw", Grows: s.Grows}
	if s.Raw != nil {
		e.File = nodes.Section(s.Raw, 0, s.Stored)
	} else {
		e.File = nodes.Section(s.ReaderAt, 0, s.Stored)
	}
	return e
}

// Timed gives the entries of a recording that is a directory the time of the Input.
func (s Input) Timed(entries []nodes.Entry) []nodes.Entry {
	for i := range entries {
		if s.ReaderAt == nil {
			entries[i].Time = s.ModTime
		}
	}
	return entries
}

// Length returns the number of bytes in the source, reading it to its end if
// that is the only way to know.
func (s Input) Length(ctx context.Context) (int64, error) {
	if s.Size == UnknownSize {
		return s.Measure(ctx)
	}
	return s.Size, nil
}

// At returns the bytes of the recording for one operation, whose context ends
// the reads.
func (s Input) At(ctx context.Context) io.ReaderAt { return nodes.At(ctx, s.ReaderAt) }
