package main

import (
	"context"
	"encoding/json"
	"errors"
	iofs "io/fs"
	"slices"
	"strings"
	"time"
)

// A summary is what a person wants to know first about a recording.
type summary struct {
	Path     string    `json:"path"`
	Format   string    `json:"format"`
	Version  string    `json:"format_version,omitempty"`
	Layout   string    `json:"layout,omitempty"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Start    string    `json:"start,omitempty"`
	Seconds  float64   `json:"seconds,omitempty"`
	Ticks    int64     `json:"ticks,omitempty"`
	Chunks   int       `json:"chunks,omitempty"`
	Map      string    `json:"map,omitempty"`
	Details  []string  `json:"details,omitempty"`
	Players  []string  `json:"players,omitempty"`
	Complete bool      `json:"complete"`
	End      string    `json:"end,omitempty"`
	Problems []problem `json:"problems"`
}

// document is a JSON document of which only some keys are looked at, whichever format it is of.
type document map[string]any

// get returns what stands at the first of some dotted paths.
func (d document) get(paths ...string) any {
	for _, p := range paths {
		var v any = map[string]any(d)
		for key := range strings.SplitSeq(p, ".") {
			object, _ := v.(map[string]any)
			v = object[key]
		}
		if v != nil && v != "" {
			return v
		}
	}
	return nil
}

func (d document) text(paths ...string) string {
	switch v := d.get(paths...).(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

func (d document) number(paths ...string) int64 {
	n, _ := d.get(paths...).(json.Number)
	i, _ := n.Int64() // 0 if it is none
	return i
}

func (d document) list(paths ...string) []document {
	values, _ := d.get(paths...).([]any)
	var out []document
	for _, v := range values {
		if object, ok := v.(map[string]any); ok {
			out = append(out, object)
		}
	}
	return out
}

// summarize reads the documents of a recording.
func summarize(ctx context.Context, f found) (*summary, error) {
	s := &summary{Path: f.name, Format: f.Format, Size: f.Stored, Modified: f.Time, Problems: []problem{}}
	told, err := toldProblems(ctx, f)
	s.Problems = append(s.Problems, told...)
	if err != nil {
		return s, err
	}
	docs := map[string]document{}
	for _, name := range []string{"header.json", "index.json", "players.json", "map.json"} {
		var d document
		err := readJSON(ctx, f.entry.Dir, name, &d)
		if err != nil && !errors.Is(err, iofs.ErrNotExist) {
			return s, err
		}
		docs[name] = d
	}
	s.fill(docs["header.json"], docs["index.json"], f.TickLength)
	s.addPlayers(docs["header.json"], docs["players.json"])
	s.addMap(docs["map.json"])
	return s, nil
}

func (s *summary) fill(header, index document, tick time.Duration) {
	s.Version, s.Layout = header.text("format_version"), header.text("layout")
	s.Start = header.text("header.start_time", "header.timestamp")
	if s.Start == "" {
		s.Start = index.text("totals.start_time", "totals.first_time")
	}
	s.Ticks = index.number("totals.ticks")
	chunks := index.list("chunks")
	s.Chunks = len(chunks)
	s.Seconds = float64(index.number("totals.duration_ms")) / 1000
	first, last := parseTime(index.text("totals.first_time")), parseTime(index.text("totals.last_time"))
	if s.Seconds == 0 && !first.IsZero() && last.After(first) {
		s.Seconds = last.Sub(first).Seconds()
	}
	if tick > 0 && len(chunks) > 0 {
		s.Seconds = float64(chunks[len(chunks)-1].number("last_tick")-chunks[0].number("first_tick")+1) * tick.Seconds()
	}
	s.Map = header.text("header.map_name", "header.world_id")
	for _, key := range []string{"server_name", "server_version", "game_type", "match_type", "client_name", "description", "mode"} {
		if text := header.text("header." + key); text != "" {
			s.Details = append(s.Details, strings.ReplaceAll(key, "_", " ")+": "+text)
		}
	}
	s.Complete, _ = index.get("complete").(bool)
	s.End = index.text("end")
}

// addPlayers takes players from their own document, the header, or the one hero of a game.
func (s *summary) addPlayers(header, players document) {
	list := players.list("players")
	if list == nil {
		list = header.list("header.players")
	}
	for _, p := range list {
		if name := p.text("name"); name != "" && !slices.Contains(s.Players, name) { // some come twice
			s.Players = append(s.Players, name)
		}
	}
	if hero := header.text("header.name"); hero != "" {
		about := []string{header.text("header.role"), header.text("header.race"), header.text("header.gender"), header.text("header.alignment")}
		s.Players = append(s.Players, hero+" ("+strings.Join(about, " ")+")")
	}
}

// addMap tells what a map holds.
func (s *summary) addMap(m document) {
	if m == nil {
		return
	}
	for _, key := range []string{"author", "map_version", "credits", "license"} {
		if text := m.text("info." + key); text != "" {
			s.Details = append(s.Details, strings.ReplaceAll(key, "_", " ")+": "+text)
		}
	}
	for _, l := range m.list("layers") {
		if l.text("kind") == "game" {
			s.Details = append(s.Details, "tiles: "+l.text("width")+" × "+l.text("height"))
		}
	}
	var holds []string
	for _, kind := range [][2]string{{"image", "images"}, {"sound", "sounds"}, {"group", "groups"}, {"layer", "layers"}} {
		holds = append(holds, count(len(m.list(kind[1])), kind[0], kind[1]))
	}
	s.Details = append(s.Details, "holds: "+strings.Join(holds, ", "))
}

// parseTime reads a time as recordings write it, or returns the zero time.
func parseTime(text string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05-0700"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	return time.Time{}
}
