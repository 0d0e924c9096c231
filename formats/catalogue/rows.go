package catalogue

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
)

// parquetName is the file at the root of an archive that has the lines of Name as rows of Parquet.
// It opens by name and is not listed.
const parquetName = "recordings.parquet"

// Columns returns those of recordings.parquet.
func Columns() []columnar.Column { return columns }

// AddRow adds the row of a recording to those of recordings.parquet.
func (s *Summary) AddRow(b *columnar.Batch) { s.addRow(b, len(s.Tables) > 0) }

// columns are those of recordings.parquet (docs/tree/tables.md section 7).
var columns = slices.Concat(
	columnar.Required(columnar.Text, "path"), columnar.Optional(columnar.Text, "format"), columnar.Optional(columnar.Bool, "indexed"),
	columnar.Optional(columnar.Time, "start"), columnar.Optional(columnar.Int64, "duration_ms", "ticks"), columnar.Optional(columnar.Text, "map"),
	columnar.Optional(columnar.Texts, "players"), columnar.Optional(columnar.Int64, "size"), columnar.Optional(columnar.Time, "modified"),
	columnar.Optional(columnar.Bool, "complete", "finished"), columnar.Optional(columnar.Int64, "problems"),
	columnar.Optional(columnar.Text, "error", "tables_path"),
)

// addRows adds the rows of a block, until the Batch has done with it.
func (s file) addRows(ctx context.Context, b *columnar.Batch, block int, done func() bool) error {
	page, err := s.Page(ctx, s.pages, block)
	if err != nil {
		return err
	}
	for i := range page {
		if page[i].Line == "" {
			continue
		}
		var line Summary
		if err := json.Unmarshal([]byte(page[i].Line), &line); err != nil {
			return err
		}
		if line.addRow(b, len(page[i].Tables) > 0); done() {
			break
		}
	}
	return nil
}

// maker returns the maker of recordings.parquet. Its chunks are the blocks. All of them are read to
// count the rows.
func (s file) maker() *columnar.Maker {
	m := columnar.NewMaker("recordings", columns, s.rowGroups, func(ctx context.Context, b *columnar.Batch, block int) error {
		for ; block < s.Blocks() && !b.Full(); block++ {
			if err := s.addRows(ctx, b, block, b.Full); err != nil {
				return err
			}
		}
		return nil
	})
	return &m
}

// rowGroups counts the rows. A group has columnar.GroupRows of them.
func (s file) rowGroups(ctx context.Context) (groups []columnar.Group, err error) {
	count := columnar.NewCounter(columns)
	g := columnar.Group{}
	end := func() {
		if g.Rows = count.Rows(); g.Rows > 0 {
			g.Columns = count.Counts()
			groups = append(groups, g)
		}
		count.Reset(0, nil)
	}
	for block := range s.Blocks() {
		rows := 0
		err := s.addRows(ctx, count, block, func() bool {
			if rows++; count.Rows() == columnar.GroupRows {
				end()
				g = columnar.Group{Chunk: block, Skip: rows}
			}
			return false
		})
		if err != nil {
			return nil, err
		}
	}
	end()
	return groups, nil
}

// addRow adds the row of a recording, which has tables or not. What is not known is null.
func (s *Summary) addRow(b *columnar.Batch, tables bool) {
	known := s.Format != "" // else nothing is: it could not be read
	b.Text(s.Path)
	columnar.AddIf(b, known, b.Text, s.Format)
	b.Bool(s.Indexed)
	addTime(cmp.Or(s.Start, new(string)), b)
	columnar.AddOptional(b, s.DurationMS, b.Int64)
	columnar.AddOptional(b, s.Ticks, b.Int64)
	columnar.AddOptional(b, s.Map, b.Text)
	columnar.AddIf(b, s.Players != nil, b.Texts, s.Players)
	columnar.AddIf(b, known, b.Int64, s.Size)
	addTime(&s.Modified, b)
	columnar.AddOptional(b, s.Complete, b.Bool)
	columnar.AddOptional(b, s.Finished, b.Bool)
	columnar.AddOptional(b, s.Problems, b.Int64)
	columnar.AddIf(b, s.Error != "", b.Text, s.Error)
	columnar.AddIf(b, tables && s.Error == "", b.Text, parquet.EscapePath(s.Place()))
}

// addTime adds a time as recordings.jsonl has it, or null.
func addTime(s *string, b *columnar.Batch) {
	t, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(*s))
	columnar.AddIf(b, err == nil, b.Int64, t.UnixMicro())
}
