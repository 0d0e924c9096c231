package teehistorian

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recfs/cache"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/recordings"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// What the chunks hold for each stay is decoded once, however often the files
// that are made of it are looked at and opened: a second look finds their sizes
// where it could not be decoded any more.
func TestSizesAreRemembered(t *testing.T) {
	c := cache.New(16<<20, nil)
	defer c.Close()
	src := formatstest.BytesInput("x.teehistorian", readBusy(t), time.Unix(1, 0))
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
		x.chunks[i].Activity = bytes.Repeat([]byte{0xff}, 16)
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

// The sizes that are learned of a chunk at once are those of the documents, whatever the records
// are.
func TestDocSizes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { holdSizes(t, rt.Errorf, draw(rt).b) })
}

// The same with the recordings of servers.
func TestDocSizesOfSamples(t *testing.T) {
	nodestest.Long(t)
	if docs := holdSizes(t, t.Errorf, readBusy(t)); docs < 1000 {
		t.Errorf("%d documents", docs)
	}
	files, _ := filepath.Glob(filepath.Join(sharedRecordings, "*.teehistorian"))
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		holdSizes(t, t.Errorf, b)
	}
}

// holdSizes holds the sizes of all ticks and states of a recording to the documents, and returns
// how many they are; none if it does not open.
func holdSizes(t *testing.T, fail func(string, ...any), b []byte) (docs int) {
	root, err := openBytes(t, newCache(t), b)
	if err != nil {
		return 0
	}
	sizes := map[string]int64{}
	for read := range 2 {
		err := nodes.Walk(t.Context(), root, func(name string, e nodes.Entry, err error) error {
			if err != nil || !strings.HasPrefix(name, "ticks/") && !strings.HasPrefix(name, "states/") {
				return err
			}
			if read == 0 {
				sizes[name], err = e.File.Size(t.Context())
				return err
			}
			doc, err := nodes.ReadAll(t.Context(), e.File)
			if int64(len(doc)) != sizes[name] {
				fail("%s: %d bytes, it said %d", name, len(doc), sizes[name])
			}
			docs++
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return docs
}
