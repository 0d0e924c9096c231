package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"recfs/formats"
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
	parts := []string{p.Path}
	if p.Format != "" {
		parts = append(parts, p.Format)
	}
	if p.Segment != nil {
		parts = append(parts, "segment "+strconv.Itoa(*p.Segment))
	}
	if p.Chunk != nil {
		parts = append(parts, "chunk "+strconv.Itoa(*p.Chunk))
	}
	if p.Object != "" {
		parts = append(parts, p.Object)
	}
	if p.Offset != nil {
		parts = append(parts, "offset "+strconv.FormatInt(*p.Offset, 10))
	}
	reason := p.Reason
	if p.Code != "" {
		reason += " (" + p.Code + ")"
	}
	if p.Files > 1 {
		reason += fmt.Sprintf(", and so %d files", p.Files)
	}
	return printable(strings.Join(append(parts, reason), ": "))
}

// fileProblem is that of a file or folder that cannot be read.
func fileProblem(name string, err error) problem {
	if errors.Is(err, nodes.ErrStale) {
		return problem{jsonPath: newJSONPath(name), Reason: changedMeanwhile}
	}
	return problem{jsonPath: newJSONPath(name), Reason: reason(name, err).Error()}
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
