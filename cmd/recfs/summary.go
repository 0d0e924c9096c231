package main

import (
	"context"
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

// summarize returns what is known of a recording or a damaged container.
func summarize(ctx context.Context, needs *needFinder, f found) (*summary, error) {
	if !f.isRecording {
		s := &summary{Summary: catalogue.ContainerSummary(f.name, f.Description, f.damage), Found: []problem{}}
		s.found(containerProblems(f)...)
		return s, nil
	}
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
	needed, err := needs.details(ctx, f)
	s.Details = append(s.Details, needed...)
	return s, err
}

// found adds problems.
func (s *summary) found(problems ...problem) {
	s.Found = append(s.Found, problems...)
	s.Problems = new(int64(len(s.Found)))
}
