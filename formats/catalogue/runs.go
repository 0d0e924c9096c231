package catalogue

import (
	"encoding/json"
	iofs "io/fs"
	"slices"

	"recfs/formats"
)

// runsOf returns the runs of a recording as a record has them: JSON, or "" if they are not known.
func runsOf(list []formats.Runner) string {
	if list == nil {
		return ""
	}
	b, err := json.Marshal(list)
	if err != nil {
		return ""
	}
	return string(b)
}

// runners reads what runsOf made.
func runners(runs string) (list []formats.Runner, err error) {
	if runs != "" {
		err = json.Unmarshal([]byte(runs), &list)
	}
	return list, err
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
