package main

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"recfs/formats"
	archives "recfs/formats/archive"
	"recfs/nodes"
)

// A problem is one line of what check prints.
type problem struct {
	jsonPath         // of the recording, or of the file in it that cannot be read
	Format    string `json:"format,omitempty"`
	Code      string `json:"code,omitempty"`
	Chunk     *int   `json:"chunk,omitempty"`
	Segment   *int   `json:"segment,omitempty"`
	Object    string `json:"object,omitempty"` // path in the recording
	ObjectHex string `json:"object_hex,omitempty"`
	Offset    *int64 `json:"offset,omitempty"`
	Reason    string `json:"reason"`
	Files     int    `json:"files,omitempty"` // how many cannot be read for this reason, Object being the first

	member string // path of the file of a container that this is about
	at     *int64 // where the bytes are damaged, of those that say so
}

func (p problem) String() string {
	var text strings.Builder
	add := func(known bool, format string, value any) {
		if known {
			fmt.Fprintf(&text, format, value)
		}
	}
	text.WriteString(p.Path)
	add(p.Format != "", ": %s", p.Format)
	add(p.Segment != nil, ": segment %d", value(p.Segment))
	add(p.Chunk != nil, ": chunk %d", value(p.Chunk))
	add(p.Object != "", ": %s", p.Object)
	add(p.Offset != nil, ": offset %d", value(p.Offset))
	add(true, ": %s", p.Reason)
	add(p.Code != "", " (%s)", p.Code)
	add(p.Files > 1, ", and so %d files", p.Files)
	return printable(text.String())
}

// fileProblem is that of a file or folder that cannot be read.
func fileProblem(name string, err error) problem {
	p := problem{jsonPath: newJSONPath(name), Reason: changedMeanwhile}
	if !errors.Is(err, nodes.ErrStale) {
		p.Reason = reason(name, err).Error()
	}
	return p
}

// changedMeanwhile is the reason of a source that was replaced, shortened or rewritten by somebody:
// no damage, and another run may find nothing.
const changedMeanwhile = "changed while it was read"

func readProblem(f found, object string, err error) problem {
	if object == "." {
		object = ""
	}
	p := fileProblem(f.name, err)
	p.Format, p.Object, p.ObjectHex, p.Files = f.Format, object, formats.HexOf(object), 1
	if p.Reason == changedMeanwhile {
		return p
	}
	if damage, ok := formats.DamageOf(err); ok {
		p.at = &damage.Offset
	}
	if e, ok := errors.AsType[*formats.Error](err); ok {
		p.Offset, p.Reason = &e.Offset, e.Err.Error()
	}
	return p
}

// toldProblems returns the problems of which a recording tells, or why it does not open, given what is
// known of it. err is what was wrong with asking for that; that it does not open is no such error.
func toldProblems(f found, k formats.Summary, err error) ([]problem, error) {
	if broken, ok := errors.AsType[*archives.NotOpenError](err); ok {
		return []problem{newProblem(f.name, f.Format, broken.Problem)}, nil
	}
	var problems []problem
	seen := map[string]bool{}
	for _, told := range slices.Concat(k.HeaderProblems, k.Problems) {
		p := newProblem(f.name, f.Format, told)
		if line := p.String(); !seen[line] {
			seen[line] = true
			problems = append(problems, p)
		}
	}
	return problems, err
}

// newProblem returns a problem that a recording or a container called name tells of.
func newProblem(name, format string, told formats.Problem) problem {
	return problem{
		jsonPath: newJSONPath(name), Format: format, Code: told.Code, Chunk: told.Chunk, Segment: told.Segment,
		Object: told.Path, ObjectHex: formats.HexOf(told.Path), Offset: &told.Offset, Reason: told.Message, at: &told.Offset,
	}
}

// containerProblems returns what is wrong with a damaged container.
func containerProblems(f found) []problem {
	problems := make([]problem, len(f.damage))
	for i, told := range f.damage {
		problems[i] = newProblem(f.name, f.Format, told)
		if told.Path != "" {
			problems[i].member = path.Join(f.name, told.Path)
		}
	}
	return problems
}
