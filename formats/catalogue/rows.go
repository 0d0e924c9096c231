package catalogue

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
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
	tables []string
}

// appendMembers appends the recordings of lines, each with a line of tables.
func appendMembers(list []*member, lines, tables string) ([]*member, error) {
	for line := range strings.Lines(lines) {
		m := &member{}
		if err := json.Unmarshal([]byte(line), &m.row); err != nil {
			return nil, err
		}
		var names string
		names, tables, _ = strings.Cut(tables, "\n")
		m.tables = strings.Fields(names)
		list = append(list, m)
	}
	return list, nil
}

// makeParquet makes recordings.parquet.
func makeParquet(ctx context.Context, list []*member) ([]byte, error) {
	return parquet.Encode(ctx, columns, len(list), func(b *columnar.Batch, i int) { list[i].add(b) },
		parquet.Pair{Key: "recfs.table", Value: "recordings"})
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
