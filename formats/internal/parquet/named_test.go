package parquet

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"recfs/formats/columnar"
)

// TestNamedSize holds that what a file is said to have is enough for any path, and not much more.
func TestNamedSize(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var columns []columnar.Column
		for i := range 1 + random.IntN(70) {
			name := fmt.Sprint("column", i)
			columns = append(columns, [][]columnar.Column{
				columnar.Required(columnar.Int64, name), columnar.Optional(columnar.Bool, name), columnar.OneOf(name, true, "a", "b"),
			}[random.IntN(3)]...)
		}
		table := columnar.Table{Name: "rows", Columns: columns}
		for range random.IntN(4) {
			g := columnar.Group{Rows: 1 + random.IntN(1<<random.IntN(20)), Columns: make([]columnar.Counts, len(columns))}
			table.Groups = append(table.Groups, g)
		}
		o := columnar.Origin{Path: strings.Repeat("p", random.IntN(1<<random.IntN(15))), Start: 1, Dated: random.IntN(2) > 0}
		if random.IntN(2) > 0 {
			o.Path += "/" + strings.Repeat("n", 1+random.IntN(400))
		}
		l, err := newNamedLayout(table, "format", false, o)
		if err != nil {
			t.Fatalf("%d columns, %d groups, a path of %d bytes: %v", len(columns), len(table.Groups), len(o.Path), err)
		}
		if most := int64(len(table.Groups)) * int64(2*block+4*len(columns)+64); l.zeros > most {
			t.Errorf("%d zeros, more than %d", l.zeros, most)
		}
	}
}
