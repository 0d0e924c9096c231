package catalogue

import (
	"context"

	"recfs/cache"
	"recfs/formats/archive"
	"recfs/formats/internal/ledger"
	"recfs/nodes"
)

// A survey is what is known of the recordings of an archive at one moment. It
// does not change.
type survey struct {
	*ledger.List
	pages  *ledger.Pages
	state  string // of the disk cache before what is pending was looked for
	doubts int64  // of the catalogue then
	watch  watchlist
}

// holds reports whether s need not be made again.
func (s *survey) holds(ctx context.Context, view archive.View, disk *cache.Disk) bool {
	return s.Len() >= manyRecords && s.watch.holds(ctx, view) &&
		(disk == nil || s.state == disk.State())
}

// cost is about what a survey keeps alive.
func (s *survey) cost() int64 {
	if s == nil {
		return 0
	}
	return s.Cost() + int64(len(s.state)+256) + s.watch.cost()
}

// content returns recordings.jsonl.
func (s *survey) content() nodes.Content {
	p := nodes.NewPieces(func(ctx context.Context, i int) ([]byte, error) {
		page, err := s.Page(ctx, s.pages, i)
		if err != nil {
			return nil, err
		}
		lines := make([]byte, 0, s.LinesOf(i))
		for j := range page {
			lines = append(lines, page[j].Line...)
		}
		return lines, nil
	})
	for i := range s.Blocks() {
		p.Add(s.LinesOf(i))
	}
	return p
}
