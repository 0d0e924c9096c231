package nethack

import (
	"context"
	"encoding/json"
	"fmt"

	"recfs/formats"
	"recfs/nodes"
)

// A namedThing is an object or a monster in a state (docs/tree/nethack.md section 6a).
type namedThing struct {
	Object   string       `json:"object"`
	Artifact string       `json:"artifact"`
	Monster  string       `json:"monster"`
	Name     string       `json:"name"` // given to it
	Contents []namedThing `json:"contents"`
}

// lastThings is the Things of the format.
func lastThings(ctx context.Context, tree nodes.Dir, found formats.Index) (t formats.Things, err error) {
	last := found.(*index).lastSave()
	if last == nil {
		return t, nil
	}
	text, err := nodes.ReadFile(ctx, tree, fmt.Sprintf("states/%d.json", last.Tick))
	if err != nil {
		return t, err
	}
	var state struct {
		Inventory []namedThing `json:"inventory"`
		Monsters  []namedThing `json:"monsters"`
	}
	err = json.Unmarshal(text, &state)
	for _, monster := range state.Monsters {
		t.Monsters = append(t.Monsters, monster.Monster, monster.Name)
	}
	t.Items = itemNames(nil, state.Inventory)
	return t, err
}

// itemNames appends the names of objects and of those in them.
func itemNames(names []string, list []namedThing) []string {
	for _, item := range list {
		names = itemNames(append(names, item.Object, item.Artifact, item.Name), item.Contents)
	}
	return names
}
