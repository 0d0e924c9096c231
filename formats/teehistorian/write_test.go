package teehistorian

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strings"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"recfs/formats/internal/demo"
)

// A writer makes recordings, good and broken ones. It keeps count of ticks on its own, as the words
// of docs/formats/teehistorian.md section 5 say.
type writer struct {
	b      []byte
	tick   int
	last   int // client id of the last position in this tick
	events []written
}

// A written is what a record should be read as.
type written struct {
	event  string
	offset int
	tick   int
	cid    int
}

// newWriter begins a recording with a header of these members.
func newWriter(members map[string]any) *writer {
	if members == nil {
		members = map[string]any{"version": "2", "version_minor": "22"}
	}
	text, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	b := append([]byte(nil), magic[:]...)
	return &writer{b: append(append(b, text...), 0), last: math.MaxInt}
}

// indexed returns the header and the index of a recording.
func indexed(t rapid.TB, b []byte) (*header, *index) {
	t.Helper()
	h, err := readHeader(context.Background(), bytes.NewReader(b), 0)
	if err != nil {
		t.Fatal(err)
	}
	x, err := buildIndex(bytes.NewReader(b), int64(len(b)), h)
	if err != nil {
		t.Fatal(err)
	}
	return h, x
}

func (w *writer) note(event string, cid int) {
	w.events = append(w.events, written{event, len(w.b), w.tick, cid})
}

func (w *writer) ints(list ...int) {
	for _, v := range list {
		w.b = demo.AppendInt(w.b, int32(v))
	}
}

func (w *writer) text(s string) { w.b = append(append(w.b, s...), 0) }

// position notes a record that may begin a tick.
func (w *writer) position(event string, cid int) {
	if cid <= w.last {
		w.tick++
	}
	w.last = cid
	w.note(event, cid)
}

func (w *writer) diff(cid, dx, dy int) {
	w.position("player_diff", cid)
	w.ints(cid, dx, dy)
}

func (w *writer) new(cid, x, y int) {
	w.position("player_new", cid)
	w.ints(-3, cid, x, y)
}

func (w *writer) old(cid int) {
	w.position("player_old", cid)
	w.ints(-4, cid)
}

func (w *writer) skip(dt int) {
	w.tick += dt + 1
	w.last = -1
	w.note("tick_skip", 0)
	w.ints(-2, dt)
}

func (w *writer) inputNew(cid int, v [inputs]int) {
	w.note("input_new", cid)
	w.ints(-6, cid)
	w.ints(v[:]...)
}

func (w *writer) inputDiff(cid int, d [inputs]int) {
	w.note("input_diff", cid)
	w.ints(-5, cid)
	w.ints(d[:]...)
}

func (w *writer) message(cid int, data string) {
	w.note("net_message", cid)
	w.ints(-7, cid, len(data))
	w.b = append(w.b, data...)
}

func (w *writer) join(cid int) {
	w.note("join", cid)
	w.ints(-8, cid)
}

func (w *writer) drop(cid int, reason string) {
	w.note("drop", cid)
	w.ints(-9, cid)
	w.text(reason)
}

func (w *writer) command(cid, flags int, words ...string) {
	w.note("console_command", cid)
	w.ints(-10, cid, flags)
	w.text(words[0])
	w.ints(len(words) - 1)
	for _, arg := range words[1:] {
		w.text(arg)
	}
}

// ex writes an extension record of the known kind event.
func (w *writer) ex(event string, cid int, data string) {
	for _, typ := range extensionTypes {
		if typ.event == event {
			w.note(event, cid)
			w.rawEx(extensionID(typ.name), data)
			return
		}
	}
	panic(event)
}

func (w *writer) rawEx(id uuid.UUID, data string) {
	w.ints(-11)
	w.b = append(w.b, id[:]...)
	w.ints(len(data))
	w.b = append(w.b, data...)
}

func (w *writer) finish() {
	w.note("finish", 0)
	w.ints(-1)
}

// packed returns ints and strings as they stand in payloads.
func packed(list ...any) string {
	var b []byte
	for _, v := range list {
		switch v := v.(type) {
		case int:
			b = demo.AppendInt(b, int32(v))
		case string:
			b = append(append(b, v...), 0)
		case uuid.UUID:
			b = append(b, v[:]...)
		}
	}
	return string(b)
}

// startInfo returns the payload of a Cl_StartInfo of 0.6.
func startInfo(name string) string {
	return packed(40, name, strings.ToUpper(name), -1, "default", 0, 0, 0)
}
