package echo

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/internal/testing/parquettest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// fullSession is a session that has all that documents and tables show, of which n differs from
// frame to frame.
func fullSession(n int) map[string]any {
	vector := []any{1.5, 2.5, 3.5}
	stats := map[string]any{"possession_time": 1.5}
	for i, key := range StatKeys {
		stats[key] = i + n
	}
	throw := map[string]any{}
	for i, key := range ThrowKeys {
		throw[key] = float64(i+n) + 0.5
	}
	player := map[string]any{
		"name": "Ann", "userid": 7, "playerid": 3, "number": 4, "level": 5, "ping": 6, "possession": true, "blocking": true, "stunned": n > 0,
		"invulnerable": true, "holding_left": "geo", "holding_right": "disc", "head": map[string]any{"position": vector}, "velocity": vector,
		"body": map[string]any{"position": vector}, "lhand": map[string]any{"pos": vector}, "rhand": map[string]any{"pos": vector}, "stats": stats,
	}
	return map[string]any{
		"sessionid": "S", "sessionip": "1.2.3.4", "match_type": "Echo_Arena", "map_name": "mpl_arena_a", "client_name": "C", "private_match": true,
		"total_round_count": 3, "blue_round_score": 1, "orange_round_score": 2, "blue_points": n, "orange_points": 9,
		"game_status": fmt.Sprint("s", n), "game_clock": 1.5, "possession": []any{0, 0},
		"blue_team_restart_request": n, "orange_team_restart_request": n, "rules_changed_by": fmt.Sprint("r", n), "rules_changed_at": n,
		"pause":      map[string]any{"paused_state": fmt.Sprint("p", n), "unpaused_team": "none", "paused_requested_team": "blue"},
		"last_throw": throw,
		"last_score": map[string]any{
			"disc_speed": 1.5 + float64(n), "team": "blue", "goal_type": "LONG SHOT", "point_amount": 3, "distance_thrown": 2.5,
			"person_scored": "Ann", "assist_scored": "Bob",
		},
		"disc":  map[string]any{"position": vector, "velocity": vector, "bounce_count": 4},
		"teams": []any{map[string]any{"players": []any{player}}},
		"pad":   strings.Repeat("x", minSession),
	}
}

// at returns the object that a path leads to in a session, and the last key.
func at(session map[string]any, path string) (object map[string]any, key string) {
	steps := strings.Split(path, "/")
	for _, step := range steps[:len(steps)-1] {
		next := session[step]
		if step == "player" {
			next = session["teams"].([]any)[0].(map[string]any)["players"].([]any)[0]
		}
		session = next.(map[string]any)
	}
	return session, steps[len(steps)-1]
}

// without is the text of three frames in which value, unless it is there no more, takes the place
// of what a path leads to.
func without(t *testing.T, path string, value any) []byte {
	t.Helper()
	var text strings.Builder
	for n := range 3 {
		session := fullSession(n)
		if path != "" {
			object, key := at(session, path)
			if object[key] = value; value == nil {
				delete(object, key)
			}
		}
		b, err := json.Marshal(session)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "2023/11/14 22:13:%02d.000\t%s\n", n, b)
	}
	return []byte(text.String())
}

// cells returns each value that a tree shows by its place: KEYS of a document, EVENT.KEY of an
// event, COLUMN of a table.
func cells(t *testing.T, dir nodes.Dir) map[string]any {
	t.Helper()
	all := map[string]any{}
	var walk func(place string, v any)
	walk = func(place string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, x := range v {
				walk(place+"."+key, x)
			}
		case []any:
			for _, x := range v {
				walk(place, x)
			}
		default:
			all[place] = v
		}
	}
	for _, name := range []string{"header.json", "scores.json"} {
		var doc map[string]any
		if err := json.Unmarshal([]byte(nodestest.Read(t, dir, name)), &doc); err != nil {
			t.Fatal(err)
		}
		delete(doc, "source")
		walk(strings.TrimSuffix(name, ".json"), doc)
	}
	for line := range strings.Lines(nodestest.Read(t, dir, "events.jsonl")) {
		var event map[string]any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatal(err)
		}
		walk(fmt.Sprint(event["event"]), event)
	}
	for _, name := range []string{"disc", "players"} {
		rows, err := csv.NewReader(strings.NewReader(nodestest.Read(t, dir, "export/"+name+".csv"))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for i, column := range rows[0] {
			all[name+".csv."+column] = rows[len(rows)-1][i]
		}
	}
	for _, name := range []string{"frames", "players"} {
		table := parquettest.Read(t, []byte(nodestest.Read(t, dir, "tables/"+name+".parquet")))
		for _, c := range table.Columns {
			all[name+".parquet."+c.Name] = c.Values[len(c.Values)-1]
		}
	}
	return all
}

// What a text does not have, or not as what it is, is null or empty in all that is made of it; all
// else stays.
func TestLacking(t *testing.T) {
	nodestest.Long(t)
	whole := cells(t, replayDir(t, without(t, "", nil)))
	for place, v := range whole {
		if v == nil || v == "" {
			t.Fatalf("%s is empty", place)
		}
	}
	points := []string{"goal.%s", "scores.%s", "scores.goals.%s", "frames.parquet.%s"}
	rounds := []string{"header.header.%s", "scores.%s", "frames.parquet.%s"}
	type lack struct {
		path  string
		shown []string
	}
	list := []lack{
		{"sessionid", []string{"header.header.session_id"}},
		{"sessionip", []string{"header.header.session_ip"}},
		{"client_name", []string{"header.header.client_name"}},
		{"match_type", []string{"header.header.match_type", "scores.match_type"}},
		{"map_name", []string{"header.header.map_name", "scores.map_name"}},
		{"private_match", []string{"header.header.private_match"}},
		{"total_round_count", []string{"header.header.total_round_count", "scores.total_round_count"}},
		{"blue_round_score", rounds},
		{"orange_round_score", rounds},
		{"blue_points", points},
		{"orange_points", points},
		{"game_clock", []string{"frames.parquet.game_clock"}},
		{"disc/bounce_count", []string{"frames.parquet.disc_bounces"}},
		{"disc/position", []string{"disc.csv.x", "disc.csv.y", "disc.csv.z", "frames.parquet.disc_x", "frames.parquet.disc_y", "frames.parquet.disc_z"}},
		{"disc/velocity", []string{"disc.csv.vx", "disc.csv.vy", "disc.csv.vz", "frames.parquet.disc_vx", "frames.parquet.disc_vy", "frames.parquet.disc_vz"}},
		{"blue_team_restart_request", []string{"restart.%s"}},
		{"rules_changed_by", []string{"rules.%s"}},
		{"rules_changed_at", []string{"rules.%s"}},
		{"pause/unpaused_team", []string{"pause.%s"}},
		{"pause/paused_requested_team", []string{"pause.%s"}},
		{"player/name", []string{"join.%s", "stun.%s", "scores.players.%s", "players.csv.%s", "players.parquet.%s"}},
		{"player/userid", []string{"join.%s", "stun.%s", "scores.players.%s", "players.csv.%s", "players.parquet.%s"}},
		{"player/playerid", []string{"join.%s", "stun.%s", "players.csv.%s", "players.parquet.%s"}},
		{"player/number", []string{"join.%s", "scores.players.%s"}},
		{"player/level", []string{"join.%s", "scores.players.%s"}},
	}
	for _, key := range []string{"ping", "possession", "blocking", "invulnerable", "holding_left", "holding_right"} {
		list = append(list, lack{"player/" + key, []string{"players.csv.%s", "players.parquet.%s"}})
	}
	for key, prefix := range map[string]string{"head": "", "velocity": "v", "body": "body_", "lhand": "lhand_", "rhand": "rhand_"} {
		var shown []string
		for _, axis := range []string{"x", "y", "z"} {
			shown = append(shown, "players.csv."+prefix+axis, "players.parquet."+prefix+axis)
		}
		list = append(list, lack{"player/" + key, shown})
	}
	for _, key := range append([]string{"possession_time"}, StatKeys[:]...) {
		list = append(list, lack{"player/stats/" + key, []string{"scores.players.stats.%s"}})
	}
	for _, key := range ThrowKeys[1:] {
		list = append(list, lack{"last_throw/" + key, []string{"throw.%s"}})
	}
	for _, key := range []string{"team", "point_amount", "goal_type", "person_scored", "assist_scored", "distance_thrown"} {
		list = append(list, lack{"last_score/" + key, []string{"goal.%s", "scores.goals.%s"}})
	}
	wrong := []any{map[string]any{"x": 1}, true, "1", []any{nil, "1", true}}
	for i, c := range list {
		_, key := at(fullSession(0), c.path)
		for k, value := range []any{nil, wrong[i%len(wrong)], wrong[(i+1)%len(wrong)]} {
			object, _ := at(fullSession(0), c.path)
			if fmt.Sprintf("%T", object[key]) == fmt.Sprintf("%T", value) && k > 0 {
				if _, list := value.([]any); !list {
					continue // as it should be
				}
			}
			got := cells(t, replayDir(t, without(t, c.path, value)))
			for place, want := range whole {
				lacks := slices.ContainsFunc(c.shown, func(s string) bool { return strings.ReplaceAll(s, "%s", key) == place })
				switch x, there := got[place]; {
				case lacks && place == "players.parquet.name" && x == "": // which has no null
				case lacks && (!there || x != nil && x != ""):
					t.Errorf("%s as %v: %s is %v", c.path, value, place, x)
				case !lacks && x != want && place != "header.header.chunk_frames":
					t.Errorf("%s as %v: %s is %v, not %v", c.path, value, place, x, want)
				}
			}
		}
	}
}

// A player without a number is known by name.
func TestKnownByName(t *testing.T) {
	var scores struct {
		Players []struct {
			Name   *string
			UserID *int64
			Ticks  int
		}
	}
	if err := json.Unmarshal([]byte(nodestest.Read(t, replayDir(t, without(t, "player/userid", nil)), "scores.json")), &scores); err != nil {
		t.Fatal(err)
	}
	if p := scores.Players; len(p) != 1 || p[0].UserID != nil || *p[0].Name != "Ann" || p[0].Ticks != 3 {
		t.Errorf("players %+v", p)
	}
}

// Times outside the years 1 to 9999 are told nowhere.
func TestReplayYears(t *testing.T) {
	text := strings.ReplaceAll(string(without(t, "", nil)), "2023/", "0000/")
	dir := replayDir(t, []byte(text))
	if bad := nodestest.Check(t, dir); len(bad) > 0 {
		t.Errorf("unreadable: %v", bad)
	}
	for name, want := range map[string]string{
		"lines/000000.jsonl": `{"tick":0,"chunk":0,"time":null,"session"`, "events.jsonl": `{"tick":0,"time":null,"event":"status"`,
		"index.json": `"first_time": null`, "scores.json": `"time":null`, "export/x.echoreplay.txt": "-\t{", "export/disc.csv": "\n1,1000,1.5",
	} {
		if got := nodestest.Read(t, dir, name); !strings.Contains(got, want) {
			t.Errorf("%s does not have %s:\n%.300s", name, want, got)
		}
	}
	s, err := summaryOfText(t, text)
	if err != nil || s.Start != nil || s.Duration != nil {
		t.Errorf("start %v, duration %v, %v", s.Start, s.Duration, err)
	}
}

// The players of a text are those of all frames and teams, once each, with any points.
func TestReplayPlayers(t *testing.T) {
	text := ""
	for _, teams := range []string{
		`[{"players":[{"name":"a"},{}]},{},{"players":[{"name":"c"}]}]`, `[{"players":[{"name":"b"}]},{"players":[{"name":"a"}]}]`,
	} {
		text += stamp + "\t" + long(`"blue_points":1.5,"orange_points":2.0,"teams":`+teams) + "\n"
	}
	s, err := summaryOfText(t, text)
	if want := []string{"a", "c", "b"}; err != nil || !slices.Equal(s.Players, want) {
		t.Errorf("players %q, %v, want %q", s.Players, err, want)
	}
	if got, want := s.Details.Text("score"), "blue 1.5, orange 2"; got != want {
		t.Errorf("score %q, want %q", got, want)
	}
}

// summaryOfText returns the summary of a text of frames with its index.
func summaryOfText(t *testing.T, text string) (formats.Summary, error) {
	t.Helper()
	in := formatstest.BytesInput("x", []byte(text), time.Time{})
	h, err := openReplay(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	x, err := scanReplay(t.Context(), in, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	return replaySummary(t.Context(), formats.Recording{Input: in, Head: h}, x)
}
