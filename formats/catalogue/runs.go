package catalogue

import (
	"encoding/json"
	iofs "io/fs"
	"slices"

	"recfs/formats"
)

// text returns the outcome of a recording as a record has it: JSON, or "" if nothing is known.
func (o Outcome) text() string {
	if o.Runners == nil && o.Result == "" {
		return ""
	}
	b, err := json.Marshal(o)
	if err != nil {
		return ""
	}
	return string(b)
}

// outcomeOf reads what text made.
func outcomeOf(text string) (o Outcome, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &o)
	}
	return o, err
}

// soundRunners reports whether saved runs are no more than a Summary has, with demos below the
// recording.
func soundRunners(list []formats.Runner) bool {
	n := 0
	for _, who := range list {
		n += len(who.Runs)
		if slices.ContainsFunc(who.Runs, func(r formats.Run) bool { return r.Demo != "" && !iofs.ValidPath(r.Demo) }) {
			return false
		}
	}
	return n <= formats.MaxRuns
}
