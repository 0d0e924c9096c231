package main

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"

	"recfs/formats/catalogue"
	"recfs/nodes"
)

// A thing is an object or a monster in a state of a game (docs/tree/nethack.md section 6a).
type thing struct {
	Object   string  `json:"object"`
	Artifact string  `json:"artifact"`
	Monster  string  `json:"monster"`
	Name     string  `json:"name"` // given to it
	Contents []thing `json:"contents"`
}

// isItem reports whether an object, or one in it, has a name that matches.
func (t thing) isItem(matches func(string) bool) bool {
	return matches(t.Object) || matches(t.Artifact) || matches(t.Name) ||
		slices.ContainsFunc(t.Contents, func(t thing) bool { return t.isItem(matches) })
}

// isMonster reports whether a monster has a name that matches.
func (t thing) isMonster(matches func(string) bool) bool {
	return matches(t.Monster) || matches(t.Name)
}

// things are what the state of a save has.
type things struct {
	Inventory []thing `json:"inventory"`
	Monsters  []thing `json:"monsters"`
}

// lastThings returns the things in the last save of a recording; nil: it has none.
func lastThings(ctx context.Context, dir nodes.Dir) (*things, error) {
	var index struct {
		LastSave *struct {
			Tick int64 `json:"tick"`
		} `json:"last_save"`
	}
	if err := readJSON(ctx, dir, "index.json", &index); err != nil || index.LastSave == nil {
		return nil, err
	}
	found := &things{}
	return found, readJSON(ctx, dir, fmt.Sprintf("states/%d.json", index.LastSave.Tick), found)
}

// holds reports whether the last save of a recording, which is called name, has the items and monsters
// that are looked for.
func (f *finder) holds(ctx context.Context, name string, s catalogue.Summary) bool {
	v, err := f.askThings(ctx, name, s.Indexed)
	if err != nil {
		f.fail(name, err)
	}
	if v == unknown {
		f.unknown++
	}
	return v == yes
}

// askThings asks about what was in the pack and on the level when the game was saved last.
func (f *finder) askThings(ctx context.Context, name string, indexed bool) (verdict, error) {
	if len(f.items) == 0 && len(f.monsters) == 0 {
		return yes, nil
	}
	e, err := f.a.resolve(ctx, name)
	if err != nil {
		return no, err
	}
	if e.Dir == nil {
		return no, nil
	}
	if _, err := nodes.Child(ctx, e.Dir, "saves"); errors.Is(err, iofs.ErrNotExist) {
		return no, nil // of a format without saves
	}
	if !indexed {
		return unknown, nil
	}
	last, err := lastThings(ctx, e.Dir)
	if err != nil || last == nil {
		return no, err
	}
	if hasEach(last.Inventory, f.items, thing.isItem) && hasEach(last.Monsters, f.monsters, thing.isMonster) {
		return yes, nil
	}
	return no, nil
}

// hasEach reports whether for each pattern there is a thing that is one.
func hasEach(things []thing, patterns []string, is func(thing, func(string) bool) bool) bool {
	return !slices.ContainsFunc(patterns, func(pattern string) bool {
		return !slices.ContainsFunc(things, func(t thing) bool { return is(t, like(pattern)) })
	})
}
