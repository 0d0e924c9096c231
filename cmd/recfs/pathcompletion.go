package main

import (
	"cmp"
	"context"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"recfs/formats/catalogue"
	"recfs/nodes"
)

const maxCandidates = 500

// completionTime is how long somebody who pressed a key waits for candidates.
var completionTime = 2 * time.Second

// pathCandidates completes a path, also where it leads into a recording.
func pathCandidates(ctx context.Context, prefix string) []string {
	dir, start := path.Split(prefix)
	var out []string
	looking(ctx, func(ctx context.Context, a *archive) {
		for _, name := range a.expand(ctx, []string{cmp.Or(fromHome(dir), ".")}) {
			if e, err := a.resolve(ctx, name); err == nil && e.Dir != nil {
				out = append(out, startingWith(ctx, e, dir, start)...)
			}
			if len(out) >= maxCandidates {
				break
			}
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// looking calls look with the flags' defaults, for as long as somebody waits.
func looking(ctx context.Context, look func(context.Context, *archive)) {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	if a, err := readFlags(pflag.NewFlagSet("", pflag.ContinueOnError)).open(&env{}); err == nil {
		defer a.close()
		look(ctx, a)
	}
}

// fromHome returns a path as the shell gives it that begins with ~/.
func fromHome(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return path.Join(os.Getenv("HOME"), rest)
	}
	return name
}

// playerCandidates returns the players of the recordings in args whose names begin with prefix.
func playerCandidates(ctx context.Context, args []string, prefix string) (out []string) {
	looking(ctx, func(ctx context.Context, a *archive) {
		for _, arg := range args {
			if e, err := a.resolve(ctx, sourceOf(fromHome(arg))); err == nil {
				known, _, _ := catalogue.Summarize(ctx, e.Dir)
				out = append(out, withPrefix(known.Players, prefix)...)
			}
		}
	})
	return slices.DeleteFunc(out, func(name string) bool { return printable(name) != name }) // shells take one a line
}

func startingWith(ctx context.Context, e nodes.Entry, dir, start string) []string {
	var out []string
	for child, err := range nodes.Entries(ctx, e) {
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
