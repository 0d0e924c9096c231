package main

import (
	"context"
	"slices"

	"recfs/formats"
	"recfs/formats/catalogue"
)

// holds reports whether the last save of a recording, which is called name, has the items in the
// pack and the monsters on the level that are looked for.
func (f *finder) holds(ctx context.Context, name string, s catalogue.Summary) bool {
	things := f.a.formatNamed(s.Format).Things
	switch {
	case len(f.items) == 0 && len(f.monsters) == 0:
		return true
	case things == nil:
		return false
	case !s.Indexed:
		f.unknown++
		return false
	}
	tree, x, err := f.index(ctx, name)
	var last formats.Things
	if err == nil {
		last, err = things(ctx, tree, x)
	}
	if err != nil {
		f.fail(name, err)
		return false
	}
	return hasEach(last.Items, f.items) && hasEach(last.Monsters, f.monsters)
}

// hasEach reports whether for each pattern there is a name that matches.
func hasEach(names, patterns []string) bool {
	return !slices.ContainsFunc(patterns, func(pattern string) bool { return !slices.ContainsFunc(names, like(pattern)) })
}
