package teehistorian

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/recordings"
	"recfs/nodes"
)

// What the chunks hold for each stay is decoded once, however often the files
// that are made of it are looked at and opened: a second look finds their sizes
// where it could not be decoded any more.
func TestSizesAreRemembered(t *testing.T) {
	c := cache.New(16<<20, nil)
	defer c.Close()
	src := formats.BytesInput("x.teehistorian", readBusy(t), time.Unix(1, 0))
	o, err := recordings.OpenOne(t.Context(), recordings.Source{Format: &Format, Input: src}, c, slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	found, err := o.Index(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x := found.(*index)
	first := sizesOfStays(t, o.Dir)
	if n := len(x.chunks); n < 2 || first["export/events.txt"] == 0 || len(first) < 4 {
		t.Fatalf("%d chunks, files %v", n, first)
	}
	for i := range x.chunks {
		x.chunks[i].activity = bytes.Repeat([]byte{0xff}, 16)
	}
	for name, size := range sizesOfStays(t, o.Dir) {
		if size != first[name] {
			t.Errorf("%s: %d bytes, %d before", name, size, first[name])
		}
	}
}

// sizesOfStays looks at the files that have the rows and the names of stays, and opens them.
func sizesOfStays(t *testing.T, root nodes.Dir) map[string]int64 {
	t.Helper()
	sizes := map[string]int64{}
	err := nodes.Walk(t.Context(), root, func(name string, e nodes.Entry, err error) error {
		if err != nil || e.File == nil || !strings.HasPrefix(name, "players/") && name != "export/events.txt" {
			return err
		}
		if sizes[name], err = e.File.Size(t.Context()); err != nil {
			return err
		}
		content, err := e.File.Open(t.Context())
		if err == nil && content.Size() != sizes[name] {
			t.Errorf("%s: the content has %d bytes, Size said %d", name, content.Size(), sizes[name])
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return sizes
}
