package nodes_test

import (
	"context"
	"testing"

	"recfs/nodes"
)

type versionedDir struct{ nodes.Dir }

func (versionedDir) Version(_ context.Context, below string) (string, error) {
	return "v " + below, nil
}

func TestWay(t *testing.T) {
	ctx := t.Context()
	inner := nodes.List(nodes.Entry{Name: "x", File: nodes.Bytes([]byte("x"))})
	root := nodes.Entry{Name: ".", Dir: nodes.List(
		nodes.Entry{Name: "rec", Dir: versionedDir{nodes.List(nodes.Entry{Name: "d", Dir: inner})}},
		nodes.Entry{Name: "link", Link: "rec/d/.."},
	)}
	w, err := nodes.FollowWay(ctx, root, "link/d/x")
	if err != nil {
		t.Fatal(err)
	}
	v, err := w.Version(ctx)
	if w.Path() != "rec/d/x" || w.Links != 1 || v != "5 v d/x" || err != nil {
		t.Errorf("%s over %d links, version %s, %v", w.Path(), w.Links, v, err)
	}
	rec, err := nodes.Lookup(ctx, root.Dir, "rec")
	if err != nil || !nodes.IsWhole(rec) || nodes.IsWhole(root) {
		t.Errorf("whole: %t %t, %v", nodes.IsWhole(rec), nodes.IsWhole(root), err)
	}
}
