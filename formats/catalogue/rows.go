package catalogue

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"recfs/formats/columnar"
	"recfs/formats/internal/ledger"
)

// parquetName is the file at the root of an archive that has the lines of Name as rows of Parquet. It
// opens by name and is not listed.
const parquetName = "recordings.parquet"

// columns are those of recordings.parquet (docs/tree/tables.md section 7).
var columns = slices.Concat(
	columnar.Required(columnar.Text, "path"), columnar.Optional(columnar.Text, "format"), columnar.Optional(columnar.Bool, "indexed"),
	columnar.Optional(columnar.Time, "start"), columnar.Optional(columnar.Int64, "duration_ms", "ticks"), columnar.Optional(columnar.Text, "map"),
	columnar.Optional(columnar.Texts, "players"), columnar.Optional(columnar.Int64, "size"), columnar.Optional(columnar.Time, "modified"),
	columnar.Optional(columnar.Bool, "complete", "finished"), columnar.Optional(columnar.Int64, "problems"),
	columnar.Optional(columnar.Text, "error", "tables_path"),
)

// A row is a line of recordings.jsonl, of which anything but the path may be null.
type row struct {
	Path       string    `json:"path"`
	PathHex    string    `json:"path_hex"`
	Format     *string   `json:"format"`
	Indexed    *bool     `json:"indexed"`
	Start      *string   `json:"start"`
	DurationMS *int64    `json:"duration_ms"`
	Ticks      *int64    `json:"ticks"`
	Map        *string   `json:"map"`
	Players    *[]string `json:"players"`
	Size       *int64    `json:"size"`
	Modified   *string   `json:"modified"`
	Complete   *bool     `json:"complete"`
	Finished   *bool     `json:"finished"`
	Problems   *int64    `json:"problems"`
	Error      *string   `json:"error"`
}

// place returns the path as it is in the mount.
func (r *row) place() string {
	if b, err := hex.DecodeString(r.PathHex); err == nil && len(b) > 0 {
		return string(b)
	}
	return r.Path
}

// A member is a recording with its tables.
type member struct {
	row
	tables []ledger.Table
}

// addRows adds the rows of a block, until the Batch has done with it.
func (s *survey) addRows(ctx context.Context, b *columnar.Batch, block int, done func() bool) error {
	page, err := s.Page(ctx, s.pages, block)
	if err != nil {
		return err
	}
	for i := range page {
		if page[i].Line == "" {
			continue
		}
		m := member{tables: page[i].Tables}
		if err := json.Unmarshal([]byte(page[i].Line), &m.row); err != nil {
			return err
		}
		if m.add(b); done() {
			break
		}
	}
	return nil
}

// maker returns the maker of recordings.parquet. Its chunks are the blocks, of which all are read to count the rows.
func (s *survey) maker() *columnar.Maker {
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
func (s *survey) rowGroups(ctx context.Context) (groups []columnar.Group, err error) {
	count := columnar.NewCounter(columns)
	g := columnar.Group{}
	end := func() {
		if g.Rows = count.Rows(); g.Rows > 0 {
			g.Columns = make([]columnar.Counts, len(columns))
			for i := range columns {
				g.Columns[i] = count.Columns[i].Counts
			}
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

// add adds the row of a recording.
func (m *member) add(b *columnar.Batch) {
	b.Text(m.Path)
	addOptional(m.Format, b, b.Text)
	addOptional(m.Indexed, b, b.Bool)
	addTime(m.Start, b)
	addOptional(m.DurationMS, b, b.Int64)
	addOptional(m.Ticks, b, b.Int64)
	addOptional(m.Map, b, b.Text)
	addOptional(m.Players, b, b.Texts)
	addOptional(m.Size, b, b.Int64)
	addTime(m.Modified, b)
	addOptional(m.Complete, b, b.Bool)
	addOptional(m.Finished, b, b.Bool)
	addOptional(m.Problems, b, b.Int64)
	addOptional(m.Error, b, b.Text)
	if len(m.tables) == 0 || m.Error != nil {
		b.Null()
		return
	}
	b.Text(tablesPath(m.place()))
}

// addOptional adds a value, or null.
func addOptional[V any](v *V, b *columnar.Batch, add func(V)) {
	if v == nil {
		b.Null()
		return
	}
	add(*v)
}

// addTime adds a time as recordings.jsonl has it, or null.
func addTime(s *string, b *columnar.Batch) {
	if s == nil {
		b.Null()
		return
	}
	t, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(*s))
	if err != nil {
		b.Null()
		return
	}
	b.Int64(t.UnixMicro())
}
