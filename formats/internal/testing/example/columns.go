package example

import (
	"slices"

	"recfs/formats/columnar"
)

// columns are those of the table scores.
var columns = slices.Concat(
	columnar.Required(columnar.Int64, "tick"), columnar.Required(columnar.Text, "player"), columnar.Required(columnar.Int32, "score"),
)

// row adds a line to the table.
func (s score) row(b *columnar.Batch) {
	b.Int64(s.Tick)
	b.Text(s.Player)
	b.Int32(s.Score)
}
