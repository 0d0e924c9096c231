package main

import (
	"context"
	"encoding/json"
	"errors"
	iofs "io/fs"
	"strings"
	"time"

	"recfs/formats/catalogue"
)

// A summary is what a person wants to know first about a recording.
type summary struct {
	catalogue.Summary
	Version  string    `json:"format_version,omitempty"`
	Layout   string    `json:"layout,omitempty"`
	Chunks   int       `json:"chunks,omitempty"`
	Details  []string  `json:"details,omitempty"`
	End      string    `json:"end,omitempty"`
	Problems []problem `json:"problems"` // not only how many
}

// document is a JSON document of which only some keys are looked at, whichever format it is of.
type document map[string]any

// get returns the value at a dotted path.
func (d document) get(at string) any {
	var v any = map[string]any(d)
	for key := range strings.SplitSeq(at, ".") {
		object, _ := v.(map[string]any)
		v = object[key]
	}
	return v
}

func (d document) text(at string) string {
	switch v := d.get(at).(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

func (d document) list(at string) []document {
	values, _ := d.get(at).([]any)
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
	s := &summary{Problems: []problem{}}
	told, err := toldProblems(ctx, f)
	s.Problems = append(s.Problems, told...)
	if err == nil {
		s.Summary, err = catalogue.Summarize(ctx, f.entry.Dir)
	}
	if errors.Is(err, iofs.ErrNotExist) {
		s.Complete, err = new(bool), nil
	}
	s.Path, s.Format, s.Size, s.Modified = f.name, f.Format, f.Stored, f.Time.UTC().Format(time.RFC3339Nano)
	if err != nil {
		return s, err
	}
	docs := map[string]document{}
	for _, name := range []string{"header.json", "index.json", "map.json"} {
		var d document
		err := readJSON(ctx, f.entry.Dir, name, &d)
		if err != nil && !errors.Is(err, iofs.ErrNotExist) {
			return s, err
		}
		docs[name] = d
	}
	s.addHeader(docs["header.json"])
	s.addIndex(docs["index.json"])
	s.addMap(docs["map.json"])
	return s, nil
}

func (s *summary) addHeader(header document) {
	s.Version, s.Layout = header.text("format_version"), header.text("layout")
	for _, key := range []string{"server_name", "server_version", "game_type", "match_type", "client_name", "description", "mode"} {
		if text := header.text("header." + key); text != "" {
			s.Details = append(s.Details, strings.ReplaceAll(key, "_", " ")+": "+text)
		}
	}
	if role := header.text("header.role"); role != "" {
		s.Details = append(s.Details, "hero: "+strings.Join([]string{role, header.text("header.race"), header.text("header.gender"), header.text("header.alignment")}, " "))
	}
}

func (s *summary) addIndex(index document) {
	s.Chunks, s.End = len(index.list("chunks")), index.text("end")
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
