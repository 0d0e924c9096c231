package formats

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"recfs/cache"
	"recfs/nodes"
)

// CatalogueName is the file at the root of an archive that has one line for
// each recording. It opens by name and is not listed.
const CatalogueName = "recordings.jsonl"

// A Summary is what is known of a recording without decoding it: from its
// header, and from its index.json if that was made before. A null is not known.
type Summary struct {
	Path       string   `json:"path"`
	PathHex    string   `json:"path_hex,omitempty"` // if the path is not UTF-8
	Format     string   `json:"format"`
	Start      *string  `json:"start"` // RFC 3339
	DurationMS *int64   `json:"duration_ms"`
	Ticks      *int64   `json:"ticks"`
	Map        *string  `json:"map"` // or world
	Players    []string `json:"players"`
	Size       int64    `json:"size"`
	Modified   string   `json:"modified"`
	Complete   *bool    `json:"complete"`
	Finished   *bool    `json:"finished"`
	Problems   *int64   `json:"problems"`
	Error      string   `json:"error,omitempty"` // it does not open, or could not be read this time
}

// Unread tells whether the error is of reading, which may be better next
// time. Without a Format there is then a directory or file of which nothing
// is known.
func (s *Summary) Unread() bool { return s.Error != "" && s.Complete == nil }

// Summaries returns the recordings below dir, an archive or a directory of
// one, in the order of a walk, with paths relative to dir. What was found in
// a whole archive is kept in the disk cache, so that the next time only what
// is new or changed is opened.
func Summaries(ctx context.Context, dir nodes.Dir) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		lines, err := summaryLines(ctx, dir)
		if err != nil {
			yield(Summary{}, err)
			return
		}
		for line := range bytes.Lines(bytes.Join(lines, nil)) {
			var s Summary
			err := json.Unmarshal(line, &s)
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

func summaryLines(ctx context.Context, dir nodes.Dir) ([][]byte, error) {
	dir, err := actual(ctx, dir)
	if err != nil {
		return nil, err
	}
	switch d := dir.(type) {
	case folder:
		return d.a.catalogue(ctx, d)
	case fixed:
		return d.d.a.catalogue(ctx, d)
	case recording:
		return d.a.catalogue(ctx, d)
	case nested:
		return d.a.catalogue(ctx, d)
	}
	return nil, errors.ErrUnsupported
}

// A catalogueFile is recordings.jsonl as it was at one moment.
type catalogueFile struct{ nodes.File }

// catalogueEntry returns the entry of recordings.jsonl. Two of equal content
// have equal Files.
func (a *archive) catalogueEntry(ctx context.Context) (nodes.Entry, error) {
	lines, err := a.catalogue(ctx, folder{a, ".", ""})
	if err != nil {
		return nodes.Entry{}, err
	}
	b := bytes.Join(lines, nil)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lastLines == nil || !bytes.Equal(a.lastBytes, b) {
		a.lastBytes, a.lastLines, a.lastTime = b, nodes.Bytes(b), time.Now()
	}
	return nodes.Entry{Name: CatalogueName, Attr: nodes.Attr{Time: a.lastTime}, File: catalogueFile{a.lastLines}}, nil
}

// A record is what the catalogue on disk has of a path.
type record struct {
	path    string
	stamp   Stamp
	pending string // the names, pendingSep between them, of what on disk would tell more
	lines   []byte // of recordings.jsonl: of a container all that it holds
	open    bool   // the lines are still to be made, or say what may pass
}

// pendingSep is in no name of a file on disk.
const pendingSep = "\x00"

// catalogueName names the catalogue in the disk cache; "": there is none.
func (a *archive) catalogueName() string {
	if a.opt.Disk == nil || a.depth > 0 || a.base() == "" {
		return ""
	}
	h := sha256.New()
	fmt.Fprintln(h, a.base(), a.opt.Sniff)
	for _, f := range a.list {
		fmt.Fprintln(h, f.Name, f.Extensions, f.Variant)
	}
	return fmt.Sprintf("catalogue %x", h.Sum(nil))
}

// catalogueVersion changes when the lines, the digests or their encoding do.
const catalogueVersion = 5

// loadRecords returns the catalogue on disk by path.
func (a *archive) loadRecords() map[string]record {
	records := map[string]record{}
	name := a.catalogueName()
	if name == "" {
		return records
	}
	b, ok := a.opt.Disk.Load(name)
	if !ok || len(b) == 0 || b[0] != catalogueVersion {
		return records
	}
	text := string(b[1:])
	next := func() string {
		n, size := binary.Uvarint([]byte(text[:min(binary.MaxVarintLen64, len(text))]))
		if size <= 0 || n > uint64(len(text)-size) {
			text = ""
			return ""
		}
		field := text[size:][:n]
		text = text[size+int(n):]
		return field
	}
	for text != "" {
		r := record{path: next()}
		stamp := next()
		if len(stamp) != stampSize {
			return map[string]record{}
		}
		r.stamp, r.pending, r.lines = readStamp([]byte(stamp)), next(), []byte(next())
		records[r.path] = r
	}
	return records
}

func (a *archive) saveRecords(records []record) {
	name := a.catalogueName()
	if name == "" {
		return
	}
	b := []byte{catalogueVersion}
	for _, r := range records {
		for _, field := range []string{r.path, string(r.stamp.Append(nil)), r.pending, string(r.lines)} {
			b = binary.AppendUvarint(b, uint64(len(field)))
			b = append(b, field...)
		}
	}
	a.opt.Disk.Save(name, b)
}

// catalogueCache is the memory for opening recordings to summarise them.
const catalogueCache = 8 << 20

// catalogue returns the lines of what is below dir, a directory of a: those
// of recordings.jsonl if that is all of it.
func (a *archive) catalogue(ctx context.Context, dir nodes.Dir) ([][]byte, error) {
	select {
	case a.scanning <- struct{}{}:
		defer func() { <-a.scanning }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var disk cache.Store
	var saved func(string) bool
	if a.opt.Disk != nil {
		disk, saved = a.opt.Disk, a.opt.Disk.Lookup()
	}
	s := &scan{a: a, saved: saved, c: cache.New(catalogueCache, disk)}
	defer s.c.Close()
	whole := dir == nodes.Dir(folder{a, ".", ""})
	if whole {
		s.old = a.loadRecords()
	}
	err := s.run(ctx, dir, "")
	if whole {
		keep := slices.DeleteFunc(slices.Clone(s.records), func(r record) bool { return r.open })
		if s.changed || len(keep) != len(s.old) {
			a.saveRecords(keep)
		}
	}
	if err != nil {
		return nil, err
	}
	lines, _ := s.lines()
	return lines, nil
}
