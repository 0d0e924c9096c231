package teehistorian

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// A document is what tests look at of index.json.
type document struct {
	Complete, Finished bool
	End                string
	Totals             struct {
		First     *int `json:"first_tick"`
		Last      *int `json:"last_tick"`
		Duration  *int `json:"duration_ms"`
		Ticks     int
		Records   int
		Bytes     int
		Anomalies int
		Events    map[string]int
	}
	Chunks []struct {
		Chunk, Ticks, Offset, Stored, Size int
		First                              int `json:"first_tick"`
		Last                               int `json:"last_tick"`
	}
	Problems []struct {
		Code   string
		Offset int
		Chunk  *int
	}
}

func documentOf(t testing.TB, root nodes.Dir) (doc document) {
	t.Helper()
	if err := json.Unmarshal([]byte(nodestest.Read(t, root, "index.json")), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// How records end, and the problem that says so with the offset of the record
// (docs/tree/teehistorian.md section 9).
func TestEndsOfRecords(t *testing.T) {
	for _, c := range []struct {
		name, tail string // what follows a JOIN
		end        string
		records    int
		problem    string // code and offset behind the JOIN
	}{
		{"nothing", "", endUnfinished, 1, ""},
		{"FINISH", "\x40", endFinished, 2, ""},
		{"bytes behind FINISH", "\x40\x47\x00", endFinished, 2, "trailing_bytes 1"},
		{"half a record", "\x42\x00", endCut, 1, "truncated 0"},
		{"half a record behind a whole one", "\x47\x01\x48\x01abc", endCut, 2, "truncated 2"},
		{"an unknown kind", "\x4b\x00\x40", endDamaged, 1, "bad_record 0"},
		{"a negative size", "\x46\x00\x40", endDamaged, 1, "bad_record 0"},
		{"a negative count", "\x49\x00\x00c\x00\x40", endDamaged, 1, "bad_record 0"},
		{"a negative dt behind a whole record", "\x41\x00\x41\x40", endDamaged, 2, "bad_record 2"},
		{"a tick that is too large", "\x41\xbe\xff\xff\xff\x0f\x41\x00", endDamaged, 2, "bad_record 6"},
		{"a message that is larger than the file", "\x46\x00\xbf\xff\xff\xff\x0fabc", endCut, 1, "truncated 0"},
		{"more arguments than bytes", "\x49\x00\x00c\x00\xbf\xff\xff\xff\x0fa\x00", endCut, 1, "truncated 0"},
	} {
		w := newWriter(nil)
		w.join(1)
		at := len(w.b)
		w.b = append(w.b, c.tail...)
		doc := documentOf(t, rootOf(t, w))
		problem := ""
		for _, p := range doc.Problems {
			problem += fmt.Sprint(p.Code, " ", p.Offset-at)
		}
		if doc.End != c.end || doc.Totals.Records != c.records || problem != c.problem ||
			doc.Finished != (c.end == endFinished) || doc.Complete != (c.end == endFinished || c.end == endUnfinished) {
			t.Errorf("%s: %+v", c.name, doc)
		}
	}
}

// Without records there are neither ticks nor chunks, and the largest tick counts.
func TestTotals(t *testing.T) {
	doc := documentOf(t, rootOf(t, newWriter(nil)))
	if doc.Totals.First != nil || doc.Totals.Last != nil || doc.Totals.Duration != nil || len(doc.Chunks) > 0 || doc.Totals.Records > 0 || !doc.Complete {
		t.Errorf("without records: %+v", doc)
	}
	w := newWriter(nil)
	w.skip(1<<31 - 3)
	w.new(0, 0, 0)
	w.diff(0, 0, 0)
	doc = documentOf(t, rootOf(t, w))
	if *doc.Totals.First != 1<<31-2 || *doc.Totals.Last != 1<<31-1 || *doc.Totals.Duration != 20*(1<<31-1) || doc.Totals.Ticks != 2 || doc.Totals.Bytes != len(w.b) {
		t.Errorf("at the last tick: %+v", doc.Totals)
	}
	if got, want := fmt.Sprint(doc.Totals.Events), "map[player_diff:1 player_new:1 tick_skip:1]"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
}

// Anomalies are counted, the first hundred of them and payloads that are too short are listed.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(w *writer)
		want  string
	}{
		{"a second PLAYER_NEW", func(w *writer) { w.new(1, 0, 0); w.new(1, 0, 0) }, "anomaly"},
		{"PLAYER_NEW out of range", func(w *writer) { w.new(1024, 0, 0) }, "anomaly"},
		{"PLAYER_DIFF without a character", func(w *writer) { w.diff(1, 0, 0) }, "anomaly"},
		{"PLAYER_OLD without a character", func(w *writer) { w.new(1, 0, 0); w.old(1); w.old(1) }, "anomaly"},
		{"INPUT_DIFF without an input", func(w *writer) { w.inputDiff(1, [inputs]int{}) }, "anomaly"},
		{"a second INPUT_NEW", func(w *writer) { w.inputNew(1, [inputs]int{}); w.inputNew(1, [inputs]int{}) }, ""},
		{"a short payload", func(w *writer) { w.ex("auth_login", 1, packed(1)) }, "short_payload"},
		{"a longer payload", func(w *writer) { w.ex("auth_logout", 1, packed(1, 2)) }, ""},
		{"a short payload of an unknown kind", func(w *writer) { w.rawEx(extensionID("x"), "") }, ""},
		{"a message that is too short", func(w *writer) { w.message(1, "\x28") }, ""},
	} {
		w := newWriter(nil)
		c.write(w)
		at := len(w.b)
		doc := documentOf(t, rootOf(t, w))
		got := ""
		for _, p := range doc.Problems {
			got += p.Code
			if p.Chunk == nil || *p.Chunk != 0 || p.Offset >= at || p.Offset < doc.Chunks[0].Offset {
				t.Errorf("%s: problem %+v", c.name, p)
			}
		}
		if got != c.want || doc.Totals.Anomalies != strings.Count(c.want, "anomaly") || !doc.Complete {
			t.Errorf("%s: problems %q, want %q, %d anomalies", c.name, got, c.want, doc.Totals.Anomalies)
		}
	}
	w := newWriter(nil)
	for range 150 {
		w.old(1)
	}
	doc := documentOf(t, rootOf(t, w))
	if doc.Totals.Anomalies != 150 || len(doc.Problems) != 100 || doc.Problems[99].Offset != doc.Chunks[0].Offset+2*99 {
		t.Errorf("%d anomalies, %d listed", doc.Totals.Anomalies, len(doc.Problems))
	}
}

// A chunk ends with the tick in which it has 131072 bytes, and all of them are the file behind the
// header (docs/tree/teehistorian.md section 2).
func TestChunksAreTheFile(t *testing.T) {
	const full = 128 << 10
	random := rand.New(rand.NewPCG(3, 4))
	w := newWriter(nil)
	start := len(w.b)
	var want []int
	chunk, tick := start, -1
	for len(w.b) < 5*full {
		at := len(w.b)
		switch random.IntN(8) {
		case 0:
			w.skip(random.IntN(3))
		case 1, 2:
			w.message(1, strings.Repeat("x", random.IntN(60_000)))
		default:
			w.diff(random.IntN(3), 1, 1)
		}
		if at == start || w.tick > tick && at-chunk >= full {
			want = append(want, at)
			chunk = at
		}
		tick = w.tick
	}
	root := rootOf(t, w)
	doc := documentOf(t, root)
	var got []int
	all, ticks := "", 0
	for i, c := range doc.Chunks {
		b := nodestest.Read(t, root, fmt.Sprintf("chunks/%06d", i))
		if c.Chunk != i || c.Size != len(b) || c.Stored != len(b) || i > 0 && c.First <= doc.Chunks[i-1].Last {
			t.Errorf("chunk %d of %d bytes: %+v", i, len(b), c)
		}
		if n := strings.Count(nodestest.Read(t, root, fmt.Sprintf("lines/%06d.jsonl", i)), "\n"); n != c.Ticks {
			t.Errorf("chunk %d has %d lines, %d ticks", i, n, c.Ticks)
		}
		got = append(got, c.Offset)
		all += b
		ticks += c.Ticks
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("chunks begin at %d, want %d", got, want)
	}
	if all != string(w.b[start:]) || ticks != doc.Totals.Ticks {
		t.Errorf("the chunks have %d bytes and %d ticks, the file %d and %d", len(all), ticks, len(w.b)-start, doc.Totals.Ticks)
	}
}

// The lines of events.txt, and of commands.txt with what they quote (docs/tree/teehistorian.md
// sections 8 and 9).
func TestEventLines(t *testing.T) {
	id := extensionID("x")
	for _, c := range []struct {
		write func(w *writer)
		want  string
	}{
		{func(w *writer) { w.join(1) }, "01 joined"},
		{func(w *writer) { w.join(-1) }, "server joined"},
		{func(w *writer) { w.join(-4) }, "-4 joined"},
		{func(w *writer) { w.join(1024) }, "1024 joined"},
		{func(w *writer) { w.drop(2, "") }, "02 left"},
		{func(w *writer) { w.drop(-3, "") }, "config left"},
		{func(w *writer) { w.drop(200, "a \"b\"\n") }, `200 left "a \"b\"\n"`},
		{func(w *writer) { w.ex("player_rejoin", 1, packed(1)) }, "01 reconnected"},
		{func(w *writer) { w.command(-1, 4, "sv_motd", "two words", "") }, `server ran sv_motd "two words" ""`},
		{func(w *writer) { w.command(-2, 4, "tune", "gravity", "0.5") }, "map ran tune gravity 0.5"},
		{func(w *writer) { w.command(-3, 128|4, "c") }, "config ran /c"},
		{func(w *writer) { w.command(-4, 4, "c") }, "-4 ran c"},
		{func(w *writer) { w.command(3, 127, "c", "é", "\\", "\x7f", "a\tb") }, `03 ran c é "\\" "` + "\x7f" + `" "a\tb"`},
		{func(w *writer) { w.ex("player_rejoin", -2, packed(-2)) }, "map reconnected"},
		{func(w *writer) { w.ex("player_team", 1, packed(1, 63)) }, "01 enters team 63"},
		{func(w *writer) { w.ex("player_team", 1024, packed(1024, -1)) }, "1024 enters team -1"},
		{func(w *writer) { w.ex("team_practice", 0, packed(2, 1)) }, "team 2 practice on"},
		{func(w *writer) { w.ex("team_practice", 0, packed(2, 0)) }, "team 2 practice off"},
		{func(w *writer) { w.ex("auth_init", 1, packed(1, 1, "help er")) }, `01 logged in as "help er" level 1`},
		{func(w *writer) { w.ex("auth_login", 1, packed(1, 3, "default_admin")) }, `01 logged in as "default_admin" level 3`},
		{func(w *writer) { w.ex("auth_logout", 1, packed(1)) }, "01 logged out"},
		{func(w *writer) { w.ex("player_switch", 1, packed(1, 2)) }, "01 swaps with 02"},
		{func(w *writer) { w.ex("player_switch", 1, packed(-1, -2)) }, "server swaps with map"},
		{func(w *writer) { w.ex("auth_logout", 1, packed(-1)) }, "server logged out"},
		{func(w *writer) { w.ex("player_finish", 1, packed(-3, -50)) }, "config finished in -0:00:01.00"},
		{func(w *writer) { w.ex("player_finish", 1, packed(1, -1)) }, "01 finished in -0:00:00.02"},
		{func(w *writer) { w.ex("team_finish", 0, packed(-1, -1<<31)) }, "team -1 finished in -11930:27:52.96"},
		{func(w *writer) { w.ex("player_finish", 1, packed(1, 144)) }, "01 finished in 0:00:02.88"},
		{func(w *writer) { w.ex("player_finish", 1, packed(1, 50*3600*11)) }, "01 finished in 11:00:00.00"},
		{func(w *writer) { w.ex("team_finish", 0, packed(1, 1709)) }, "team 1 finished in 0:00:34.18"},
		{func(w *writer) { w.ex("save_success", 0, packed(1, id, "text")) }, "team 1 saved " + id.String()},
		{func(w *writer) { w.ex("load_success", 0, packed(1, id)+"cut") }, "team 1 loaded " + id.String()},
		{func(w *writer) { w.ex("save_failure", 0, packed(1)) }, "team 1 save failed"},
		{func(w *writer) { w.ex("load_failure", 0, packed(1)) }, "team 1 load failed"},
		{func(w *writer) { w.finish() }, "end"},
		{func(w *writer) { w.ex("save_success", 0, packed(1)+"\x00") }, ""},
		{func(w *writer) { w.ex("player_team", 1, packed(1)) }, ""},
		{func(w *writer) { w.message(-1, startInfo("a")); w.ex("player_name", 1024, packed(1024, "b")) }, ""},
		{func(w *writer) { w.ex("antibot", 0, "x"); w.inputNew(1, [inputs]int{}); w.new(1, 0, 0) }, ""},
	} {
		w := newWriter(nil)
		w.skip(0)
		c.write(w)
		root := rootOf(t, w)
		got := strings.TrimSuffix(nodestest.Read(t, root, "export/events.txt"), "\n")
		want := c.want
		if want != "" {
			want = "1 0:00:00.02 - " + want
		}
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if _, command, ok := strings.Cut(want, "03 ran"); ok {
			if got := nodestest.Read(t, root, "players/03/commands.txt"); got != "1"+command+"\n" {
				t.Errorf("commands.txt: %q", got)
			}
		}
	}
}

// The rows of a stay, empty where nothing is known.
func TestRowsOfStays(t *testing.T) {
	w := newWriter(nil)
	w.diff(1, 1, 1)
	w.new(1, -5, 1<<31-1)
	w.diff(1, 0, 1)
	w.old(1)
	w.inputDiff(1, [inputs]int{1})
	w.inputNew(1, [inputs]int{-1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	w.inputDiff(1, [inputs]int{1, -2})
	root := rootOf(t, w)
	for name, want := range map[string]string{
		"positions.csv": "tick,x,y\n1,,\n2,-5,2147483647\n3,-5,-2147483648\n4,,\n",
		"inputs.csv": "tick,direction,target_x,target_y,jump,fire,hook,player_flags,wanted_weapon,next_weapon,prev_weapon\n" +
			"4,,,,,,,,,,\n4,-1,2,3,4,5,6,7,8,9,10\n4,0,0,3,4,5,6,7,8,9,10\n",
		"commands.txt": "",
	} {
		if got := nodestest.Read(t, root, "players/01/"+name); got != want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, want)
		}
	}
}

// Lines that become too long for paths.svg lose points near the one before, and keep where each
// life began and ended.
func TestThinPaths(t *testing.T) {
	p := newPlotter(noStay)
	e := event{record: record{kind: playerDiff}, effect: effect{known: true}, player: &player{}}
	for i := range int32(1000) {
		e.player.x, e.player.y = i, 1000-i
		p.add(&e)
	}
	for _, step := range []int32{2, 4, 8} {
		before := p.points
		p.thin()
		life := p.paths[0].lives[0]
		if p.step != step || p.points != len(life) || p.points > before/2+1 || life[0] != (position{0, 1000}) {
			t.Errorf("step %d of %d points: %d points from %v on", p.step, before, p.points, life[0])
		}
		for i := 1; i < len(life); i++ {
			if near(life[i-1], life[i], step) {
				t.Fatalf("%v is near %v", life[i], life[i-1])
			}
		}
	}
	p.end(p.paths[0])
	if life := p.paths[0].lives[0]; life[len(life)-1] != (position{999, 1}) {
		t.Errorf("the life ends at %v", life[len(life)-1])
	}
	if p.min != (position{0, 1}) || p.max != (position{999, 1000}) {
		t.Errorf("the picture is from %v to %v", p.min, p.max)
	}
}

// A chunk that has 131072 bytes when a tick begins is full, one with a byte less is not.
func TestFullChunk(t *testing.T) {
	const full = 128 << 10
	for size, want := range map[int]int{full - 1: 1, full: 2, full + 1: 2} {
		w := newWriter(nil)
		start := len(w.b)
		w.message(1, strings.Repeat("x", full-100))
		w.drop(1, strings.Repeat("x", size-(len(w.b)-start)-3))
		if n := len(w.b) - start; n != size {
			t.Fatalf("%d bytes written, want %d", n, size)
		}
		w.skip(0)
		w.join(2)
		if got := len(documentOf(t, rootOf(t, w)).Chunks); got != want {
			t.Errorf("a tick behind %d bytes: %d chunks, want %d", size, got, want)
		}
	}
}
