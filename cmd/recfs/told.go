package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"recfs/formats"
	"recfs/nodes"
)

// toldProblems returns what header.json, index.json and error.txt say.
func toldProblems(ctx context.Context, f found) ([]problem, error) {
	if e, err := nodes.Child(ctx, f.entry.Dir, "error.txt"); err == nil && e.File != nil {
		text, err := nodes.ReadAll(ctx, e.File)
		if err != nil {
			return nil, err
		}
		return []problem{parseErrorText(f, string(text))}, nil
	}
	var problems []problem
	seen := map[string]bool{}
	for _, name := range []string{"header.json", "index.json"} {
		var document struct {
			Problems []formats.Problem `json:"problems"`
		}
		if err := readJSON(ctx, f.entry.Dir, name, &document); err != nil {
			return problems, err
		}
		for _, told := range document.Problems {
			p := problem{
				Path: f.name, Format: f.Format, Code: told.Code, Chunk: told.Chunk, Segment: told.Segment,
				Object: told.Path, Offset: &told.Offset, Reason: told.Message,
			}
			if line := p.String(); !seen[line] {
				seen[line] = true
				problems = append(problems, p)
			}
		}
	}
	return problems, nil
}

func readJSON(ctx context.Context, dir nodes.Dir, name string, v any) error {
	e, err := nodes.Lookup(ctx, dir, name)
	if err != nil {
		return err
	}
	if e.File == nil {
		return errors.New("not a file")
	}
	text, err := nodes.ReadAll(ctx, e.File)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}

// parseErrorText reads error.txt, one fact a line.
func parseErrorText(f found, text string) problem {
	p := problem{Path: f.name, Format: f.Format}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch key {
		case "reason":
			p.Reason = value
		case "code":
			p.Code = value
		case "offset":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				p.Offset = &n
			}
		}
	}
	return p
}
