package catalogue

import (
	"encoding/json"
	iofs "io/fs"
	"slices"
	"strings"

	"recfs/formats"
)

// runnersLine returns the runs of a recording as a line of a record: JSON, or blank if they are not known.
func runnersLine(list []formats.Runner) string {
	if list == nil {
		return "\n"
	}
	b, err := json.Marshal(list)
	if err != nil {
		return "\n"
	}
	return string(b) + "\n"
}

// cutRunners reads the first line that runnersLine made, and returns what follows it.
func cutRunners(lines string) (list []formats.Runner, rest string, err error) {
	line, rest, _ := strings.Cut(lines, "\n")
	if line != "" {
		err = json.Unmarshal([]byte(line), &list)
	}
	return list, rest, err
}

// soundRuns reports whether saved runs are those of so many lines.
func soundRuns(runs, lines string) bool {
	if strings.Count(runs, "\n") != strings.Count(lines, "\n") || runs != "" && !strings.HasSuffix(runs, "\n") {
		return false
	}
	for runs != "" {
		list, rest, err := cutRunners(runs)
		if err != nil || !soundRunners(list) {
			return false
		}
		runs = rest
	}
	return true
}

// soundRunners reports whether saved runs are no more than a Summary has, with demos below the recording.
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
