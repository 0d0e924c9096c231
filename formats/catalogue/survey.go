package catalogue

import (
	"context"
	"encoding/hex"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"recfs/cache"
	"recfs/formats/archive"
	"recfs/formats/columnar"
	"recfs/formats/internal/ledger"
	"recfs/formats/internal/parquet"
	"recfs/formats/recordings"
	"recfs/nodes"
)

// A survey is what is known of the recordings of an archive at one moment. It
// does not change.
type survey struct {
	file
	since time.Time // when the records were found to be these first; zero: they are those of the disk
	state string    // of the disk cache before what is pending was looked for
	watch watchlist
}

// holds reports whether s need not be made again.
func (s *survey) holds(ctx context.Context, view *archive.Archive, disk *cache.Disk) bool {
	return s.Len() >= manyRecords && s.rests(ctx, view, disk)
}

// rests reports whether nothing has changed, as far as not each file has to be looked at.
func (s *survey) rests(ctx context.Context, view *archive.Archive, disk *cache.Disk) bool {
	return view.Walk(ctx, ".") == nil && s.watch.holds(ctx, view) && (disk == nil || s.state == disk.State())
}

// cost is about what a survey keeps alive.
func (s *survey) cost() int64 {
	if s == nil {
		return 0
	}
	return s.Cost() + int64(len(s.state)+256) + s.watch.cost()
}

// A file is recordings.jsonl as it was at one moment. It is a value, equal to another of the same
// list.
type file struct {
	*ledger.List
	pages *ledger.Pages
}

// Version implements nodes.Versioned.
func (f file) Version(context.Context, string) (string, error) {
	sum := f.Sum()
	return hex.EncodeToString(sum[:]), nil
}

// records yields the records from a block on, with the block of each, and sets err to why it cannot
// go on.
func (f file) records(ctx context.Context, from int, err *error) iter.Seq2[int, *ledger.Record] {
	return func(yield func(int, *ledger.Record) bool) {
		for i := from; i < f.Blocks(); i++ {
			page, failed := f.Page(ctx, f.pages, i)
			if failed != nil {
				*err = failed
				return
			}
			for j := range page {
				if !yield(i, &page[j]) {
					return
				}
			}
		}
	}
}

// Size implements nodes.File.
func (f file) Size(context.Context) (int64, error) { return f.Lines(), nil }

// Open implements nodes.File.
func (f file) Open(context.Context) (nodes.Content, error) {
	p := nodes.NewPieces(func(ctx context.Context, i int) ([]byte, error) {
		page, err := f.Page(ctx, f.pages, i)
		if err != nil {
			return nil, err
		}
		lines := make([]byte, 0, f.Block(i).Lines())
		for j := range page {
			lines = append(lines, page[j].Line...)
		}
		return lines, nil
	})
	for i := range f.Blocks() {
		p.Add(f.Block(i).Lines())
	}
	return p, nil
}

const (
	patience  = 250 * time.Millisecond // with which somebody waits for all that is there now
	haste     = 20 * time.Millisecond  // the same in a large archive, of which enough is known
	lingering = 10 * time.Second       // for which a walk goes on that nobody asks about any more
)

// A walk looks at what is in an archive once.
type walk struct {
	done  chan struct{}
	s     *survey // once it is done
	err   error
	sofar atomic.Pointer[partial]
	idle  *time.Timer
	end   context.CancelFunc
}

// A partial is what a walk has found so far.
type partial struct {
	list *ledger.List
	rest []ledger.Record // behind the list
}

// tablesOf returns the tables that a recording has, sorted by name.
func tablesOf(o *recordings.Opened) (list []ledger.Table) {
	for _, t := range o.Tables() {
		list = append(list, ledger.Table{Name: t.Name, Size: ledger.Unknown})
	}
	slices.SortFunc(list, func(a, b ledger.Table) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// measure learns what the catalogue keeps of the tables of an indexed recording: their sizes,
// unless rows have to be made for that or depend on files beside it, and the rows of tables that
// one file has for all recordings. start is that of the recording.
func measure(ctx context.Context, r archive.Recording, o *recordings.Opened, start *string, list []ledger.Table) error {
	format := r.Format()
	for _, m := range o.Tables() {
		single := format.SingleTable(m.Name)
		sized := format.Beside == nil && (m.Counted == nil || m.Counted(ctx))
		if !sized && single == nil {
			continue
		}
		to := &list[slices.IndexFunc(list, func(t ledger.Table) bool { return t.Name == m.Name })]
		t, err := m.Make(ctx)
		if err == nil && sized {
			to.Groups = len(t.Groups)
			to.Size, err = parquet.BareSize(t, format.Name, format.Timeless, originOf("", start))
		}
		if err == nil && single != nil {
			err = keepRows(ctx, &t, single.Columns, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// originOf returns what each row tells of a recording at a path with a start, which may be nil.
func originOf(at string, start *string) columnar.Origin {
	o := columnar.Origin{Path: string([]rune(at))} // U+FFFD, as in recordings.jsonl
	if start != nil {
		if t, err := time.Parse(time.RFC3339Nano, *start); err == nil {
			o.Start, o.Dated = t.UnixMicro(), true
		}
	}
	return o
}

// soundTables reports whether saved tables are some that a recording may have.
func soundTables(list []ledger.Table) bool {
	for i, t := range list {
		name := strings.ContainsFunc(t.Name, func(c rune) bool { return (c < 'a' || c > 'z') && c != '_' })
		if t.Name == "" || name || t.Size < ledger.Unknown || t.Groups < 0 || t.Packed < 0 || i > 0 && list[i-1].Name >= t.Name {
			return false
		}
	}
	return true
}
