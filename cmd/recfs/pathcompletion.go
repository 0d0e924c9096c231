package main

import (
	"context"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"recfs/nodes"
)

const (
	maxCandidates    = 500
	completionBudget = 2 * time.Second
)

// pathCandidates completes a path, also where it leads into a recording.
func pathCandidates(ctx context.Context, prefix string) []string {
	ctx, cancel := context.WithTimeout(ctx, completionBudget)
	defer cancel()
	a, err := readFlags(pflag.NewFlagSet("", pflag.ContinueOnError)).open(&env{})
	if err != nil {
		return nil
	}
	defer a.close()
	dir, start := path.Split(prefix)
	at := path.Join(".", dir)
	switch rest, home := strings.CutPrefix(dir, "~/"); {
	case home:
		at = path.Join(os.Getenv("HOME"), rest)
	case strings.HasPrefix(dir, "/"):
		at = dir
	}
	var out []string
	for _, name := range a.expand(ctx, []string{at}) {
		if e, err := a.resolve(ctx, name); err == nil && e.Dir != nil {
			out = append(out, startingWith(ctx, e, dir, start)...)
		}
		if len(out) >= maxCandidates {
			break
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func startingWith(ctx context.Context, e nodes.Entry, dir, start string) []string {
	var out []string
	for child, err := range entries(ctx, e) {
		if err != nil || len(out) == maxCandidates {
			break
		}
		if !strings.HasPrefix(child.Name, start) || start == "" && strings.HasPrefix(child.Name, ".") {
			continue
		}
		if printable(child.Name) != child.Name { // shells take one candidate a line
			continue
		}
		name := dir + child.Name
		if child.Dir != nil {
			name += "/"
		}
		out = append(out, name)
	}
	return out
}
