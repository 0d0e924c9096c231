package main

import (
	"errors"
	"fmt"
	"path"
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

func (p problem) String() string { return p.text(false) }

// text is the problem as one line.
func (p problem) text(c colors) string {
	var text strings.Builder
	add := func(known bool, format string, value any) {
		if known {
			text.WriteString(printable(fmt.Sprintf(format, value)))
		}
	}
	text.WriteString(c.paint(bold, printable(p.Path)))
	add(p.Format != "", ": %s", p.Format)
	add(p.Segment != nil, ": segment %d", value(p.Segment))
	add(p.Chunk != nil, ": chunk %d", value(p.Chunk))
	add(p.Object != "", ": %s", p.Object)
	add(p.Offset != nil, ": offset %d", value(p.Offset))
	text.WriteString(": " + c.paint(red, printable(p.Reason)))
	add(p.Code != "", " (%s)", p.Code)
	add(p.Files > 1, ", and so %d files", p.Files)
	return text.String()
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
	if errors.Is(err, nodes.ErrStale) {
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

// toldProblems returns the problems that a recording tells of itself, or the one for which it does
// not open, given its summary. err is the error of asking for that. A recording that does not open
// is no error here.
func toldProblems(f found, k formats.Summary, err error) ([]problem, error) {
	if broken, ok := errors.AsType[*archives.NotOpenError](err); ok {
		return []problem{newProblem(f.name, f.Format, broken.Problem)}, nil
	}
	var problems []problem
	seen := map[string]bool{}
	for told := range k.AllProblems() {
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
			problems[i].member = joinName(f.name, told.Path)
		}
	}
	return problems
}

// A problemList collects the problems of one recording. Files that cannot be read are no problem of
// their own where a problem of the same file or place is known; neighbours count as one.
type problemList struct {
	problems []problem
	objects  map[string]bool
	causes   map[cause]int // index in problems
	run      int           // index of the problem of the file before, -1 if that was readable
	told     int           // so many problems are told by the recording
}

// A cause is what the problems of several files may have in common: where the bytes are damaged, or
// of those that do not say so the reason.
type cause struct {
	offset int64
	reason string
}

func (p problem) cause() cause {
	if p.at != nil {
		return cause{offset: *p.at}
	}
	return cause{reason: p.Reason}
}

func newProblemList(told []problem) *problemList {
	l := &problemList{objects: map[string]bool{}, causes: map[cause]int{}, run: -1, told: len(told)}
	for _, p := range told {
		l.put(p)
	}
	return l
}

// put takes in a problem of its own.
func (l *problemList) put(p problem) {
	l.objects[p.Object] = p.Object != ""
	l.causes[p.cause()] = len(l.problems)
	l.problems = append(l.problems, p)
}

// endRun says that a file could be read.
func (l *problemList) endRun() { l.run = -1 }

// add takes in a file that cannot be read. A problem that explains it counts how many do so, unless
// the recording tells of it.
func (l *problemList) add(p problem) {
	i, known := l.causes[p.cause()]
	if !known && l.run >= 0 && path.Dir(l.problems[l.run].Object) == path.Dir(p.Object) {
		i, known = l.run, true
	}
	switch {
	case l.objects[p.Object]:
	case !known:
		l.run = len(l.problems)
		l.put(p)
	case i >= l.told:
		l.problems[i].Files++
	}
}
