package teehistorian

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"recfs/formats"
)

var (
	_ formats.Head  = (*header)(nil)
	_ formats.Index = (*index)(nil)
)

// Options are what a tree may need from outside. The zero value works.
type Options struct {
	Map func(ctx context.Context, file []byte) (*formats.Outline, error) // reads a map file; nil: paths.svg shows no maps

	MaxMetadata int64 // greatest size of the header; 0: 16 MiB
}

// open is the Open of the format.
func (o Options) open(ctx context.Context, in formats.Input) (formats.Head, error) {
	return readHeader(ctx, in.At(ctx), o.MaxMetadata)
}

// Append appends the header as it is stored, with magic and end.
func (h *header) Append(b []byte) []byte { return append(append(append(b, magic[:]...), h.json...), 0) }

// readHead reads what Append of a header wrote.
func (o Options) readHead(ctx context.Context, _ formats.Input, saved []byte) (formats.Head, error) {
	return readHeader(ctx, bytes.NewReader(saved), o.MaxMetadata)
}

// Memory is about what the header keeps alive.
func (h *header) Memory() int64 {
	n := len(h.json) + identCost/2*len(h.idents) + 4096
	for _, value := range h.values {
		n += len(value)
	}
	return int64(n)
}

// scan is the Scan of the format.
func scan(ctx context.Context, in formats.Input, head formats.Head, earlier formats.Index) (formats.Index, error) {
	h := head.(*header)
	if earlier == nil {
		return buildIndex(in.At(ctx), in.Size, h)
	}
	return extendIndex(earlier.(*index), in.At(ctx), in.Size, h)
}

// readIndex reads what Append of an index wrote.
func readIndex(in formats.Input, head formats.Head, saved []byte) (formats.Index, error) {
	x, err := decodeIndex(saved)
	if err == nil {
		err = x.check(in.Size)
	}
	if err != nil {
		return nil, err
	}
	if x.start != head.(*header).start {
		return nil, formats.ErrOther
	}
	return x, nil
}

// Reach is the end of the last complete record.
func (x *index) Reach(string) int64 { return x.bytes }

// summary is the Summary of the format.
func summary(_ context.Context, rec formats.Recording, found formats.Index) (formats.Summary, error) {
	h := rec.Head.(*header)
	v := h.values
	s := formats.Summary{Version: v.version(), HeaderProblems: slices.Values(h.problems()), Start: h.began.Time}
	if isString(v["map_name"]) {
		s.Map = new(v.text("map_name"))
	}
	for _, key := range []string{"server_name", "server_version", "game_type"} {
		s.Details.Add(key, v.text(key))
	}
	if found == nil {
		return s, nil
	}
	x := found.(*index)
	d := indexJSON(x, h)
	s.Ticks, s.Chunks, s.Complete, s.Finished, s.End, s.Problems = new(int64(d.Totals.Ticks)), len(d.Chunks), d.Complete, d.Finished, d.End, slices.Values(d.Problems)
	if ms := d.Totals.DurationMS; ms != nil {
		s.Duration = new(time.Duration(*ms) * time.Millisecond)
	}
	var names []string
	for _, stay := range x.stays {
		names = append(names, stay.Names...)
	}
	s.AddPlayers(names)
	s.Runners = x.runners(formats.MaxRuns)
	best := bestFinishes(s.Runners)
	s.Details.Add("best_finishes", strings.Join(best, ", "))
	if len(best) > 0 {
		s.Result = "best " + best[0]
	}
	s.Details = append(s.Details, x.connections()...)
	return s, nil
}

// shownFinishes is the number of players that a Summary names with their best times.
const shownFinishes = 5

// bestFinishes names the fastest players with their times in seconds.
func bestFinishes(runners []formats.Runner) (words []string) {
	type best struct {
		name string
		ms   int64
	}
	var all []best
	for _, who := range runners {
		fastest := slices.MinFunc(who.Runs, func(a, b formats.Run) int { return cmp.Compare(a.TimeMS, b.TimeMS) })
		name := ""
		if len(who.Names) > 0 {
			name = who.Names[0]
		}
		all = append(all, best{name, fastest.TimeMS})
	}
	slices.SortStableFunc(all, func(a, b best) int { return cmp.Compare(a.ms, b.ms) })
	for _, b := range all[:min(len(all), shownFinishes)] {
		words = append(words, fmt.Sprintf("%s %.2f s", b.name, float64(b.ms)/1000))
	}
	return words
}

// connections returns the identifiers that the clients of players gave of their connections.
func (x *index) connections() formats.Details {
	var ids []formats.Details
	var words []string
	for _, s := range x.stays {
		if len(s.Connection) > 0 {
			name := "?"
			if n := s.name(); n != nil {
				name = *n
			}
			id := uuid.UUID(s.Connection).String()
			ids = append(ids, formats.Details{{Key: "player", Value: name}, {Key: "id", Value: id}})
			words = append(words, name+" "+id)
		}
	}
	if ids == nil {
		return nil
	}
	const shown = 4
	if n := len(words) - shown; n > 0 {
		words = append(words[:shown], fmt.Sprintf("and %d more", n))
	}
	return formats.Details{{Key: "connections", Value: ids, Text: strings.Join(words, ", ")}}
}

// runners returns the best runs of a recording, at most so many. The first of equal ones counts.
func (x *index) runners(most int) []formats.Runner {
	runners := []formats.Runner{} // not nil: they are known
	if len(x.finishes) == 0 {
		return runners
	}
	r := x.named()
	list := r.finishes()
	slices.SortStableFunc(list, func(a, b run) int { return cmp.Compare(a.time, b.time) })
	list = list[:min(len(list), most)]
	slices.SortStableFunc(list, func(a, b run) int { return cmp.Or(cmp.Compare(a.stay, b.stay), cmp.Compare(a.tick, b.tick)) })
	last := int32(-1)
	for i := range list {
		n := &list[i]
		if n.stay != last {
			last = n.stay
			runners = append(runners, formats.Runner{Names: x.stays[last].Names})
		}
		one := formats.Run{Tick: n.tick, TimeMS: int64(n.time) * tickMS}
		if n.number > 0 {
			one.Demo = "demos/runs/" + r.runName(n)
		}
		who := &runners[len(runners)-1]
		who.Runs = append(who.Runs, one)
	}
	return runners
}

type indexDocument = formats.IndexDocument[totals, chunkEntry]

type totals struct {
	StartTime  *string          `json:"start_time"`
	FirstTick  *int32           `json:"first_tick"`
	LastTick   *int32           `json:"last_tick"`
	DurationMS *int64           `json:"duration_ms"`
	Ticks      int              `json:"ticks"`
	Records    int64            `json:"records"`
	Bytes      int64            `json:"bytes"`
	Players    int              `json:"players"`
	Anomalies  int64            `json:"anomalies"`
	Events     map[string]int64 `json:"events"`
}

type chunkEntry struct {
	Chunk     int   `json:"chunk"`
	FirstTick int32 `json:"first_tick"`
	LastTick  int32 `json:"last_tick"`
	Ticks     int   `json:"ticks"`
	Offset    int64 `json:"offset"`
	Stored    int64 `json:"stored"`
	Size      int64 `json:"size"`
}

// indexJSON returns the content of index.json (docs/tree/teehistorian.md section 9).
func indexJSON(x *index, h *header) *indexDocument {
	d := &indexDocument{
		IndexHead: formats.IndexHead{
			Format: name, Complete: x.end == endFinished || x.end == endUnfinished, Finished: x.end == endFinished, End: x.end,
		},
		Totals: totals{
			Ticks: x.tickCount(), Records: x.records, Bytes: x.bytes, Players: len(x.stays),
			Anomalies: x.anomalies, Events: x.events(),
		},
		Chunks: make([]chunkEntry, len(x.chunks)), Problems: x.problemList(),
	}
	if start := h.began; start.Time != nil {
		d.Totals.StartTime = new(start.Format(time.RFC3339))
	}
	for i := range x.chunks {
		c := &x.chunks[i]
		d.Chunks[i] = chunkEntry{i, c.First, c.Last, c.Count, c.offset, c.Size, c.Size}
	}
	if n := len(x.chunks); n > 0 {
		d.Totals.FirstTick, d.Totals.LastTick = &x.chunks[0].First, &x.chunks[n-1].Last
		d.Totals.DurationMS = new(int64(x.chunks[n-1].Last) * tickMS)
	}
	return d
}

// events returns the counts of all events that occur.
func (x *index) events() map[string]int64 {
	m := map[string]int64{}
	for i, event := range eventWords {
		if n := x.counts[i]; n > 0 {
			m[event] = n
		}
	}
	return m
}

// A playerEntry is an element of players.json (docs/tree/teehistorian.md section 7).
type playerEntry struct {
	Dir        string       `json:"dir"`
	CID        int32        `json:"cid"`
	Name       *string      `json:"name"`
	Clan       *string      `json:"clan"`
	Protocol   *string      `json:"protocol"`
	Names      []string     `json:"names"`
	Version    *int32       `json:"version"`
	VersionStr *string      `json:"version_str"`
	FirstTick  int32        `json:"first_tick"`
	JoinTick   *int32       `json:"join_tick"`
	DropTick   *int32       `json:"drop_tick"`
	DropReason *string      `json:"drop_reason"`
	Lives      int64        `json:"lives"`
	Positions  int64        `json:"positions"`
	Inputs     int64        `json:"inputs"`
	Commands   int64        `json:"commands"`
	Finishes   []finishTime `json:"finishes"`
}

// playerEntry returns the element of a stay.
func (r *recording) playerEntry(i int) *playerEntry {
	s := r.idx.stays[i]
	e := &playerEntry{
		Dir: r.dirs[i], CID: s.CID, Name: s.name(), Clan: s.Clan, Protocol: s.Protocol.text(), Names: s.Names, Version: s.Version, VersionStr: s.VersionStr,
		FirstTick: s.First, JoinTick: s.Join, DropTick: s.Drop, DropReason: s.Reason, Lives: s.Lives,
		Positions: s.Rows[positionTable], Inputs: s.Rows[inputTable], Commands: s.Rows[commandTable],
		Finishes: s.finishes,
	}
	if e.Names == nil {
		e.Names = []string{}
	}
	if e.Finishes == nil {
		e.Finishes = []finishTime{}
	}
	return e
}
