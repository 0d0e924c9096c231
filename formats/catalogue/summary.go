package catalogue

import (
	"context"
	"encoding/json"
	"errors"
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

// layout is the number of all that the catalogue keeps. Records are made of indexes and have sizes
// of tables, so the numbers of both are in it, a byte each. The first one is raised when the lines
// or records change otherwise.
const layout = 25<<16 | indexfile.Layout<<8 | parquet.LayoutNumber

// A digest is what is known of a recording as it is, without a pass over it.
type digest struct {
	Summary
	tables  []ledger.Table
	beside  string // see besideOf
	pending string // the name of the index that would tell more; "": there is none to wait for
	unread  bool   // the recording could not be read this time
}

// digestPeak is about what it takes to make a digest, besides what is charged for rows.
const digestPeak = 2 << 20

// digestOf opens a recording for itself alone and returns what its index says, or its header if
// there is no index, or that it does not open.
func digestOf(ctx context.Context, r archive.Recording, c *cache.Cache) (d digest) {
	o, err := r.OpenWith(ctx, c)
	missing, unread := (*cache.NotSavedError)(nil), (*formats.UnreadError)(nil)
	switch {
	case err == nil:
		d.takeOpened(ctx, r, o)
	case errors.As(err, &missing): // a large one under compression: nothing is known
		d.pending = missing.Name
	case errors.As(err, &unread):
		d.Error, d.Problems, d.unread = readReason(unread.Err), new(int64(1)), true
	default:
		d.Error = formats.OneLine(err.Error())
		d.Indexed, d.Complete, d.Problems = true, new(false), new(int64(1)) // there is no index to make
	}
	return d
}

// takeOpened takes what a recording says that opens.
func (d *digest) takeOpened(ctx context.Context, r archive.Recording, o *recordings.Opened) {
	d.tables = tablesOf(o)
	k, err := o.Summary(ctx)
	if err == nil {
		known := digest{tables: slices.Clone(d.tables), beside: besideOf(ctx, r, o)}
		known.Outcome = Outcome{k.Runners, k.Result}
		known.take(k, true)
		if err = measure(ctx, r, o, known.Start, known.tables); err == nil {
			*d = known
			return
		}
		k, _ = o.HeadSummary(ctx)
	}
	if missing, ok := errors.AsType[*cache.NotSavedError](err); ok {
		d.pending = missing.Name
	}
	d.take(k, false) // of an error there is less
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
