package echo

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"recfs/cache"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
	"recfs/nodes/play"
)

// TestPlay holds every frame of the samples, damaged ones among them, to ticks/ of its tick.
func TestPlay(t *testing.T) {
	const testdata, shared = "../../testdata/", "../../../shared/recordings/butter/"
	for _, pattern := range []string{testdata + "archive/butter/*.butter", testdata + "archive/butter/*.echoreplay", testdata + "butter/*.txtar", shared + "*.butter", shared + "*.echoreplay"} {
		files, err := filepath.Glob(pattern)
		if beside := strings.HasPrefix(pattern, shared); err != nil || len(files) == 0 && !beside {
			t.Fatal(pattern, err)
		} else if beside && testing.Short() {
			break
		}
		for _, file := range files[:nodestest.Times(len(files), 1)] {
			open := openBytesTree
			if filepath.Ext(file) == ".echoreplay" {
				open = func(t *testing.T, b []byte) nodes.Dir { return replayDir(t, b) }
			}
			t.Run(filepath.Base(file), func(t *testing.T) { b := nodestest.Sample(t, file); holdFrames(t, open(t, b), open(t, b)) })
		}
	}
	t.Run("text", func(t *testing.T) {
		nodestest.Long(t)
		holdFrames(t, replayDir(t, textOf(700)), replayDir(t, textOf(700)))
	})
	// A second chunk that is lost, and a third that is cut.
	b, err := os.ReadFile("../../testdata/archive/butter/arena_v1_gzip.butter")
	if err != nil {
		t.Fatal(err)
	}
	r := openBytes(t, b)
	for _, n := range []int{0, 1, len(r.Header.Chunks) - 1} {
		broken := slices.Clone(b)
		c := r.Header.Chunks[n]
		clear(broken[c.Offset : c.Offset+c.Size/2])
		t.Run(fmt.Sprint("broken", n), func(t *testing.T) { holdFrames(t, openBytesTree(t, broken), openBytesTree(t, broken)) })
	}
}

// A playedSession is what a frame shows of a session.
type playedSession struct {
	Disc   struct{ Position []any }
	Clock  any     `json:"game_clock"`
	Status string  `json:"game_status"`
	Blue   float64 `json:"blue_points"`
	Orange float64 `json:"orange_points"`
	Teams  []struct {
		Players []struct {
			Name         string
			UserID       json.RawMessage
			Head         struct{ Position []any }
			Possession   bool
			Blocking     bool
			Stunned      bool
			Invulnerable bool
		}
	}
}

// column returns a coordinate as a column has it.
func column(v any) int64 {
	x, ok := v.(float64)
	if !ok { // no number
		return map[string]int64{"NaN": 0, "Infinity": math.MaxInt32, "-Infinity": math.MinInt32}[v.(string)]
	}
	return int64(min(max(math.Round(float64(float32(x))*100), math.MinInt32), math.MaxInt32))
}

// figuresOf returns who is in a session.
func figuresOf(s *playedSession, places map[string]int) (list []string) {
	at := func(p []any) string {
		if len(p) < 3 || slices.Contains(p[:3], nil) {
			return "?"
		}
		return fmt.Sprint(column(p[0]), column(p[1]), column(p[2]))
	}
	if s.Disc.Position != nil {
		list = append(list, "-1 "+at(s.Disc.Position)+" 0 ")
	}
	for team, t := range s.Teams {
		for _, p := range t.Players {
			does := 0
			for i, on := range []bool{p.Possession, p.Blocking, p.Stunned, p.Invulnerable} {
				if on {
					does |= 1 << i
				}
			}
			list = append(list, fmt.Sprint(places[p.Name+strings.Trim(string(p.UserID), `"`)], " ", at(p.Head.Position), " ", does, " ", TeamNames[team]))
		}
	}
	slices.Sort(list)
	return list
}

// holdFrames holds all frames of a recording, which is opened twice, to its ticks.
func holdFrames(t *testing.T, root, other nodes.Dir) {
	t.Helper()
	p := root.(play.Recording)
	a, err := p.About(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var scores struct {
		Players []struct {
			Name   string
			UserID json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(nodestest.Read(t, root, "scores.json")), &scores); err != nil {
		t.Fatal(err)
	}
	places := map[string]int{}
	for i, p := range scores.Players {
		places[p.Name+strings.Trim(string(p.UserID), `"`)] = i
	}
	frames := map[int64]*playedSession{}
	formatstest.Frames(t, p, func(b *play.Block, i int, tick int64) {
		s, ok := frames[tick]
		if !ok {
			s = sessionOf(t, root, tick)
			frames[tick] = s
		}
		tracks, at := formatstest.At(b, i)
		if s == nil {
			if len(tracks) > 0 {
				t.Errorf("tick %d is lost, and %d are there", tick, len(tracks))
			}
			return
		}
		var got []string
		for k, track := range tracks {
			place := "?"
			if j := at[k]; track.X != nil {
				place = fmt.Sprint(track.X[j], track.Y[j], track.Z[j])
				if x, z := float64(track.X[j]), float64(track.Z[j]); x < a.Bounds[0] || z < a.Bounds[1] || x > a.Bounds[2] || z > a.Bounds[3] {
					t.Errorf("tick %d: %s is outside of %v", tick, place, *a.Bounds)
				}
			}
			got = append(got, fmt.Sprint(track.ID, " ", place, " ", track.S[at[k]], " ", track.Team))
		}
		slices.Sort(got)
		if want := figuresOf(s, places); !slices.Equal(got, want) {
			t.Errorf("tick %d: %q, want %q", tick, got, want)
		}
		g, clock := b.Game, 0.
		if v, ok := s.Clock.(float64); ok {
			clock = v
		}
		if float32(g.Clock[i]) != float32(clock) || g.Status[i] != s.Status || float64(g.Blue[i]) != math.Round(s.Blue) || float64(g.Orange[i]) != math.Round(s.Orange) {
			t.Errorf("tick %d: %v %q %d:%d, want %+v", tick, g.Clock[i], g.Status[i], g.Blue[i], g.Orange[i], *s)
		}
	})
	if len(frames) == 0 {
		t.Error("no frames")
	}
	formatstest.Alone(t, p, other.(play.Recording))
	found, err := p.Events(t.Context(), play.Query{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, e := range found.Rows {
		got = append(got, fmt.Sprint(e.Tick, e.Kind))
	}
	for line := range strings.Lines(nodestest.Read(t, root, "events.jsonl")) {
		var e struct {
			Tick  int64
			Event string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprint(e.Tick, e.Event))
	}
	if !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// sessionOf returns what ticks/ has of a frame, nil if that is lost.
func sessionOf(t *testing.T, root nodes.Dir, tick int64) *playedSession {
	t.Helper()
	e, err := nodes.Lookup(t.Context(), root, fmt.Sprintf("ticks/%d.json", tick))
	if err != nil {
		return nil
	}
	text, err := nodes.ReadAll(t.Context(), e.File)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Session playedSession }
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return &doc.Session
}

// TestPlayAbout holds what is known of a match before a frame is made.
func TestPlayAbout(t *testing.T) {
	x := testFrames(120)
	root := openTest(t, x, "a", store{}, new(int))
	p := root.(play.Recording)
	a, err := p.About(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if *a.First != 0 || *a.Last != 119 || a.TickMS != nil || *a.Start != "2001-09-09T01:46:40Z" || a.Unit != "m" || *a.Bounds != [4]float64{0, -100, 11900, 0} {
		t.Errorf("%+v", a)
	}
	if len(a.Marks) != 1 || a.Marks[0].Tick != 31 || a.Marks[0].Kind != "goal" || !strings.HasPrefix(a.Marks[0].Text, "goal team blue, point_amount 2, goal_type SLAM DUNK, person_scored Ann") {
		t.Errorf("%+v", a.Marks)
	}
	players, n, err := p.Players(t.Context(), "", 0, 10)
	want := []play.Player{{ID: "0", Name: "Ann", Last: 119}, {ID: "1", Name: `B, "b"`, First: 21, Last: 119}}
	if err != nil || n != 2 || !slices.Equal(players, want) {
		t.Errorf("%+v, %v", players, err)
	}
	b, err := p.Frames(t.Context(), 0, 2)
	if err != nil || b.Frames != 60 || b.MS[2] != 4*33 || b.Tracks[0].Name != "Ann" || b.Tracks[0].Team != "blue" || b.Tracks[1].Kind != "disc" {
		t.Errorf("%+v, %v", b, err)
	}
	found, err := p.Events(t.Context(), play.Query{From: 119, Back: true, ID: "1", Limit: 1})
	if err != nil || len(found.Rows) != 1 || found.Rows[0].Kind != "join" || found.Rows[0].Tick != 101 || !strings.HasPrefix(found.Rows[0].Text, `join B, "b", playerid 1, `) {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestPlaysOnce plays a match from its start.
func TestPlaysOnce(t *testing.T) {
	nodestest.Long(t)
	b, _ := sample(layoutV3, 2, 8, 1500, false, func(w *writer) { w.interval, w.compression = 300, gzipped })
	formatstest.PlaysOnce(t, NewButter(Options{}), "match.butter", b, int64(len(b)))
	text := textOf(1000)
	formatstest.PlaysOnce(t, Replay, "match.echoreplay", text, int64(len(text)))
}

// BenchmarkPlay plays a minute, block after block.
func BenchmarkPlay(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		c := cache.New(64<<20, nil)
		p := openTree(b, benchFile(), c, nil).(play.Recording)
		if _, err := p.About(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		for n := range int64(8) {
			if _, err := p.Frames(b.Context(), n, 1); err != nil {
				b.Fatal(err)
			}
		}
		c.Close()
	}
}
