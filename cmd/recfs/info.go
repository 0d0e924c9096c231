package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// shownProblems and shownPlayers keep info to a screenful.
const (
	shownProblems = 5
	shownPlayers  = 16
)

var infoCommand = command{
	name:    "info",
	args:    "FILE...",
	summary: "Tell what a recording is, in a screenful",
	about: `
What it is, when it was made, how long and how big it is, who takes part, and what is damaged. The map of a
teehistorian is looked for by its SHA-256 beside the recording, in maps there, and in all FILEs. FILE is a recording, a directory of recordings, or either of them in a mount. The objects of --json have the keys of
recordings.jsonl, and those that only one recording is asked for.` + aboutInput,
	run: runInfo,
}

func runInfo(flags *pflag.FlagSet) runFunc {
	flags.Bool("json", false, "print a JSON object for each recording")
	registerColor(flags)
	return readFlags(flags).orInput().onPaths(func(ctx context.Context, e *env, a *archive, args []string) error {
		told, needs := 0, newNeedFinder(a, args)
		e.far = func() string { return count(told, "recording", "recordings") + " told of" + fromStart }
		for found := range a.find(ctx, args, e.fail) {
			if !found.isRecording && len(found.damage) == 0 {
				if !found.container && slices.ContainsFunc(args, func(arg string) bool { return cleanName(arg) == found.name }) {
					e.fail(found.name, errors.New("not a recording"))
				}
				continue
			}
			s, err := summarize(ctx, needs, found)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				e.fail(found.name, err)
				s.found(readProblem(found, "", err))
			}
			e.print(s, s.text(e.colors, told > 0))
			told++
		}
		if told == 0 && e.failures == 0 {
			return fmt.Errorf("no recordings in %s", strings.Join(args, ", "))
		}
		return nil
	})
}

// text is the summary for a person, after an empty line if it is not the first.
func (s *summary) text(c colors, later bool) string {
	var b strings.Builder
	if later {
		b.WriteByte('\n')
	}
	b.WriteString(c.paint(bold, printable(s.Path)) + "\n")
	colored := func(color, what string, parts ...string) {
		if text := strings.Join(parts, ", "); text != "" {
			fmt.Fprintf(&b, "  %-14s %s\n", what, c.paint(color, printable(text)))
		}
	}
	line := func(what string, parts ...string) { colored("", what, parts...) }
	line("what", strings.Join(strings.Fields(s.Format+" "+s.Version+" "+s.Layout), " "), humanSize(s.Size))
	line("modified", localTime(&s.Modified))
	line("start", localTime(s.Start))
	line("length", s.length()...)
	if s.Map != nil {
		line("map", *s.Map)
	}
	for _, d := range s.Details {
		line(strings.ReplaceAll(d.Key, "_", " "), d.Text)
	}
	if n := len(s.Players); n > 0 {
		line("players", append(s.Players[:min(n, shownPlayers):n], more(n-shownPlayers)...)...)
	}
	if s.End != "" && s.Complete != nil {
		line("end", s.End, map[bool]string{true: "complete", false: "incomplete"}[*s.Complete])
	}
	for i, p := range s.Found {
		if i == shownProblems {
			line("problems", more(len(s.Found)-shownProblems)...)
			break
		}
		p.Path, p.Format = "", ""
		colored(red, "problem", strings.TrimPrefix(p.String(), ": "))
	}
	if len(s.Found) == 0 {
		line("problems", "none known; 'recfs check' reads everything")
	}
	return b.String()
}

func (s *summary) length() []string {
	var parts []string
	if s.DurationMS != nil {
		parts = append(parts, length(s.DurationMS))
	}
	if s.Ticks != nil && s.Chunks > 0 {
		parts = append(parts, count(int(*s.Ticks), "tick", "ticks"), count(s.Chunks, "chunk", "chunks"))
	}
	return parts
}

// more says that n things are left out.
func more(n int) []string {
	if n <= 0 {
		return nil
	}
	return []string{fmt.Sprintf("and %d more", n)}
}
