package catalogue

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// knownPaths returns the paths of all that is known, and whether that is all.
func knownPaths(t *testing.T, r *root) (paths []string, all bool) {
	t.Helper()
	known, err := r.c.Known(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if err := known.Each(t.Context(), func(l *Line) { paths = append(paths, l.Path) }); err != nil {
		t.Fatal(err)
	}
	return paths, !known.Walking
}

// gated is a format whose headers of files called slow are read once the gate is open.
func gated(gate <-chan bool) formats.Format {
	return formatstest.Plain(formats.Format{
		Name: "gated", Extensions: []string{".gated"}, Match: func([]byte) bool { return true },
	}, func(ctx context.Context, in formats.Input) error {
		if in.Size > 4 {
			select {
			case <-gate:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}, func(formats.Input, *cache.Cache) nodes.Dir { return nodes.List() })
}

// TestKnownWhileWalking asks while an archive is looked at for the first time.
func TestKnownWhileWalking(t *testing.T) {
	dir, gate := t.TempDir(), make(chan bool)
	var want []string
	for i := range 2 * manyTasks {
		name := fmt.Sprintf("%03d.gated", i)
		write(t, dir, name, "x")
		want = append(want, name)
	}
	write(t, dir, "slow.gated", "xxxxx")
	want = append(want, "slow.gated")
	c := cache.New(8<<20, nil)
	defer c.Close()
	r := newRoot(formatstest.OpenLocal(t, dir), []formats.Format{gated(gate)}, c, archive.Options{})
	defer r.c.Close()
	paths, all := knownPaths(t, r)
	if all || len(paths) == 0 || !slices.Equal(paths, want[:len(paths)]) {
		t.Errorf("while one waits there are %d, all %t: %q", len(paths), all, paths)
	}
	close(gate)
	nodestest.Eventually(t, "the end of the walk", func() bool {
		paths, all = knownPaths(t, r)
		return all
	})
	if !slices.Equal(paths, want) {
		t.Errorf("in the end there are %q", paths)
	}
	write(t, dir, "new.gated", "x")
	nodestest.Eventually(t, "a new one", func() bool {
		paths, all := knownPaths(t, r)
		return all && slices.Contains(paths, "new.gated")
	})
}

// TestKnownWalkEnds closes a catalogue while somebody looks at an archive.
func TestKnownWalkEnds(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "slow.gated", "xxxxx")
	c := cache.New(8<<20, nil)
	defer c.Close()
	r := newRoot(formatstest.OpenLocal(t, dir), []formats.Format{gated(nil)}, c, archive.Options{})
	if paths, all := knownPaths(t, r); all || len(paths) > 0 {
		t.Errorf("there are %q", paths)
	}
	r.c.Close() // hangs unless the walk ends
}

// TestRow cuts the players of a line, which is that of recordings.jsonl otherwise. Names can be
// searched for as they are.
func TestRow(t *testing.T) {
	castle := "<castle> \",\"size\":"
	l, _ := newLine(Summary{Path: "a", Format: "rec", Map: &castle, Players: []string{"ann", "bob", "cleo", "dan"}, Size: 7})
	b := l.Row(2, func(name string) bool { return strings.HasPrefix(name, "c") })
	var row struct {
		Map     string
		Players []string
		Total   int `json:"players_total"`
		Size    int
	}
	if err := json.Unmarshal(b, &row); err != nil || !slices.Equal(row.Players, []string{"cleo", "ann"}) || row.Total != 4 || row.Size != 7 || row.Map != castle || !strings.Contains(string(b), "<castle>") {
		t.Errorf("%s, %v", b, err)
	}
	if len(l.Players) != 4 || l.Players[0] != "ann" {
		t.Errorf("the line has %q now", l.Players)
	}
	none, _ := newLine(Summary{Path: "b", Error: "gone"})
	if b := none.Row(2, nil); !strings.Contains(string(b), `"players":null,"players_total":null,"size":null`) {
		t.Errorf("%s", b)
	}
}
