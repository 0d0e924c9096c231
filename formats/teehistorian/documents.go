package teehistorian

import (
	"time"

	"recfs/formats"
)

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
			Anomalies: x.anomalies, Events: x.counts.byName(),
		},
		Chunks: make([]chunkEntry, len(x.chunks)), Problems: x.problemList(),
	}
	if start := h.startTime(); start.Time != nil {
		d.Totals.StartTime = new(start.Format(time.RFC3339))
	}
	for i := range x.chunks {
		c := &x.chunks[i]
		d.Chunks[i] = chunkEntry{i, c.first, c.last, c.count, c.offset, c.size, c.size}
	}
	if n := len(x.chunks); n > 0 {
		d.Totals.FirstTick, d.Totals.LastTick = &x.chunks[0].first, &x.chunks[n-1].last
		d.Totals.DurationMS = new(int64(x.chunks[n-1].last) * tickMS)
	}
	return d
}

// byName returns the counts of all events that occur.
func (c *counts) byName() map[string]int64 {
	m := map[string]int64{}
	for event, n := range c.extensions {
		m[event] = n
	}
	for i, event := range eventNames {
		if n := c.kinds[i]; n > 0 {
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
		Dir: r.dirs[i], CID: s.cid, Name: s.name(), Clan: s.clan, Protocol: s.protocol.text(), Names: s.names, Version: s.version, VersionStr: s.versionStr,
		FirstTick: s.first, JoinTick: s.join, DropTick: s.drop, DropReason: s.reason, Lives: s.lives,
		Positions: s.rows[positionTable], Inputs: s.rows[inputTable], Commands: s.rows[commandTable],
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
