package hcrp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
)

// An errorFS fails to open anything.
type errorFS struct{ err error }

func (f errorFS) Open(_ context.Context, name string) (formats.File, error) {
	return formats.File{}, &iofs.PathError{Op: "open", Path: name, Err: f.err}
}

// TestUnreadableSidecar takes a failed read for no answer: without its schema or dictionary a
// recording would show other files.
func TestUnreadableSidecar(t *testing.T) {
	for err, fails := range map[error]bool{
		iofs.ErrNotExist: false, iofs.ErrPermission: false, syscall.ENAMETOOLONG: false, syscall.EIO: true,
	} {
		s, got := sidecar(t.Context(), &Tables{}, formats.Input{Name: "run.hcrp", Beside: errorFS{err}})
		if s != nil || errors.Is(got, err) != fails || isUnread(got) != fails {
			t.Errorf("%v: %v, %v", err, s, got)
		}
		for _, dirs := range [][]formats.Folder{nil, {errorFS{err}}} {
			d, got := findDictionary(t.Context(), 7, dirs, errorFS{err}, Limits{}.withDefaults())
			if d != nil || got == nil || isUnread(got) != fails {
				t.Errorf("%v: %v, %v", err, d, got)
			}
		}
	}
}

// What is looked for beside a recording, and elsewhere, is told.
func TestBesideFiles(t *testing.T) {
	in := formats.Input{Name: "run.hcrp.xz"}
	schemas := []string{"run.hcrp.xz.schema.json", "run.hcrp.schema.json", "run.schema.json"}
	dictionaries := []string{"dictionaries/7.dict", "7.dict", "/7.dict"}
	for _, c := range []struct {
		id   uint16
		dir  bool
		want []string
	}{
		{want: schemas},
		{id: 7, want: slices.Concat(schemas, dictionaries)},
		{dir: true},
		{id: 7, dir: true, want: dictionaries[2:]},
	} {
		h := &head{Tables: &Tables{Header: &Header{Dictionary: c.id}, Dir: c.dir}}
		if got, ok := besideFiles(in, h); !ok || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, %v", c, got, ok)
		}
	}
	if _, ok := besideFiles(in, &ruin{}); ok {
		t.Error("a recording that does not open depends on nothing else")
	}
}

// A schema beside a recording that cannot be used is a problem, and the recording is shown as
// without it.
func TestBadSidecars(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 34)), hosts(t)[0].schema}
	file := g.recording(Published, 4, 2, 10).file(t)
	event := func(fields string) string {
		return `{"format":"recording-schema/1","name":"t","events":[{"id":1,"name":"x","fields":[` + fields + `]}]}`
	}
	good := strings.Replace(string(parkourV4), "mapmaker-parkour", "mine", 1)
	for name, c := range map[string]struct {
		beside fstest.MapFS
		want   []string // messages begin so
		schema string
	}{
		"no JSON":   {fstest.MapFS{"test.schema.json": {Data: []byte("{")}}, []string{"test.schema.json: the schema cannot be used: "}, "mapmaker-parkour"},
		"no schema": {fstest.MapFS{"test.schema.json": {Data: []byte("{}")}}, []string{`test.schema.json: the schema cannot be used: the format is ""`}, "mapmaker-parkour"},
		"a wrong type": {
			fstest.MapFS{"test.schema.json": {Data: []byte(event(`{"name":"a","type":"varnit"}`))}},
			[]string{`test.schema.json: the schema cannot be used: unknown type "varnit" (field "a") (event "x")`},
			"mapmaker-parkour",
		},
		"lengths": {
			fstest.MapFS{"test.schema.json": {Data: []byte(strings.Replace(event(""), `"name"`, `"event_length":"varint","name"`, 1))}},
			[]string{"test.schema.json: the schema cannot be used: events of the published layout have no length"},
			"mapmaker-parkour",
		},
		"too long":    {fstest.MapFS{"test.schema.json": {Data: make([]byte, maxSchemaFile+1)}}, []string{"test.schema.json: the schema cannot be used: it is 1048577"}, "mapmaker-parkour"},
		"a directory": {fstest.MapFS{"test.schema.json/x": {}}, []string{"test.schema.json: the schema cannot be used: it is no regular file"}, "mapmaker-parkour"},
		"two":         {fstest.MapFS{"test.schema.json": {}, "test.hcrp.schema.json": {}}, []string{"test.hcrp.schema.json: ", "test.schema.json: "}, "mapmaker-parkour"},
		"one of two":  {fstest.MapFS{"test.schema.json": {Data: []byte(good)}, "test.hcrp.schema.json": {}}, []string{"test.hcrp.schema.json: "}, "mine"},
		"the second":  {fstest.MapFS{"test.schema.json": {}, "test.hcrp.schema.json": {Data: []byte(good)}}, nil, "mine"},
	} {
		disk, format := store{}, New(Options{})
		for range 2 { // of the file, and as it is kept
			in := fileInput(file, len(file))
			in.Beside = formatstest.Folder{FS: c.beside}
			dir := openKept(t, format, in, disk)
			var head, index struct {
				Complete bool
				Schema   string
				Hint     *string
				Problems []formats.Problem
			}
			for file, to := range map[string]any{"header.json": &head, "index.json": &index} {
				if err := json.Unmarshal([]byte(mustRead(t, dir, file)), to); err != nil {
					t.Fatal(err)
				}
			}
			if fmt.Sprint(head.Problems) != fmt.Sprint(index.Problems) || len(head.Problems) != len(c.want) {
				t.Errorf("%s: problems %v and %v, want %q", name, head.Problems, index.Problems, c.want)
			}
			for i, p := range head.Problems[:min(len(head.Problems), len(c.want))] {
				if p.Code != codeSchema || p.Offset != 0 || p.Chunk != nil || !strings.HasPrefix(p.Message, c.want[i]) {
					t.Errorf("%s: %+v, want %q", name, p, c.want[i])
				}
			}
			if !index.Complete || index.Schema != c.schema || index.Hint != nil {
				t.Errorf("%s: index.json is %+v", name, index)
			}
		}
	}
}

// TestSchemaProblemsAreInOrder has problems of segments before that of the schema, and those of
// chunks after it.
func TestSchemaProblemsAreInOrder(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 35)), hosts(t)[0].schema}
	rec := g.recording(Published, 4, 3, 10)
	rec.chunks[1].start--
	rec.chunks[2].body = rec.chunks[2].body[:1]
	fsys := rec.segments(t, 1)
	fsys["segment-001.dat"].Data = append(fsys["segment-001.dat"].Data, 1)
	fsys["schema.json"] = &fstest.MapFile{}
	dir, err := openFS(t, fsys, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var index struct{ Problems []formats.Problem }
	if err := json.Unmarshal([]byte(mustRead(t, dir, "index.json")), &index); err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, p := range index.Problems {
		codes = append(codes, p.Code)
	}
	if got := strings.Join(codes, " "); !strings.HasPrefix(got, "index.order index.ticks index.ticks segment.trailing schema chunk.records") {
		t.Errorf("problems are %s", got)
	}
}

// Where a built-in schema was taken that lacks an event, a hint names --schema; where the recording
// is damaged none does.
func TestHintWhereTheSchemaDoesNotFit(t *testing.T) {
	own := strings.Replace(string(parkourV4), "mapmaker-parkour", "mine", 1)
	mine, err := ParseSchema([]byte(own))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		body []byte
		opt  Options
		hint bool
	}{
		"an unknown id":             {[]byte{0, 0, 1, 10, 1, 0, 1, 99}, Options{}, true},
		"a cut event":               {[]byte{0, 0, 1, 10, 1, 0, 1, 1}, Options{}, false},
		"an unknown id, given":      {[]byte{0, 0, 1, 10}, Options{Schemas: []*Schema{mine}}, false},
		"all is known":              {[]byte{0, 0, 1, 10, 1, 0, 1, 10}, Options{}, false},
		"an unknown id after a cut": {[]byte{0, 0, 2, 99, 99}, Options{}, true},
	} {
		rec := &testRecording{layout: Published, version: 4, metadata: []byte{10, 0}, chunks: []testChunk{{ticks: 2, body: c.body}}}
		file := rec.file(t)
		dir, err := openBytes(t, file, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		if text := mustRead(t, dir, "index.json"); strings.Contains(text, `"hint"`) != c.hint || c.hint && !strings.Contains(text, "--schema") {
			t.Errorf("%s: index.json is\n%s", name, text)
		}
	}
}

// TestSectionWithABadEntry shows nothing of a snapshot section in which an entry cannot be read,
// but the ticks behind it.
func TestSectionWithABadEntry(t *testing.T) {
	schema, err := ParseSchema([]byte(`{"format":"recording-schema/1","name":"t","events":[
		{"id":1,"name":"go","role":"move","fields":[{"name":"entity","type":"u8"},{"name":"dx","type":"u8"},{"name":"dy","type":"u8"},{"name":"dz","type":"u8"}]}],
		"snapshot":{"kind":"section","entries":[
		{"id":7,"name":"entity","role":"place","fields":[{"name":"entity","type":"u8"},{"name":"position","type":{"struct":[{"name":"x","type":"u8"}]}}]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range []byte{7, 9} { // known, and not
		body := []byte{6, 7, 0, 5, entry, 1, 5, 0, 0, 1, 1, 0, 1, 0, 0}
		rec := &testRecording{layout: Design, version: 1, metadata: []byte{10, 0}, chunks: []testChunk{{flags: flagSnapshot, ticks: 4, body: body}}}
		dir, err := openBytes(t, rec.file(t), Options{Schemas: []*Schema{schema}})
		if err != nil {
			t.Fatal(err)
		}
		ghost, tracks := mustRead(t, dir, "export/ghost.csv"), names(t, dir, "tracks")
		_, lines := read(t, dir, "snapshots/000000.jsonl")
		_, state := read(t, dir, "states/0.json")
		bad := entry == 9
		if bad != errors.Is(lines, formats.ErrCorrupt) || bad != errors.Is(state, formats.ErrCorrupt) || bad != (ghost == ghostHead) || bad != (len(tracks) == 0) {
			t.Errorf("entry %d: snapshot %v, state %v, tracks %v, ghost.csv\n%s", entry, lines, state, tracks, ghost)
		}
		if bad != strings.Contains(mustRead(t, dir, "lines/000000.jsonl"), `{"problem":{"code":"chunk.event"`) {
			t.Errorf("entry %d: lines are\n%s", entry, mustRead(t, dir, "lines/000000.jsonl"))
		}
		if text := mustRead(t, dir, "index.json"); !strings.Contains(text, `"empty_ticks": 3`) || bad == strings.Contains(text, `"complete": true`) {
			t.Errorf("entry %d: index.json is\n%s", entry, text)
		}
		mustRead(t, dir, "ticks/0.json")
		mustRead(t, dir, "snapshots/000000.bin")
	}
}
