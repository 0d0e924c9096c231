package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path"
	"slices"

	"recfs/formats"
	archives "recfs/formats/archive"
	"recfs/nodes"
)

// toldProblems returns the problems of which a recording tells, or why it does not open, given what is
// known of it. err is what was wrong with asking for that; that it does not open is no such error.
func toldProblems(f found, k formats.Summary, err error) ([]problem, error) {
	if broken, ok := errors.AsType[*archives.NotOpenError](err); ok {
		return []problem{toldProblem(f, broken.Problem)}, nil
	}
	var problems []problem
	seen := map[string]bool{}
	for _, told := range slices.Concat(k.HeaderProblems, k.Problems) {
		p := toldProblem(f, told)
		if line := p.String(); !seen[line] {
			seen[line] = true
			problems = append(problems, p)
		}
	}
	return problems, err
}

// toldProblem returns a problem that a recording or a container tells of.
func toldProblem(f found, told formats.Problem) problem {
	return problem{
		jsonPath: newJSONPath(f.name), Format: f.Format, Code: told.Code, Chunk: told.Chunk, Segment: told.Segment,
		Object: told.Path, ObjectHex: formats.HexOf(told.Path), Offset: &told.Offset, Reason: told.Message, at: &told.Offset,
	}
}

// containerProblems returns what is wrong with a damaged container.
func containerProblems(f found) []problem {
	problems := make([]problem, len(f.damage))
	for i, told := range f.damage {
		problems[i] = toldProblem(f, told)
		if told.Path != "" {
			problems[i].member = path.Join(f.name, told.Path)
		}
	}
	return problems
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
