package example

import (
	"slices"

	"recfs/formats/columnar"
)

// The tables. All rows of scores are in the index, those of changes are counted there.
const (
	changesTable = "changes"
	scoresTable  = "scores"
)

var (
	scoresColumns  = slices.Concat(columnar.Required(columnar.Text, "player"), columnar.Required(columnar.Int32, "score"))
	changesColumns = append(columnar.Required(columnar.Int64, "tick"), scoresColumns...)
)

// row adds the record now to the table changes.
func (r *records) row(b *columnar.Batch) {
	b.Int64(r.now.Tick)
	b.Text(r.names[r.now.Player])
	b.Int32(r.now.Points)
}

// row adds a row to the table scores.
func (s *standing) row(b *columnar.Batch) {
	b.Text(s.Player)
	b.Int32(s.Points)
}
