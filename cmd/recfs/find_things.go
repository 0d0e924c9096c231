package main

import (
	"context"
	"slices"

	"recfs/formats/catalogue"
)

// holds reports whether the last save of a recording, which is called name, has the items and
// monsters that are looked for.
func (f *finder) holds(ctx context.Context, name string, s catalogue.Summary) bool {
	v, err := f.askThings(ctx, name, s)
	if err != nil {
		f.fail(name, err)
	}
	if v == unknown {
		f.unknown++
	}
	return v == yes
}

// askThings asks about what was in the pack and on the level when the game was saved last.
func (f *finder) askThings(ctx context.Context, name string, s catalogue.Summary) (verdict, error) {
	things := f.a.formatNamed(s.Format).Things
	switch {
	case len(f.items) == 0 && len(f.monsters) == 0:
		return yes, nil
	case things == nil:
		return no, nil
	case !s.Indexed:
		return unknown, nil
	}
	tree, x, err := f.index(ctx, name)
	if err != nil {
		return no, err
	}
	last, err := things(ctx, tree, x)
	if err != nil || !hasEach(last.Items, f.items) || !hasEach(last.Monsters, f.monsters) {
		return no, err
	}
	return yes, nil
}

// hasEach reports whether for each pattern there is a name that matches.
func hasEach(names, patterns []string) bool {
	return !slices.ContainsFunc(patterns, func(pattern string) bool { return !slices.ContainsFunc(names, like(pattern)) })
}
