package catalogue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
	"unique"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/ledger"
	"recfs/formats/source"
	"recfs/nodes"
)

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
func (l *Line) Row(most int, first func(name string) bool) (json.RawMessage, error) {
	s, total := l.Summary, []byte("null")
	if s.Players != nil {
		total = strconv.AppendInt(nil, int64(len(s.Players)), 10)
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
	b, err := json.Marshal(s)
	if s.Format == "" {
		b = []byte(unreadNulls.Replace(string(b)))
	}
	const behind = `,"size":` // no text has it, as quotes in it are escaped
	return bytes.Replace(b, []byte(behind), append(append([]byte(`,"players_total":`), total...), behind...), 1), err
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
	b, err := json.Marshal(Summary{Path: at, PathHex: formats.HexOf(at), Error: readReason(err)})
	if err != nil {
		return ""
	}
	return unreadNulls.Replace(string(b)) + "\n"
}
