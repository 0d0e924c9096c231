package catalogue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/container"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/internal/ledger"
	"recfs/formats/internal/parquet"
	"recfs/formats/internal/wire"
	"recfs/formats/recordings"
)

// A Summary is what is known of a recording without decoding it: from its
// header, and from its index.json if that was made before. A null is not known.
type Summary struct {
	Path       string   `json:"path"`
	PathHex    string   `json:"path_hex,omitempty"` // if the path is not UTF-8
	Format     string   `json:"format"`
	Indexed    bool     `json:"indexed"` // nothing is null for want of an index
	Start      *string  `json:"start"`   // RFC 3339
	DurationMS *int64   `json:"duration_ms"`
	Ticks      *int64   `json:"ticks"`
	Map        *string  `json:"map"`     // or world
	Players    []string `json:"players"` // nil if unknown, not empty
	Size       int64    `json:"size"`
	Modified   string   `json:"modified"`
	Complete   *bool    `json:"complete"`
	Finished   *bool    `json:"finished"`
	Problems   *int64   `json:"problems"`
	Error      string   `json:"error,omitempty"` // it does not open, or could not be read this time

	Outcome `json:"-"`

	Tables []string `json:"-"` // the names of those that it has
}

// An Outcome is what the index tells that is in no document.
type Outcome struct {
	Runners []formats.Runner // nil if they are not known or the format has none
	Result  string           // of formats.Summary
}

// Unread tells whether the error is of reading, which may be better next
// time. Without a Format there is then a directory or file of which nothing
// is known.
func (s *Summary) Unread() bool { return s.Error != "" && s.Complete == nil }

// IsContainer tells whether this is a damaged container, from which recordings may be missing.
func (s *Summary) IsContainer() bool {
	return s.Error != "" && slices.Contains(container.Formats(), s.Format)
}

// Place returns the path as it is in the mount.
func (s *Summary) Place() string { return formats.ExactName(s.Path, s.PathHex) }

// A digest is the part of a Summary that the documents of a recording say,
// its index.json among them. It is kept on disk once that was made.
type digest struct {
	Seal   formats.Seal // of the index
	Tables []ledger.Table
	Beside string `json:",omitempty"` // see besideOf
	Outcome
	Summary Summary
}

// cost is about what a digest counts for in the cache.
func (d *digest) cost() int64 {
	n := int64(2<<10 + len(d.Result))
	for i := range d.Tables {
		n += int64(128 + len(d.Tables[i].Pieces) + len(d.Tables[i].Rows))
	}
	for _, name := range d.Summary.Players {
		n += int64(32 + len(name))
	}
	const runner, name, run = 64, 48, 96 // with their texts
	for _, who := range d.Runners {
		n += int64(runner + name*len(who.Names) + run*len(who.Runs))
	}
	return n
}

// layout is the number of all that the catalogue keeps. Digests are made of indexes and have sizes
// of tables, so the numbers of both are in it, a byte each. The first one is raised when the lines,
// the digests or records change otherwise.
const layout = 24<<16 | indexfile.Layout<<8 | parquet.LayoutNumber

// DigestPlace is where the digest of a recording is on disk; nil: none is kept.
func DigestPlace(r archive.Recording) cache.Place {
	f := r.Format()
	return r.Kept(fmt.Sprintf("summary-%x-%s", layout, f.Name), f.Variant)
}

func loadDigest(ctx context.Context, r archive.Recording) (digest, int64, error) {
	k, err := r.Summary(ctx)
	if err != nil {
		return digest{}, 0, err
	}
	o, err := r.Open(ctx)
	if err != nil {
		return digest{}, 0, err
	}
	d := digest{Tables: tablesOf(o), Beside: besideOf(ctx, r, o), Outcome: Outcome{k.Runners, k.Result}}
	if d.Seal, err = o.Seal(ctx); err != nil {
		return digest{}, 0, err
	}
	d.Summary.take(k, true)
	if err := measure(ctx, r, o, d.Summary.Start, d.Tables); err != nil {
		return digest{}, 0, err
	}
	return d, d.cost(), nil
}

func encodeDigest(d digest) []byte {
	b, err := json.Marshal(d)
	if err != nil {
		return nil
	}
	return wire.Pack(b)
}

// maxDigest is how many bytes a digest has before compression at most: with the rows of a few
// tables.
const maxDigest = 4 * maxRowBytes

func decodeDigest(b []byte) (d digest, err error) {
	if b, err = wire.Unzstd(b, maxDigest); err == nil {
		err = json.Unmarshal(b, &d)
	}
	return d, err
}

// resumeDigest returns a saved digest. Where the file may be another one of the same size, or what
// lies beside it is another, it is made again, for which the format compares the bytes with its own
// index.
func resumeDigest(ctx context.Context, r archive.Recording, b []byte) (digest, int64, error) {
	d, err := decodeDigest(b)
	if err != nil {
		return digest{}, 0, err
	}
	in := formats.Input{Stamp: r.Stamp(), Content: r.Content()}
	switch {
	case !d.sound(), d.Seal.Stamp.Size != in.Stamp.Size:
		return digest{}, 0, formats.ErrOther
	case in.Sealed(ctx, d.Seal) && !besideChanged(ctx, r.Archive(), r.Path(), d.Beside):
		return d, d.cost(), nil
	}
	return loadDigest(ctx, r)
}

// sound reports whether a saved digest says what documents say, and no more: the rest of a line is
// known of the file.
func (d *digest) sound() bool {
	s := &d.Summary
	return s.Indexed && s.Path == "" && s.PathHex == "" && s.Format == "" && s.Size == 0 && s.Modified == "" && s.Error == "" &&
		s.Problems != nil && *s.Problems >= 0 && soundTables(d.Tables) && soundRunners(d.Runners)
}

// open opens a recording for itself alone and takes what its header says, or that it does not open,
// and the names of its tables. ok is false if it could not be read this time.
func (s *Summary) open(ctx context.Context, r archive.Recording, c *cache.Cache) (tables []ledger.Table, ok bool) {
	o, err := r.OpenWith(ctx, c)
	if err == nil {
		tables = tablesOf(o)
	}
	missing, unread := (*cache.NotSavedError)(nil), (*formats.UnreadError)(nil)
	switch {
	case err == nil:
		k, _ := o.HeadSummary(ctx) // of an error there is less
		s.take(k, false)
	case errors.As(err, &missing): // a large one under compression: nothing is known
	case ctx.Err() != nil:
		return nil, false
	case errors.As(err, &unread):
		s.Error, s.Problems = readReason(unread.Err), new(int64(1))
		return nil, false
	default:
		s.Error = formats.OneLine(err.Error())
		s.Indexed, s.Complete, s.Problems = true, new(false), new(int64(1)) // there is no index to make
	}
	return tables, true
}

// unreadNulls puts null where a Summary of which nothing is known has no other way to say so.
var unreadNulls = strings.NewReplacer(`"format":""`, `"format":null`, `"size":0`, `"size":null`, `"modified":""`, `"modified":null`)

// readReason is why something could not be read, without its path.
func readReason(err error) string {
	if p, ok := errors.AsType[*iofs.PathError](err); ok {
		err = p.Err
	}
	return formats.OneLine(err.Error())
}

// ContainerSummary returns the Summary of a damaged container called at (docs/tree/README.md
// section 3).
func ContainerSummary(at string, d archive.Description, problems []formats.Problem) Summary {
	return Summary{
		Path: at, PathHex: formats.HexOf(at), Format: d.Format, Indexed: true,
		Size: d.Stored, Modified: d.Time.UTC().Format(time.RFC3339Nano),
		Complete: new(false), Problems: new(int64(len(problems))), Error: problems[0].Message,
	}
}

// containerLine returns the line of a container, "" if it is not damaged.
func containerLine(at string, c archive.Container, problems []formats.Problem) string {
	if len(problems) == 0 {
		return ""
	}
	return ContainerSummary(at, c.Describe(), problems).line()
}

// line returns the line of recordings.jsonl.
func (s Summary) line() string {
	b, err := jsonenc.AppendMarshal(nil, s)
	if err != nil {
		return ""
	}
	if s.Format == "" {
		return unreadNulls.Replace(string(b)) + "\n"
	}
	return string(b) + "\n"
}

// take takes what is known of a recording: without an index what its header says.
func (s *Summary) take(k formats.Summary, indexed bool) {
	s.Ticks, s.Map, s.Players = k.Ticks, k.Map, k.Players
	if k.Start != nil {
		s.Start = new(k.Start.UTC().Format(time.RFC3339Nano))
	}
	if n := count(k.HeaderProblems); n > 0 {
		s.Problems = &n
	}
	if !indexed {
		return
	}
	s.Indexed, s.Complete, s.Finished, s.Problems = true, &k.Complete, &k.Finished, new(count(k.Problems))
	if k.Duration != nil {
		s.DurationMS = new(k.Duration.Milliseconds())
	}
	if s.Players == nil {
		s.Players = []string{} // there were none
	}
}

func count(problems iter.Seq[formats.Problem]) (n int64) {
	if problems != nil {
		for range problems {
			n++
		}
	}
	return n
}

// text returns the outcome of a recording as a record has it: JSON, or "" if nothing is known.
func (o Outcome) text() string {
	if o.Runners == nil && o.Result == "" {
		return ""
	}
	b, err := json.Marshal(o)
	if err != nil {
		return ""
	}
	return string(b)
}

// outcomeOf reads what text made.
func outcomeOf(text string) (o Outcome, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &o)
	}
	return o, err
}

// soundRunners reports whether saved runs are no more than a Summary has, with demos below the
// recording.
func soundRunners(list []formats.Runner) bool {
	n := 0
	for _, who := range list {
		n += len(who.Runs)
		if slices.ContainsFunc(who.Runs, func(r formats.Run) bool { return r.Demo != "" && !iofs.ValidPath(r.Demo) }) {
			return false
		}
	}
	return n <= formats.MaxRuns
}

// besideOf returns on which files beside a recording all that is known of it depends, "" where its
// format does not tell: their sum (see [archive.Archive.BesideSum]) and their names. They are
// looked at after the recording was opened: if they change in between, its index is made when it
// is read.
func besideOf(ctx context.Context, r archive.Recording, o *recordings.Opened) string {
	names, ok := o.BesideFiles()
	if !ok {
		return ""
	}
	return joinBeside(ctx, r.Archive(), r.Path(), names)
}

func joinBeside(ctx context.Context, v *archive.Archive, name string, names []string) string {
	sum := strconv.FormatUint(v.BesideSum(ctx, name, names), 16)
	return strings.Join(append([]string{sum}, names...), "\x00")
}

// besideChanged reports whether what lies beside the recording called name is not what it was.
func besideChanged(ctx context.Context, v *archive.Archive, name, was string) bool {
	return was != "" && joinBeside(ctx, v, name, strings.Split(was, "\x00")[1:]) != was
}
