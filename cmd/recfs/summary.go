package main

import (
	"context"
	"encoding/json"
	"errors"
	iofs "io/fs"
	"strings"
	"time"

	"recfs/formats"
	"recfs/formats/catalogue"
)

// A summary is what a person wants to know first about a recording.
type summary struct {
	catalogue.Summary
	Version string          `json:"format_version,omitempty"`
	Layout  string          `json:"layout,omitempty"`
	Chunks  int             `json:"chunks,omitempty"`
	Details formats.Details `json:"details,omitempty"`
	End     string          `json:"end,omitempty"`
	Found   []problem       `json:"problem_list"` // not only how many
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

// summarize asks for what is known of a recording.
func summarize(ctx context.Context, a *archive, f found) (*summary, error) {
	known, k, err := catalogue.Summarize(ctx, f.entry.Dir)
	s := &summary{
		Summary: known, Version: k.Version, Layout: k.Layout, Chunks: k.Chunks, End: k.End, Details: k.Details, Found: []problem{},
	}
	told, err := toldProblems(f, k, err)
	s.found(told...)
	if s.Complete == nil && err == nil { // it does not open
		s.Indexed, s.Complete = true, new(bool)
	}
	s.Path, s.PathHex = f.name, formats.HexOf(f.name)
	s.Format, s.Size, s.Modified = f.Format, f.Stored, f.Time.UTC().Format(time.RFC3339Nano)
	if err != nil {
		return s, err
	}
	var m document
	if err := readJSON(ctx, f.entry.Dir, "map.json", &m); err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return s, err
	}
	s.Details = append(s.Details, externalImages(ctx, a, f.name, m)...)
	return s, nil
}

// summarizeContainer returns what is known of a damaged container.
func summarizeContainer(f found) *summary {
	s := &summary{Found: []problem{}}
	s.Summary = catalogue.ContainerSummary(f.name, f.Description, f.damage)
	s.found(containerProblems(f)...)
	return s
}

// found adds problems.
func (s *summary) found(problems ...problem) {
	s.Found = append(s.Found, problems...)
	n := int64(len(s.Found))
	s.Problems = &n
}
