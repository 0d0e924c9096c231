package formats

import (
	"encoding/json"
	"fmt"
	"iter"
	"time"
)

// A Summary is what a person wants to know first about a recording. Nil and "" are not known, or
// not to be had.
type Summary struct {
	Version, Layout string // as in header.json
	Start           *time.Time
	Duration        *time.Duration
	Ticks           *int64  // how many ticks/ lists
	Map             *string // or world
	Players         []string
	Details         Details           // what else a person asks for
	HeaderProblems  iter.Seq[Problem] // of header.json; nil: there are none

	// With an index, or if there can be none:
	Problems           iter.Seq[Problem] // of index.json, as HeaderProblems: a damaged file may have a million
	Chunks             int
	Complete, Finished bool
	End                string
	Result             string   // what people call how it went, in a few words; "": there is nothing
	Runners            []Runner // at most MaxRuns runs in all, the best of the recording; nil: the format has none
}

// MaxRuns is how many runs a Summary has at most.
const MaxRuns = 4096

// A Runner is a stay of a player that finished runs.
type Runner struct {
	Names []string `json:"names"` // of the stay, the first one first
	Runs  []Run    `json:"runs"`  // in the order of the recording
}

// A Run is the finish of a race.
type Run struct {
	Tick   int32  `json:"tick"` // in which it ended
	TimeMS int64  `json:"time_ms"`
	Demo   string `json:"demo,omitempty"` // path of its demo in the tree of the recording, if it has one
}

// A Detail is something that only some formats know of a recording.
type Detail struct {
	Key   string // words with "_" between them
	Value any    // of the key in JSON: a string, a number or Details
	Text  string // the value for a person
}

// Details are a JSON object in their order.
type Details []Detail

// Add adds a detail whose value is the text itself, unless it is empty.
func (d *Details) Add(key, text string) {
	if text != "" {
		*d = append(*d, Detail{key, text, text})
	}
}

// Text returns the text of a detail, "" if there is none of that key.
func (d Details) Text(key string) string {
	for _, one := range d {
		if one.Key == key {
			return one.Text
		}
	}
	return ""
}

// MarshalJSON implements json.Marshaler.
func (d Details) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, one := range d {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := json.Marshal(one.Value)
		if err != nil {
			return nil, err
		}
		b = append(fmt.Appendf(b, "%q:", one.Key), value...)
	}
	return append(b, '}'), nil
}

// AllProblems are those of header.json and of index.json.
func (s *Summary) AllProblems() iter.Seq[Problem] {
	return func(yield func(Problem) bool) {
		for _, list := range []iter.Seq[Problem]{s.HeaderProblems, s.Problems} {
			if list == nil {
				continue
			}
			for p := range list {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// AddPlayers adds those names that are new: a player who comes back is another one to some formats.
func (s *Summary) AddPlayers(names []string) {
	known := make(map[string]bool, len(s.Players)+len(names))
	for _, name := range s.Players {
		known[name] = true
	}
	for _, name := range names {
		if !known[name] {
			known[name] = true
			s.Players = append(s.Players, name)
		}
	}
}
