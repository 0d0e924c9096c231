package hcrp

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
	"recfs/nodes/play"
)

var all = flag.Bool("all", false, "hold all frames of run-long.hcrp to states/, too, and play ten million events: half a minute of a processor each")

// TestPlay holds every frame of the samples, damaged ones among them, to states/ of its tick.
func TestPlay(t *testing.T) {
	const samples = "../../testdata/archive/hcrp/"
	files := []string{samples + "tiny.hcrp", samples + "bad/flipped-byte.hcrp", samples + "bad/truncated-tail.hcrp"}
	if !testing.Short() {
		files = append(files, samples+"run-short.hcrp")
		more, _ := filepath.Glob(shared + "*.hcrp")
		files = append(files, slices.DeleteFunc(more, func(name string) bool { return strings.HasSuffix(name, "run-long.hcrp") && !*all })...)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			file, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			holdFrames(t, func() (nodes.Dir, error) { return openBytes(t, file, Options{}) })
		})
	}
	for _, name := range []string{"run-finished", "run-live"} {
		t.Run(name, func(t *testing.T) {
			holdFrames(t, func() (nodes.Dir, error) { return openFS(t, os.DirFS(samples+name), Options{}) })
		})
	}
	for _, h := range hosts(t) {
		for seed := range uint64(nodestest.Times(12, 2)) {
			t.Run(fmt.Sprint(h.layout, h.version, seed), func(t *testing.T) {
				g := &generator{rand.New(rand.NewPCG(seed, 7)), h.schema}
				file := g.recording(h.layout, h.version, 1+g.IntN(9), 40).file(t)
				if seed%2 == 1 { // damaged
					file[len(file)/2+g.IntN(len(file)/2)] ^= 1
				}
				holdFrames(t, func() (nodes.Dir, error) { return openBytes(t, file, Options{Schemas: []*Schema{h.schema}}) })
			})
		}
	}
}

// holdFrames holds all frames of a recording to its states.
func holdFrames(t *testing.T, open func() (nodes.Dir, error)) {
	t.Helper()
	root, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := root.(play.Recording); !ok {
		t.Skip("it does not open")
	}
	a, err := root.(play.Recording).About(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	states, lives, frames := map[int64][]string{}, livesOf(t, root), 0
	formatstest.Frames(t, root.(play.Recording), func(b *play.Block, i int, tick int64) {
		want, ok := states[tick]
		if !ok {
			want = entitiesOf(t, root, tick)
			states[tick] = want
		}
		var got []string
		tracks, at := formatstest.At(b, i)
		for k, track := range tracks {
			place := "?"
			if j := at[k]; track.X != nil {
				place = fmt.Sprint(track.X[j], track.Y[j], track.Z[j], track.A[j])
				if x, z := float64(track.X[j]), float64(track.Z[j]); a.Bounds != nil && (x < a.Bounds[0] || x > a.Bounds[2] || z < a.Bounds[1] || z > a.Bounds[3]) {
					t.Errorf("tick %d: %s at %v, %v, outside of %v", tick, track.ID, x, z, *a.Bounds)
				}
			}
			id, life, _ := strings.Cut(string(track.ID), "/")
			if want, ok := lives[fmt.Sprint(tick, " ", id)]; ok && want != cmp.Or(life, "1") {
				t.Errorf("tick %d: entity %s, want life %s", tick, track.ID, want)
			}
			got = append(got, fmt.Sprint(id, " ", place, " ", track.S[at[k]]))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("tick %d: %q, want %q", tick, got, want)
		}
		frames++
	})
	if frames == 0 {
		t.Error("no frames")
	}
	if other, err := open(); err != nil {
		t.Error(err)
	} else {
		formatstest.Alone(t, root.(play.Recording), other.(play.Recording))
	}
}

// livesOf returns the life of each entity whose position tracks/ tells of a tick, the last if it
// had two.
func livesOf(t *testing.T, root nodes.Dir) map[string]string {
	t.Helper()
	lives := map[string]string{}
	for _, name := range names(t, root, "tracks") {
		entity, life, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(name, "entity-"), ".csv"), "-")
		for _, row := range strings.Split(mustRead(t, root, "tracks/"+name), "\n")[1:] {
			tick, _, _ := strings.Cut(row, ",")
			key := tick + " " + entity
			if life = cmp.Or(life, "1"); len(life) > len(lives[key]) || life > lives[key] {
				lives[key] = life
			}
		}
	}
	return lives
}

// entitiesOf returns who is there in states/ of a tick, none if it is not known.
func entitiesOf(t *testing.T, root nodes.Dir, tick int64) (list []string) {
	t.Helper()
	text, err := read(t, root, fmt.Sprintf("states/%d.json", tick))
	if err != nil {
		return nil
	}
	var state struct {
		Entities []struct {
			Entity   json.Number
			Position *struct{ X, Y, Z, Yaw any }
			Flags    []string
			Using    any
		}
	}
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatal(err)
	}
	for _, e := range state.Entities {
		place, does := "?", 0
		if p := e.Position; p != nil {
			turn := int64(math.Round(numeric(p.Yaw) * 256 / 360))
			if turn = min(max(turn, math.MinInt32), math.MaxInt32); numeric(p.Yaw) != numeric(p.Yaw) {
				turn = 0
			}
			place = fmt.Sprint(column(p.X), column(p.Y), column(p.Z), turn&255)
		}
		if slices.Contains(e.Flags, "sprinting") {
			does |= 1
		}
		if slices.Contains(e.Flags, "sneaking") {
			does |= 2
		}
		if e.Using != nil {
			does |= 4
		}
		list = append(list, fmt.Sprint(strings.Trim(e.Entity.String(), `"`), " ", place, " ", does))
	}
	slices.Sort(list)
	return list
}

// numeric returns a number of JSON, which may be no number.
func numeric(v any) float64 {
	switch v {
	case "NaN":
		return math.NaN()
	case "Infinity":
		return math.Inf(1)
	case "-Infinity":
		return math.Inf(-1)
	}
	return v.(float64)
}

// column returns a coordinate as a column has it.
func column(v any) int64 {
	x := math.Round(numeric(v) * 32)
	if x != x {
		return 0
	}
	return int64(min(max(x, math.MinInt32), math.MaxInt32))
}

// TestPlayAbout holds what is known of a recording before a frame is made, and its events.
func TestPlayAbout(t *testing.T) {
	file, err := os.ReadFile("../../testdata/archive/hcrp/run-short.hcrp")
	if err != nil {
		t.Fatal(err)
	}
	root, err := openBytes(t, file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := root.(play.Recording)
	a, err := p.About(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if *a.First != 0 || *a.Last != 436 || *a.TickMS != 50 || *a.Start != "2026-08-09T18:26:40Z" || a.Unit != "block" || len(a.Marks) != 5 {
		t.Errorf("%+v", a)
	}
	if a.Bounds == nil {
		t.Error("no bounds")
	}
	found, err := p.Events(t.Context(), play.Query{Kinds: []string{"marker"}, Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	var markers []string
	for i, e := range found.Rows {
		markers = append(markers, fmt.Sprint(e.Tick, " ", e.Text))
		if m := a.Marks[i]; m.Tick != e.Tick || m.Text != e.Text || m.Kind != e.Kind {
			t.Errorf("mark %+v is not event %+v", m, e)
		}
	}
	want := []string{
		"0 run_start", "88 checkpoint_reached checkpoint cp-1-🏁, run_time 4450", "313 checkpoint_reset reason lives, run_time 15700",
		"333 checkpoint_reset reason manual, run_time 16700", "436 run_end reason finish, run_time 21850",
	}
	if !slices.Equal(markers, want) {
		t.Errorf("markers %q", markers)
	}
	found, err = p.Events(t.Context(), play.Query{From: 420, Words: "SNEAKING", ID: "0", Limit: 9})
	if err != nil || len(found.Rows) != 1 || found.Rows[0].Kind != "entity_state" || found.Rows[0].Text != "entity_state entity 0, pose sneaking, flags []" {
		t.Errorf("%+v, %v", found.Rows, err)
	}
}

// TestPlaysOnce plays a recording from its start.
func TestPlaysOnce(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 1)), hosts(t)[0].schema}
	file := g.recording(Published, 4, 60, 100).file(t)
	formatstest.PlaysOnce(t, New(Options{}), "test.hcrp", file, int64(len(file)))
}

// BenchmarkPlay plays a minute of a long recording, block after block.
func BenchmarkPlay(b *testing.B) {
	file := longFile(b)
	for b.Loop() {
		b.StopTimer()
		root, err := openBytes(b, file, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := root.(play.Recording).About(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		for n := range int64(5) {
			if _, err := root.(play.Recording).Frames(b.Context(), 20+n, 1); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// TestPlayManyEvents plays a chunk of 130,000 events, or ten million with -all: a block has the
// first of them and counts the rest, and a search from the end ends.
func TestPlayManyEvents(t *testing.T) {
	nodestest.Long(t)
	const most = math.MaxInt16 // of a tick
	c := testChunk{ticks: 4}
	if *all {
		c.ticks = 310
	}
	for tick := range c.ticks {
		c.body = binary.BigEndian.AppendUint16(appendVarint(c.body, int64(tick)), most)
		c.body = append(c.body, bytes.Repeat([]byte{10}, most)...) // run_start
	}
	rec := &testRecording{layout: Published, version: 4, metadata: []byte{10, 0}, chunks: []testChunk{c}}
	dir, err := openBytes(t, rec.file(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := dir.(play.Recording)
	a, err := p.About(t.Context())
	if err != nil || len(a.Marks) > play.MaxMarks {
		t.Fatal(len(a.Marks), err)
	}
	b, err := p.Frames(t.Context(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := int64(len(b.Events)) + b.More; len(b.Events) != play.MaxEvents || n != int64(b.Frames)*most {
		t.Errorf("%d frames have %d events and %d more", b.Frames, len(b.Events), b.More)
	}
	found, err := p.Events(t.Context(), play.Query{From: math.MaxInt64, Back: true, Limit: 10})
	if err != nil || len(found.Rows) != play.MaxEvents+10 {
		t.Errorf("%d are found, %v", len(found.Rows), err)
	}
}
