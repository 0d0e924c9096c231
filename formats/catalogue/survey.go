package catalogue

import (
	"context"
	"encoding/hex"
	"time"

	"recfs/cache"
	"recfs/formats/archive"
	"recfs/formats/internal/ledger"
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
