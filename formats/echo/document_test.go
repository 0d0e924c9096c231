package echo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// valueOf returns the JSON of a value inside a document, by its keys.
func valueOf(t testing.TB, doc []byte, keys ...string) string {
	t.Helper()
	for _, key := range keys {
		var value []byte
		for k, v := range members(doc) {
			if string(k) == key {
				value = v
			}
		}
		doc = value
	}
	return string(doc)
}

// What each part of a frame is in its session (docs/formats/butter.md section 13), "" where the key
// is left out.
func TestSessionValues(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		path string
		kind Kind
		set  func(f *Frame)
		want string
	}{
		{"err_code", Arena, nil, "0"},
		{"tournament_match", Arena, nil, "false"},
		{"game_clock", Arena, nil, "0.0"},
		{"game_clock", Combat, nil, ""},
		{"game_clock_display", Combat, nil, ""},
		{"game_clock", Combat, func(f *Frame) { f.Clock = 61.25 }, "61.25"},
		{"game_clock_display", Combat, func(f *Frame) { f.Clock = 61.25 }, `"01:01.25"`},
		{"blue_points", Arena, func(f *Frame) { f.Points = [2]float32{3, 5} }, "3"},
		{"orange_points", Arena, func(f *Frame) { f.Points = [2]float32{3, 5} }, "5"},
		{"orange_points", Combat, func(f *Frame) { f.Points = [2]float32{3, 0.25} }, "0.25"},
		{"blue_points", Combat, func(f *Frame) { f.Points[0] = 3 }, "3.0"},
		{"left_shoulder_pressed", Arena, func(f *Frame) { f.Shoulders[0] = true }, "1.0"},
		{"right_shoulder_pressed", Arena, func(f *Frame) { f.Shoulders[1] = true }, "1.0"},
		{"left_shoulder_pressed2", Arena, func(f *Frame) { f.Shoulders[2] = true }, "1.0"},
		{"right_shoulder_pressed2", Arena, func(f *Frame) { f.Shoulders[3] = true }, "1.0"},
		{"left_shoulder_pressed", Combat, func(f *Frame) { f.Shoulders = [4]bool{false, true, true, true} }, "0.0"},
		{"blue_team_restart_request", Arena, func(f *Frame) { f.Restart[0] = 1 }, "1"},
		{"orange_team_restart_request", Arena, func(f *Frame) { f.Restart[0] = 1 }, "0"},
		{"blue_team_restart_request", Combat, func(f *Frame) { f.Restart[0] = 1 }, ""},
		{"game_status", Arena, func(f *Frame) { f.Status = `a"` }, `"a\""`},
		{"game_status", Combat, func(f *Frame) { f.Status = "a" }, ""},
		{"rules_changed_at", Arena, func(f *Frame) { f.Rules.At = 1<<63 - 1 }, "9223372036854775807"},
		{"rules_changed_by", Arena, func(f *Frame) { f.Rules.By = "b" }, `"b"`},
		{"rules_changed_by", Combat, func(f *Frame) { f.Rules.By = "b" }, ""},
		{"disc", Arena, nil, ""},
		{"disc/bounce_count", Arena, func(f *Frame) { f.Has = HasDisc }, "0"},
		{"disc/velocity", Arena, func(f *Frame) { f.Has, f.Disc.Velocity = HasDisc, Vec3{nan, -1, 2} }, `["NaN",-1.0,2.0]`},
		{"disc", Combat, func(f *Frame) { f.Has = HasDisc }, ""},
		{"last_throw", Combat, nil, ""},
		{"last_throw/throw_move_penalty", Combat, func(f *Frame) { f.Has, f.Throw[12] = HasThrow, 7 }, "7.0"},
		{"last_throw/arm_speed", Arena, func(f *Frame) { f.Has, f.Throw[0] = HasThrow, 7 }, "7.0"},
		{"last_score", Arena, nil, ""},
		{"last_score", Combat, func(f *Frame) { f.Has = HasScore }, ""},
		{"last_score/point_amount", Arena, func(f *Frame) { f.Has, f.Score.Points = HasScore, 3 }, "3"},
		{"last_score/distance_thrown", Arena, func(f *Frame) { f.Has, f.Score.Distance = HasScore, 3 }, "3.0"},
		{"pause/paused_state", Combat, func(f *Frame) { f.Pause.State = "unpaused" }, `"unpaused"`},
		{"pause/paused_timer", Arena, func(f *Frame) { f.Pause.PausedTimer = 1.5 }, "1.5"},
		{"contested", Arena, func(f *Frame) { f.Payload.Contested = true }, ""},
		{"contested", Combat, func(f *Frame) { f.Payload.Contested = true }, "true"},
		{"payload_defenders", Combat, func(f *Frame) { f.Payload.Defenders = 4 }, "4"},
		{"payload_speed", Combat, func(f *Frame) { f.Payload.Speed = 1.25 }, "1.25"},
		{"possession", Combat, nil, ""},
		{"possession", Arena, nil, "[-1,-1]"},
		{"possession", Arena, func(f *Frame) { f.Teams[0].Players = []Player{{}, {Possession: true}, {Possession: true}} }, "[0,1]"},
		{"possession", Arena, func(f *Frame) { f.Teams[1].Players = []Player{{Possession: true}} }, "[1,0]"},
		{"possession", Arena, func(f *Frame) { f.Teams[2].Players = []Player{{Possession: true}} }, "[-1,-1]"},
		{"player/vr_forward", Arena, func(f *Frame) { f.VR.Rotation = Identity }, "[0.0,0.0,1.0]"},
	} {
		f := Frame{Kind: c.kind}
		if c.set != nil {
			c.set(&f)
		}
		e := NewEncoder(testMatch)
		keys := strings.Split(c.path, "/")
		if got := valueOf(t, e.Session(nil, &f), keys...); got != c.want {
			t.Errorf("kind %d: %s is %s, want %s", c.kind, c.path, got, c.want)
		}
	}
}

// What a team and a player leave out, by the kind of map and by what the recording has given.
func TestTeamValues(t *testing.T) {
	keysOf := func(doc []byte) string {
		var keys []string
		list := map[string]json.RawMessage{}
		if err := json.Unmarshal(doc, &list); err != nil {
			t.Fatal(err)
		}
		for _, key := range strings.Fields("players team possession stats stunned invulnerable blocking is_emote_playing holding_left holding_right Weapon Arm") {
			if _, ok := list[key]; ok {
				keys = append(keys, key)
			}
		}
		return strings.Join(keys, " ")
	}
	gun := &Loadout{Weapon: "scout", Arm: "shield"}
	for _, c := range []struct {
		name         string
		kind         Kind
		emotes       bool
		team         int
		players      []Player
		want, player string
	}{
		{"an empty team", Arena, true, 0, nil, "team possession", ""},
		{"spectators", Arena, true, 2, []Player{{}}, "players team possession", "possession stunned invulnerable blocking is_emote_playing"},
		{"a team", Arena, false, 1, []Player{{HasStats: true, Loadout: gun}}, "players team possession stats", "possession stats stunned invulnerable blocking"},
		{"hands", Arena, false, 0, []Player{{Holding: [2]string{"none", ""}}}, "players team possession stats", "possession stunned invulnerable blocking holding_left"},
		{"combat", Combat, true, 0, []Player{{HasStats: true, Loadout: gun, Holding: [2]string{"", "geo"}}}, "players team", "is_emote_playing holding_right Weapon Arm"},
		{"combat without a loadout", Combat, false, 0, []Player{{}}, "players team", ""},
	} {
		f := Frame{Kind: c.kind}
		f.Teams[c.team].Players = c.players
		m := *testMatch
		m.Emotes = c.emotes
		var doc struct{ Teams []json.RawMessage }
		if err := json.Unmarshal(NewEncoder(&m).Session(nil, &f), &doc); err != nil || len(doc.Teams) != 3 {
			t.Fatalf("%s: %d teams, %v", c.name, len(doc.Teams), err)
		}
		if got := keysOf(doc.Teams[c.team]); got != c.want {
			t.Errorf("%s has %s, want %s", c.name, got, c.want)
		}
		if len(c.players) == 0 {
			continue
		}
		var team struct{ Players []json.RawMessage }
		if err := json.Unmarshal(doc.Teams[c.team], &team); err != nil {
			t.Fatal(err)
		}
		if got := keysOf(team.Players[0]); got != c.player {
			t.Errorf("%s: a player has %s, want %s", c.name, got, c.player)
		}
	}
}

// Bones are 69 and 92 numbers for each player, in the order of the players.
func TestBones(t *testing.T) {
	bones := make([]Bones, 2)
	for i := range NumBones {
		bones[1].Positions[i] = Vec3{float32(i), -0.5, 2}
		bones[1].Rotations[i] = Identity
	}
	var doc struct {
		Bones []struct {
			Positions []float32 `json:"bone_t"`
			Rotations []float32 `json:"bone_o"`
		} `json:"user_bones"`
		Code *int `json:"err_code"`
	}
	if err := json.Unmarshal(AppendBones(nil, bones), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Bones) != 2 || doc.Code == nil || len(doc.Bones[0].Positions) != 69 || len(doc.Bones[0].Rotations) != 92 {
		t.Fatalf("%+v", doc)
	}
	if p, r := doc.Bones[1].Positions, doc.Bones[1].Rotations; p[3*7] != 7 || p[3*7+1] != -0.5 || p[3*7+2] != 2 || r[4*22+3] != 1 {
		t.Errorf("positions %v, rotations %v", p, r)
	}
	if got := string(AppendBones(nil, nil)); got != `{"user_bones":[],"err_code":0}` {
		t.Errorf("no bones: %s", got)
	}
}

// What makes an event, one difference at a time, and what does not (docs/tree/butter.md section 5).
func TestOneEvent(t *testing.T) {
	nan := float32(math.NaN())
	player := func(team int, stunned bool) func(f *Frame) {
		return func(f *Frame) {
			f.Teams[team].Players = []Player{{Name: "p", UserID: 7, ID: 2, Number: 3, Level: 4, Stunned: stunned}}
		}
	}
	has := func(part Has, set func(f *Frame)) func(f *Frame) {
		return func(f *Frame) {
			f.Has |= part
			if set != nil {
				set(f)
			}
		}
	}
	combat := func(f *Frame) { f.Kind, f.Teams[0].Players[0].Lacks = Combat, LacksAllFlags } // as butter has it
	const who = `"name":"p","userid":7,"playerid":2`
	for _, c := range []struct {
		name          string
		before, after func(f *Frame)
		want          string
	}{
		{"status", has(HasStatus, func(f *Frame) { f.Status = "a" }), has(HasStatus, func(f *Frame) { f.Status = "b" }), `status","from":"a","to":"b"`},
		{"status that comes", nil, has(HasStatus, nil), `status","from":null,"to":""`},
		{"status that stays", has(HasStatus, nil), has(HasStatus, nil), ""},
		{"status that goes", has(HasStatus, nil), nil, ""},
		{"join", nil, player(2, false), `join",` + who + `,"number":3,"level":4,"team":"spectator"`},
		{"join of one who is stunned", nil, player(0, true), `join",` + who + `,"number":3,"level":4,"team":"blue"`},
		{"leave", player(1, true), nil, `leave",` + who + `,"team":"orange"`},
		{"team", player(0, false), player(2, false), `team",` + who + `,"from":"blue","to":"spectator"`},
		{"stun", player(0, false), player(0, true), `stun",` + who + `,"team":"blue"`},
		{"still stunned", player(0, true), player(0, true), ""},
		{"not stunned any more", player(0, true), player(0, false), ""},
		{"stun on a combat map", func(f *Frame) { player(0, false)(f); combat(f) }, func(f *Frame) { player(0, true)(f); combat(f) }, ""},
		{
			"goal", has(HasScore, func(f *Frame) { f.Score.GoalType = NoGoal }),
			has(HasScore, func(f *Frame) { f.Score = Score{1.5, 2, "blue", "LONG SHOT", 3, "p", "q"}; f.Points = [2]float32{3, 0} }),
			`goal","team":"blue","point_amount":3,"goal_type":"LONG SHOT","person_scored":"p","assist_scored":"q","disc_speed":1.5,"distance_thrown":2.0,"blue_points":3,"orange_points":0`,
		},
		{"a goal that is taken back", has(HasScore, func(f *Frame) { f.Score.GoalType = "x" }), has(HasScore, func(f *Frame) { f.Score.GoalType = NoGoal }), ""},
		{"a score that stays, with NaN", has(HasScore, func(f *Frame) { f.Score.DiscSpeed = nan }), has(HasScore, func(f *Frame) { f.Score.DiscSpeed = nan }), ""},
		{"a throw that stays, with NaN", has(HasThrow, func(f *Frame) { f.Throw[3] = nan }), has(HasThrow, func(f *Frame) { f.Throw[3] = nan }), ""},
		{"pause", has(HasPause, nil), has(HasPause, func(f *Frame) { f.Pause.RequestedTeam = "blue" }), `pause","paused_state":"","paused_requested_team":"blue","unpaused_team":""`},
		{"a timer is no pause", has(HasPause, nil), has(HasPause, func(f *Frame) { f.Pause.PausedTimer = 1 }), ""},
		{"restart", has(HasRestart, nil), has(HasRestart, func(f *Frame) { f.Restart[1] = 1 }), `restart","blue_team_restart_request":0,"orange_team_restart_request":1`},
		{"a restart that is told of one team", has(HasRestart, nil), has(HasRestart, func(f *Frame) { f.Restart[1], f.Lacks = 2, 1<<LacksRestart }), `restart","blue_team_restart_request":null,"orange_team_restart_request":2`},
		{"a restart that is not told any more", has(HasRestart, func(f *Frame) { f.Restart[0] = 1 }), has(HasRestart, func(f *Frame) { f.Lacks = 1 << LacksRestart }), ""},
		{"a score that lacks what it had", has(HasScore, nil), has(HasScore, func(f *Frame) { f.Lacks = 1 << (LacksScore + 4) }), `goal","team":"","point_amount":null,"goal_type":"","person_scored":"","assist_scored":"","disc_speed":0.0,"distance_thrown":0.0,"blue_points":0,"orange_points":0`},
		{"a player without a number is another", player(0, false), func(f *Frame) {
			player(0, false)(f)
			f.Teams[0].Players[0].Lacks = 1<<LacksUserID | 1<<LacksLevel
		}, `leave",` + who + `,"team":"blue"join","name":"p","userid":null,"playerid":2,"number":3,"level":null,"team":"blue"`},
		{"rules", has(HasRules, nil), has(HasRules, func(f *Frame) { f.Rules = Rules{1 << 60, "p"} }), `rules","rules_changed_by":"p","rules_changed_at":"1152921504606846976"`},
	} {
		var s Summary
		for i, set := range []func(f *Frame){nil, c.before, c.after} {
			f := Frame{Time: int64(i), Kind: Arena}
			if set != nil {
				set(&f)
			}
			s.Add(int64(i), &f)
		}
		got := ""
		for line := range strings.Lines(eventLines(s.events)) {
			if rest, ok := strings.CutPrefix(line, `{"tick":2,"time":"1970-01-01T00:00:00.002Z","event":"`); ok {
				got += strings.TrimSuffix(rest, "}\n")
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Without a frame there are no points, nobody, and nothing to export.
func TestNoFrames(t *testing.T) {
	scans := 0
	dir := openTest(t, nil, "bytes", store{}, &scans)
	for name, err := range nodestest.Check(t, dir) {
		t.Errorf("%s: %v", name, err)
	}
	files := nodestest.Files(t, dir)
	for name := range files {
		if strings.HasPrefix(name, "export/") || strings.HasPrefix(name, "ticks/") || strings.HasPrefix(name, "lines/") {
			t.Errorf("%s is there", name)
		}
	}
	scores := []byte(files["scores.json"])
	for key, want := range map[string]string{"blue_points": "null", "goals": "[]", "players": "[]", "map_name": `"mpl_arena_a"`} {
		if got := valueOf(t, scores, key); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	if got := valueOf(t, []byte(files["index.json"]), "totals", "first_time"); got != "null" {
		t.Errorf("first_time is %s", got)
	}
	x := mustScan(t, nil)
	var s formats.Summary
	if x.Summarize("test", &s); s.Start != nil || s.Duration != nil || *s.Ticks != 0 || !s.Complete {
		t.Errorf("%+v", s)
	}
}

// A tick opens under a time: the last one at or before it.
func TestTimesOfTicks(t *testing.T) {
	frames := testFrames(2*testInterval + 7) // from 01:46:40.000 on, 33 ms apart
	for i := range frames {
		if i > 60 {
			frames[i].Time += 60_000
		}
	}
	scans := 0
	dir := openTest(t, frames, "bytes", store{}, &scans)
	for name, want := range map[string]int{
		"@01:46:40.json": 0, "@01:46:40.032.json": 0, "@01:46:40.033.json": 1, "@01:46:41.json": 30, "@01:46:41.650.json": 50, "@01:46:41.649.json": 49,
		"@01:47:00.json": 60, "@2001-09-09T01:47:43.498Z.json": 106,
	} {
		e, err := nodes.Lookup(t.Context(), dir, "ticks/"+name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if listed := fmt.Sprintf("%08d.json", want); e.Name != listed {
			t.Errorf("%s is %s, want %s", name, e.Name, listed)
		}
	}
	for _, name := range []string{"@2001-09-09T01:46:39.999Z.json", "@2001-09-09T01:47:43.499Z.json", "@.json", "@01:46:40", "107.json"} {
		if _, err := nodes.Lookup(t.Context(), dir, "ticks/"+name); !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Chunks that cannot be read to their end or have no frame are listed, and give an error.
func TestDamagedChunks(t *testing.T) {
	x := mustScan(t, testFrames(testInterval+7))
	x.Chunks[0].Size, x.Chunks[0].Damaged = Unreadable, true
	x.Chunks[1].Ticks, x.Chunks[1].Parts = 0, []Part{{}}
	tree := &tree{}
	if _, err := tree.data(x, 0); !errors.Is(err, errUnreadable) {
		t.Errorf("chunks/0: %v", err)
	}
	if _, err := tree.lines(x, 1); !errors.Is(err, errNoFrames) {
		t.Errorf("lines/1: %v", err)
	}
	var s formats.Summary
	if x.Summarize("test", &s); s.Complete || !s.Finished || s.Chunks != 2 || *s.Duration != 56*33*time.Millisecond {
		t.Errorf("%+v", s)
	}
	x = mustScan(t, testFrames(3))
	x.End = EndTruncated
	if doc := x.document("test"); doc.Complete || doc.Finished {
		t.Errorf("truncated: %+v", doc)
	}
	x.End, x.Problems = EndClean, []formats.Problem{{Code: CodeChecksum}}
	if doc := x.document("test"); doc.Complete || !doc.Finished {
		t.Errorf("a checksum that does not hold: %+v", doc)
	}
}

// sessionFrame returns the frame that a session is read as.
func sessionFrame(session string) *Frame {
	f := replayFrame{session: []byte(session)}
	new(lineParser).read(&f)
	return &f.Frame
}

// rowOf returns the row of a frame in frames, a text for each column.
func rowOf(f *Frame) (list []string) {
	rows := columnar.NewBatch(framesColumns, columnar.Group{Rows: 1, Columns: make([]columnar.Counts, len(framesColumns))})
	frameRow(rows, 0, 0, f)
	for i := range rows.Columns {
		v := &rows.Columns[i]
		value := fmt.Sprint(v.Name, v.Valid, v.Int32s, v.Int64s, v.Ends) + fmt.Sprintf(" %q", v.Text)
		for _, x := range v.Floats {
			value += fmt.Sprintf(" %08x", math.Float32bits(x))
		}
		list = append(list, value)
	}
	return list
}

// The values that rows take from a session are those of its keys, nothing where it has another kind
// of value.
func TestFrameValues(t *testing.T) {
	for _, session := range []string{
		`{}`, `[]`, `"x"`, `{"disc":7,"pause":[],"possession":{}}`, `{"game_clock":"x","blue_points":null,"game_status":5,"blue_round_score":1.5}`,
		`{"blue_round_score":4294967296}`,
	} {
		for _, value := range rowOf(sessionFrame(session))[3:] {
			if strings.Contains(value, "true") {
				t.Errorf("%s has a %s", session, value)
			}
		}
	}
	f := sessionFrame(`{"x":{"game_clock":1},"possession":[0],"disc":{"velocity":[1,2,3,4],"position":[]},"game_clock":"NaN","pause":{"a":1,"paused_state":"p\"q"}}`)
	if f.Clock == f.Clock || f.Lacks.Of(LacksHolder, 2) != 2 || f.Disc.Velocity[2] != 3 || f.Lacks.Of(LacksDisc, 6) != 7 || f.Pause.State != `p"q` {
		t.Errorf("%+v", f)
	}
	if f := sessionFrame(`{"disc":{"position":[1,2]},"game_clock":1,"disc":{"velocity":[3]},"game_clock":2}`); f.Clock != 2 || f.Disc.Velocity[0] != 3 {
		t.Errorf("of two keys each: %+v", f)
	}
}

// The rows of decoded frames are those of their sessions.
func TestFrameRows(t *testing.T) {
	float := rapid.Map(rapid.Uint32(), math.Float32frombits)
	vector := rapid.Custom(func(t *rapid.T) Vec3 { return Vec3{float.Draw(t, "x"), float.Draw(t, "y"), float.Draw(t, "z")} })
	text := rapid.Map(rapid.SliceOf(rapid.SampledFrom([]byte("a\"\\\xff\xc3\x00\xa4"))), func(b []byte) string { return string(b) })
	rapid.Check(t, func(t *rapid.T) {
		round := rapid.Uint8Range(0, 15)
		h := &Header{BlueScore: round.Draw(t, "blue"), OrangeScore: round.Draw(t, "orange"), users: newUsers(nil)}
		match := matchOf("", "", int64(h.BlueScore), int64(h.OrangeScore))
		kind := rapid.SampledFrom([]mapKind{arena, combat}).Draw(t, "kind")
		if match.MatchType = new("Echo_Arena"); kind == combat {
			match.MatchType = new("Echo_Combat")
		}
		d := newDecoder(layoutV3, kind, h, nil, nil, carry{})
		for team := range d.frame.Teams {
			for _, has := range rapid.SliceOfN(rapid.Bool(), 0, 3).Draw(t, "players") {
				d.next, d.nextCourses = append(d.next, Player{Possession: has}), append(d.nextCourses, course{team: team})
			}
		}
		f := d.frame
		f.Has |= rapid.SampledFrom([]Has{0, HasDisc}).Draw(t, "has")
		f.Clock = rapid.SampledFrom([]float32{0, float.Draw(t, "clock")}).Draw(t, "which")
		f.Status, f.Pause.State = text.Draw(t, "status"), text.Draw(t, "pause")
		f.Points = [2]float32{float.Draw(t, "blue points"), float.Draw(t, "orange points")}
		f.Disc = Disc{Pose: Pose{Position: vector.Draw(t, "position")}, Velocity: vector.Draw(t, "velocity")}
		d.emit(&f)
		if diff := cmp.Diff(rowOf(sessionFrame(string(NewEncoder(match).Session(nil, &f)))), rowOf(&f)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A frame in the middle of a chunk is the same by itself, in a piece and in the whole.
func TestPieces(t *testing.T) {
	c := testChunk(testFrames(2*testInterval), 1)
	var texts, lines []byte
	for i := 0; i < len(c.Frames); i += PieceFrames {
		p := c.Run(i, min(PieceFrames, len(c.Frames)-i))
		texts, lines = viewText.render(p, texts, 0), viewLines.render(p, lines, 0)
	}
	if !bytes.Equal(texts, viewText.render(c, nil, 0)) || !bytes.Equal(lines, viewLines.render(c, nil, 0)) {
		t.Error("the pieces are not the chunk")
	}
	for i, line := range bytes.Split(bytes.TrimSuffix(lines, []byte("\n")), []byte("\n")) {
		var compact bytes.Buffer
		if err := json.Compact(&compact, c.Tick(i)); err != nil || compact.String() != string(line) {
			t.Fatalf("tick %d is\n%s\nwant\n%s\n%v", i, compact.String(), line, err)
		}
	}
}
