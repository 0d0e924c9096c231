package teehistorian

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"recfs/formats/internal/testing/parquettest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// briefs returns the stays of a recording as "dir first_tick join_tick drop_tick rows", a row count
// for each table.
func briefs(t *testing.T, w *writer) (list []string) {
	t.Helper()
	var doc struct {
		Players []struct {
			Dir                                string
			First                              int  `json:"first_tick"`
			Join                               *int `json:"join_tick"`
			Drop                               *int `json:"drop_tick"`
			Lives, Positions, Inputs, Commands int
		}
	}
	if err := json.Unmarshal([]byte(nodestest.Read(t, rootOf(t, w), "players.json")), &doc); err != nil {
		t.Fatal(err)
	}
	tick := func(n *int) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	for _, p := range doc.Players {
		list = append(list, fmt.Sprintf("%s %d %s %s lives %d rows %d %d %d", p.Dir, p.First, tick(p.Join), tick(p.Drop), p.Lives, p.Positions, p.Inputs, p.Commands))
	}
	return list
}

// Which records begin a stay, and which only if their id never had one (docs/tree/teehistorian.md
// section 7).
func TestWhatBeginsStays(t *testing.T) {
	const always, once, never = "always", "once", "never"
	kinds := map[string]struct {
		write func(w *writer)
		want  string
	}{
		"JOIN":            {func(w *writer) { w.join(5) }, always},
		"MESSAGE":         {func(w *writer) { w.message(5, "") }, always},
		"INPUT_NEW":       {func(w *writer) { w.inputNew(5, [inputs]int{}) }, always},
		"PLAYER_NEW":      {func(w *writer) { w.new(5, 0, 0) }, always},
		"PLAYER_DIFF":     {func(w *writer) { w.diff(5, 1, 1) }, once},
		"PLAYER_OLD":      {func(w *writer) { w.old(5) }, once},
		"INPUT_DIFF":      {func(w *writer) { w.inputDiff(5, [inputs]int{}) }, once},
		"CONSOLE_COMMAND": {func(w *writer) { w.command(5, 4, "c") }, once},
		"FINISH":          {func(w *writer) { w.finish() }, never},
		"TICK_SKIP":       {func(w *writer) { w.skip(0) }, never},
	}
	for event, want := range map[string]string{
		"joinver6": always, "joinver7": always, "player_rejoin": always, "player_ready": always, "player_name": always,
		"ddnetver": always, "ddnetver_old": always, "auth_init": always, "auth_login": always, "player_finish": once,
		"auth_logout": never, "player_team": never, "team_practice": never, "team_finish": never, "player_switch": never,
		"save_success": never, "save_failure": never, "load_success": never, "load_failure": never, "antibot": never, "test": never,
	} {
		kinds[event] = struct {
			write func(w *writer)
			want  string
		}{func(w *writer) { w.ex(event, 5, packed(5, extensionID("x"), 1, "text", 1, "")) }, want}
	}
	for kind, c := range kinds {
		first := newWriter(nil)
		c.write(first)
		again := newWriter(nil)
		again.join(5)
		again.drop(5, "")
		c.write(again)
		want := map[string][2]int{always: {1, 2}, once: {1, 1}, never: {0, 1}}[c.want]
		if got := [2]int{len(briefs(t, first)), len(briefs(t, again))}; got != want {
			t.Errorf("%s: %d stays alone and behind a stay that has ended, want %d: %s", kind, got, want, c.want)
		}
	}
}

// Where a stay ends, and what counts for which (docs/tree/teehistorian.md section 7).
func TestStays(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(w *writer)
		want  string
	}{
		{"until the file ends", func(w *writer) { w.join(1); w.skip(9); w.new(1, 0, 0) }, "01 0 0 - lives 1 rows 1 0 0"},
		{"until DROP", func(w *writer) { w.join(1); w.skip(9); w.drop(1, "") }, "01 0 0 10 lives 0 rows 0 0 0"},
		{"the second JOIN", func(w *writer) { w.join(1); w.skip(9); w.join(1); w.inputNew(1, [inputs]int{}) }, "01 0 0 - lives 0 rows 0 0 0; 01-2 10 10 - lives 0 rows 0 1 0"},
		{"a JOIN behind the JOINVER", func(w *writer) { w.ex("joinver6", 1, packed(1)); w.skip(1); w.join(1) }, "01 0 2 - lives 0 rows 0 0 0"},
		{"records behind DROP", func(w *writer) {
			w.new(1, 0, 0)
			w.drop(1, "")
			w.diff(1, 1, 1)
			w.inputDiff(1, [inputs]int{})
			w.command(1, 0, "c")
			w.old(1)
		}, "01 1 - 1 lives 1 rows 3 1 1"},
		{"DROP of nobody", func(w *writer) { w.drop(1, "x") }, ""},
		{"ids out of range", func(w *writer) {
			for _, cid := range []int{-1, 1024, 1<<31 - 1} {
				w.join(cid)
				w.new(cid, 0, 0)
				w.message(cid, startInfo("n"))
			}
		}, ""},
		{"the last id", func(w *writer) { w.join(1023) }, "1023 0 0 - lives 0 rows 0 0 0"},
		{"two lives", func(w *writer) { w.new(1, 0, 0); w.old(1); w.new(1, 5, 5) }, "01 1 - - lives 2 rows 3 0 0"},
	} {
		w := newWriter(nil)
		c.write(w)
		if got := strings.Join(briefs(t, w), "; "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// The directory of a stay has its first name, made safe; one that is taken gets a number
// (docs/tree/teehistorian.md section 8).
func TestStayNames(t *testing.T) {
	w := newWriter(nil)
	named := func(cid int, names ...string) {
		w.join(cid)
		for _, name := range names {
			w.ex("player_name", cid, packed(cid, name))
		}
		w.drop(cid, "")
	}
	named(0, "a", "b")
	named(0, "a")
	named(0, "a-2")
	named(0, "a")
	named(7, "")
	named(7, "..")
	named(100, "x/y\x01")
	named(100, "\xff")
	named(3, strings.Repeat("é", 300))
	var got []string
	for _, s := range briefs(t, w) {
		dir, _, _ := strings.Cut(s, " ")
		got = append(got, dir)
	}
	for i, want := range []string{"00-a", "00-a-2", "00-a-2-2", "00-a-3"} {
		if got[i] != want {
			t.Errorf("stay %d is %q, want %q", i, got[i], want)
		}
	}
	for i, name := range map[int]string{4: "07-", 5: "07-", 6: "100-x", 7: "100-\ufffd", 8: "03-é"} {
		if !strings.HasPrefix(got[i], name) && got[i] != strings.TrimSuffix(name, "-") || strings.ContainsAny(got[i], "/\x01") || !utf8.ValidString(got[i]) || len(got[i]) > 255 {
			t.Errorf("stay %d is %q", i, got[i])
		}
	}
	root := rootOf(t, w)
	for _, dir := range got {
		if text := nodestest.Read(t, root, "players/"+dir+"/positions.csv"); text != "tick,x,y\n" {
			t.Errorf("%s: %q", dir, text)
		}
	}
}

// stateOf returns what the state after the last tick has of one key of each player, as "cid:value".
func stateOf(t *testing.T, w *writer, key string) string {
	t.Helper()
	var doc struct{ Players []map[string]json.RawMessage }
	if err := json.Unmarshal([]byte(nodestest.Read(t, rootOf(t, w), fmt.Sprintf("states/%d.json", w.tick))), &doc); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, p := range doc.Players {
		list = append(list, fmt.Sprintf("%s:%s", p["cid"], p[key]))
	}
	return strings.Join(list, " ")
}

// What a state says of a player, and what it forgets when the stay ends (docs/tree/teehistorian.md
// section 6).
func TestStateOfPlayer(t *testing.T) {
	start := func(name string) func(*writer) { return func(w *writer) { w.message(1, startInfo(name)) } }
	change := func(w *writer) { w.message(1, packed(42, "changed", "new", 0, "", 0, 0, 0)) }
	short := func(w *writer) { w.message(1, packed(42, "changed")) }
	named := func(w *writer) { w.ex("player_name", 1, packed(1, "accepted")) }
	login := func(w *writer) { w.ex("auth_login", 1, packed(1, 3, "admin")) }
	logout := func(w *writer) { w.ex("auth_logout", 1, packed(1)) }
	team := func(w *writer) { w.ex("player_team", 1, packed(1, 7)) }
	join := func(w *writer) { w.join(1) }
	drop := func(w *writer) { w.drop(1, "") }
	born := func(w *writer) { w.new(1, 1<<31-1, -8) }
	move := func(w *writer) { w.diff(1, 1, 3) }
	gone := func(w *writer) { w.old(1) }
	join6 := func(w *writer) { w.ex("joinver6", 1, packed(1)) }
	for _, c := range []struct {
		key     string
		records []func(*writer)
		want    string
	}{
		{"name", []func(*writer){join}, "1:null"},
		{"name", []func(*writer){start("a")}, `1:"a"`},
		{"name", []func(*writer){start("a"), change}, `1:"changed"`},
		{"name", []func(*writer){start("a"), short}, `1:"a"`},
		{"name", []func(*writer){start("a"), named, change}, `1:"accepted"`},
		{"name", []func(*writer){named, drop, join}, "1:null"},
		{"clan", []func(*writer){join}, "1:null"},
		{"clan", []func(*writer){start("a")}, `1:"A"`},
		{"clan", []func(*writer){start("a"), change, named}, `1:"new"`},
		{"clan", []func(*writer){start("a"), drop, join}, "1:null"},
		{"protocol", []func(*writer){join}, "1:null"},
		{"protocol", []func(*writer){join6, join, join}, `1:"0.6"`},
		{"protocol", []func(*writer){join6, drop, join}, "1:null"},
		{"team", []func(*writer){join}, "1:0"},
		{"team", []func(*writer){team, join}, "1:7"},
		{"team", []func(*writer){join, team, drop, join}, "1:7"},
		{"alive", []func(*writer){join}, "1:false"},
		{"alive", []func(*writer){born}, "1:true"},
		{"alive", []func(*writer){born, drop}, "1:true"},
		{"alive", []func(*writer){join, born, gone}, "1:false"},
		{"alive", []func(*writer){born, gone, drop}, ""},
		{"x", []func(*writer){born, move}, "1:-2147483648"},
		{"y", []func(*writer){born, move, move}, "1:-2"},
		{"x", []func(*writer){born, gone, move}, "1:null"},
		{"auth", []func(*writer){join}, "1:null"},
		{"auth", []func(*writer){login}, `1:{"level":3,"identity":"admin"}`},
		{"auth", []func(*writer){login, logout}, "1:null"},
		{"auth", []func(*writer){login, drop, join}, "1:null"},
	} {
		w := newWriter(nil)
		for _, record := range c.records {
			record(w)
		}
		if got := stateOf(t, w, c.key); got != c.want {
			t.Errorf("%s after %d records: %s, want %s", c.key, len(c.records), got, c.want)
		}
	}
}

// Inputs are added up component by component, with a wrap at 32 bits.
func TestStateOfInput(t *testing.T) {
	w := newWriter(nil)
	w.inputNew(4, [inputs]int{-1, 1<<31 - 1, 0, 1, 63, 1, 255, 6, 63, 0})
	w.inputDiff(4, [inputs]int{2, 1, -1 << 31})
	want := `4:{"direction":1,"target_x":-2147483648,"target_y":-2147483648,"jump":1,"fire":63,"hook":1,"player_flags":255,"wanted_weapon":6,"next_weapon":63,"prev_weapon":0}`
	if got := stateOf(t, w, "input"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	w.drop(4, "")
	w.inputDiff(4, [inputs]int{1})
	if got := eventsOf(t, w); !strings.HasSuffix(got[3], `"diff":{"direction":1},"input":null}`) {
		t.Errorf("behind DROP: %s", got[3])
	}
}

// Teams are listed that have practice on or somebody in them, but for team 0 without practice.
func TestStateOfTeams(t *testing.T) {
	w := newWriter(nil)
	w.join(1)
	for cid, team := range map[int]int{1: 5, 2: 5, 3: -3, 4: 0} {
		w.ex("player_team", cid, packed(cid, team))
	}
	for _, p := range [][2]int{{9, 1}, {5, 2}, {0, 1}, {8, 1}, {8, 0}} {
		w.ex("team_practice", 0, packed(p[0], p[1]))
	}
	var doc struct {
		Teams []struct {
			Team     int
			Members  []int
			Practice bool
		}
	}
	if err := json.Unmarshal([]byte(nodestest.Read(t, rootOf(t, w), "states/0.json")), &doc); err != nil {
		t.Fatal(err)
	}
	want := "[{-3 [3] false} {0 [] true} {5 [1 2] true} {9 [] true}]"
	if diff := cmp.Diff(want, fmt.Sprint(doc.Teams)); diff != "" {
		t.Error(diff)
	}
}

// Ticks and states open under times of the day, and of the dates the game had.
func TestTimesOfTicks(t *testing.T) {
	w := newWriter(map[string]any{"version": "2", "start_time": "2026-11-21T23:59:50+0000"})
	w.to(100)
	w.join(0)
	w.to(1000)
	w.join(1)
	root := rootOf(t, w)
	for name, want := range map[string]string{
		"ticks/@23:59:52.json":                "ticks/100.json",
		"states/@23:59:52.json":               "states/100.json",
		"states/@23:59:53.json":               "states/150.json",
		"states/@2026-11-22T00:00:10Z.json":   "states/1000.json",
		"ticks/@2026-11-21T23:59:59.9Z.json":  "ticks/100.json",
		"states/@2026-11-21T23:59:59.99.json": "states/499.json",
	} {
		got, err := nodes.Lookup(t.Context(), root, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		b, err := nodes.ReadAll(t.Context(), got.File)
		if err != nil || string(b) != nodestest.Read(t, root, want) {
			t.Errorf("%s is not %s, %v", name, want, err)
		}
	}
	for _, name := range []string{"ticks/@23:59:51.json", "ticks/@00:01:00.json", "ticks/@2026-11-21T23:59:51Z.json", "ticks/@.json"} {
		if _, err := nodes.Lookup(t.Context(), root, name); err == nil {
			t.Errorf("%s opens", name)
		}
	}
	without := newWriter(nil)
	without.join(0)
	if _, err := nodes.Lookup(t.Context(), rootOf(t, without), "ticks/@00:00:00.json"); err == nil {
		t.Error("a tick opens under a time though the header has none")
	}
}

// A tick after the year 9999 has no time, wherever times are shown.
func TestTicksWithoutTimes(t *testing.T) {
	w := newWriter(map[string]any{"version": "2", "start_time": "9999-12-31T23:59:58Z"})
	w.join(0)
	w.to(99)
	w.join(0)
	w.to(100)
	w.ex("player_finish", 0, packed(0, 50))
	w.join(0)
	root := rootOf(t, w)
	want := `0 0:00:00.00 9999-12-31T23:59:58.00Z 00 joined
99 0:00:01.98 9999-12-31T23:59:59.98Z 00 joined
100 0:00:02.00 - 00 finished in 0:00:01.00
100 0:00:02.00 - 00 joined
`
	if got := nodestest.Read(t, root, "export/events.txt"); got != want {
		t.Errorf("events.txt:\n%s, want\n%s", got, want)
	}
	for name, opens := range map[string]bool{"23:59:59.99": true, "9999-12-31T23:59:59.99Z": true, "00:00:00": false, "9999-12-31T23:00:00-01:00": false} {
		if _, err := nodes.Lookup(t.Context(), root, "states/@"+name+".json"); (err == nil) != opens {
			t.Errorf("@%s: %v, want it to open: %v", name, err, opens)
		}
	}
	for table, want := range map[string]int{"events": 2, "finishes": 1, "players": 1} {
		nulls := 0
		for _, c := range parquettest.Read(t, []byte(nodestest.Read(t, root, "tables/"+table+".parquet"))).Columns {
			if strings.HasSuffix(c.Name, "time") {
				nulls += c.Nulls[0]
			}
		}
		if nulls != want {
			t.Errorf("%s: %d rows without a time, want %d", table, nulls, want)
		}
	}
}
