package teehistorian

import (
	"encoding/json"
	"testing"

	"recfs/formats/internal/jsonenc"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// players.json is one document, however many parts it is made in.
func TestPlayersInParts(t *testing.T) {
	for _, stays := range []int{0, 1, staysPerPart, staysPerPart + 1, 3*staysPerPart - 1} {
		w := newWriter(nil)
		for range stays {
			w.join(5)
			w.drop(5, "Timeout")
		}
		w.finish()
		got := nodestest.Read(t, rootOf(t, w), "players.json")
		var doc struct {
			Players []json.RawMessage `json:"players"`
		}
		if err := json.Unmarshal([]byte(got), &doc); err != nil {
			t.Fatalf("%d stays: %v", stays, err)
		}
		want, err := jsonenc.MarshalIndented(doc)
		if err != nil {
			t.Fatal(err)
		}
		if len(doc.Players) != stays || got != string(want) {
			t.Errorf("%d stays: %d are shown, or are laid out in another way than a document is", stays, len(doc.Players))
		}
	}
}

// Of a document that was read from end to end the last parts stay in memory.
func TestPartsAreDropped(t *testing.T) {
	w := newWriter(nil)
	for range 32 * staysPerPart {
		w.join(5)
		w.drop(5, "Timeout")
	}
	w.finish()
	c := newCache(t)
	root, err := openBytes(t, c, w.b)
	if err != nil {
		t.Fatal(err)
	}
	e, err := nodes.Lookup(t.Context(), root, "players/05/commands.txt") // what is made of the index
	if err == nil {
		_, err = e.File.Size(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	before := c.Stats().Bytes
	size := int64(len(nodestest.Read(t, root, "players.json")))
	if kept := c.Stats().Bytes - before; kept < size/8 || kept > size/2 {
		t.Errorf("%d bytes are kept of %d", kept, size)
	}
}
