package catalogue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unique"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/ledger"
	"recfs/formats/internal/parquet"
	"recfs/formats/source"
	"recfs/nodes"
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

// addRecord adds the row of a record, if it has a line.
func addRecord(b *columnar.Batch, r *ledger.Record) error {
	if r.Line == "" {
		return nil
	}
	var line Summary
	err := json.Unmarshal([]byte(r.Line), &line)
	if err == nil {
		line.addRow(b, len(r.Tables) > 0)
	}
	return err
}

// maker returns the maker of recordings.parquet. Its chunks are the blocks. All of them are read to
// count the rows.
func (s file) maker() *columnar.Maker {
	m := columnar.NewMaker("recordings", columns, s.rowGroups, func(ctx context.Context, b *columnar.Batch, block int) (err error) {
		for _, r := range s.records(ctx, block, &err) {
			if err = addRecord(b, r); err != nil || b.Full() {
				return err
			}
		}
		return err
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
	in, rows := -1, 0 // the block, and its rows so far
	for block, r := range s.records(ctx, 0, &err) {
		if block != in {
			in, rows = block, 0
		}
		before := count.Rows()
		if err := addRecord(count, r); err != nil {
			return nil, err
		}
		if rows += count.Rows() - before; count.Rows() == columnar.GroupRows {
			end()
			g = columnar.Group{Chunk: block, Skip: rows}
		}
	}
	end()
	return groups, err
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

// summaryOf returns what a record says, if that is anything.
func summaryOf(r *ledger.Record) (s Summary, ok bool, err error) {
	switch {
	case r.Unlisted:
		return Summary{Path: r.Path, PathHex: formats.HexOf(r.Path)}, true, nil
	case r.Line == "":
		return s, false, nil
	}
	if err = json.Unmarshal([]byte(r.Line), &s); err == nil {
		s.Outcome, err = outcomeOf(r.Outcome)
		for _, t := range r.Tables {
			s.Tables = append(s.Tables, t.Name)
		}
	}
	return s, true, err
}

// A Line is a Summary as a query looks at it.
type Line struct {
	Summary
	Began int64  // Start in nanoseconds since 1970, if it is known
	Words string // path, map and players in lower case, with NULs between them
}

// lineCost is about what a Line takes in memory without its texts.
const lineCost = 512

func newLine(s Summary) (l Line, cost int64) {
	var words strings.Builder
	add := func(text string) {
		words.WriteString(strings.ToLower(text))
		words.WriteByte(0)
	}
	add(s.Path)
	if s.Map != nil {
		add(*s.Map)
		*s.Map = unique.Make(*s.Map).Value()
	}
	for i, name := range s.Players { // the same ones play often
		add(name)
		s.Players[i] = unique.Make(name).Value()
	}
	s.Format, s.Runners, s.Tables = unique.Make(s.Format).Value(), nil, nil
	l = Line{Summary: s, Words: words.String()}
	if s.Start != nil {
		if t, err := time.Parse(time.RFC3339Nano, *s.Start); err == nil {
			l.Began = t.UnixNano()
		}
	}
	return l, lineCost + int64(len(s.Path)+len(s.PathHex)+len(s.Error)+len(l.Words)+16*cap(s.Players))
}

// Row returns the line of recordings.jsonl with up to so many players, those first that the caller
// names so, and behind them how many there are.
func (l *Line) Row(most int, first func(name string) bool) json.RawMessage {
	s, total := l.Summary, "null"
	if s.Players != nil {
		total = strconv.Itoa(len(s.Players))
		var named, others []string
		for _, name := range s.Players {
			if len(named) < most && first(name) {
				named = append(named, name)
			} else if len(others) < most {
				others = append(others, name)
			}
		}
		s.Players = append(named, others...)[:min(most, len(s.Players))]
	}
	const behind = `,"size":` // no text has it, as quotes in it are escaped
	return json.RawMessage(strings.Replace(strings.TrimSuffix(s.line(), "\n"), behind, `,"players_total":`+total+behind, 1))
}

// newLines returns the Memo of lines of blocks.
func newLines(c *cache.Cache, pages *ledger.Pages) *cache.Memo[*ledger.Block, []Line] {
	return cache.NewMemo(c, func(ctx context.Context, b *ledger.Block) ([]Line, int64, error) {
		records, err := pages.Get(ctx, b)
		if err != nil {
			return nil, 0, err
		}
		lines, cost, err := linesOf(records)
		pages.Drop(b) // its lines are what is asked for
		return lines, cost, err
	}).Peak(func(b *ledger.Block) int64 { return 4 * b.Lines() })
}

func linesOf(records []ledger.Record) (lines []Line, cost int64, err error) {
	lines = make([]Line, 0, len(records))
	for i := range records {
		s, ok, err := summaryOf(&records[i])
		if err != nil {
			return nil, 0, err
		}
		if ok {
			l, n := newLine(s)
			lines, cost = append(lines, l), cost+n
		}
	}
	return lines, cost, nil
}

// unreadableLine tells why what is called at could not be read this time,
// unless it is gone.
func unreadableLine(at string, err error) string {
	if source.IsGone(err) || errors.Is(err, nodes.ErrStale) {
		return ""
	}
	return Summary{Path: at, PathHex: formats.HexOf(at), Error: readReason(err)}.line()
}
