package nethack

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recfs/nodes/nodestest"
)

// A frame is an event of a cast: when, and the rows that it draws.
type frame struct {
	at   float64
	rows []string
	end  string // what places the cursor
}

// readCast reads a cast as a player does.
func readCast(t *testing.T, cast string) (header map[string]any, frames []frame) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(cast, "\n"), "\n")
	if err := json.Unmarshal([]byte(lines[0]), &header); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		var event [3]any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		data, ok := strings.CutPrefix(event[2].(string), "\x1b[H")
		if !ok || event[1] != "o" {
			t.Fatalf("not a whole screen: %s", line)
		}
		rows := strings.Split(data, "\x1b[K")
		for i := range rows {
			rows[i] = strings.TrimPrefix(rows[i], "\r\n")
		}
		frames = append(frames, frame{event[0].(float64), rows[:len(rows)-1], rows[len(rows)-1]})
	}
	return header, frames
}

// TestCast holds what a cast shows of a level with monsters, one of them outside the map.
func TestCast(t *testing.T) {
	monsterAt := func(x, y uint8) []byte {
		b := testMonster{number: 12}.bytes()
		b[54], b[55] = x, y
		return b
	}
	l := testLevel{level: 1, monsters: [][]byte{monsterAt(79, 3), monsterAt(3, 21), monsterAt(12, 7), testMonster{number: -6000}.bytes()}}
	pack := listOf("OCHN", testObject{number: 389, quantity: 36}.bytes(), testObject{number: 1, quantity: 5}.bytes())
	save := dungeonSave(pack, l.bytes())
	put32(save, heroAt+88, 2)
	w := newGame("Ag\x1bnes")
	w.backup(bytes.Clone(save), 1)
	w.line("move D4", 300_000)
	copy(save[heroAt+1179:], "\x1b[2J\xff")
	put32(save, heroAt+56, 12) // polymorphed
	put32(save, heroAt+60, 3)
	put32(save, heroAt+64, 4)
	w.backup(bytes.Clone(save), 2)
	w.line("move D4", 9_000_000)
	save[heroAt+223] = 9 // a level that is not there
	w.backup(bytes.Clone(save), 3)
	save[heroAt+222] = 9 // a dungeon that is not there
	w.line("move D4", 1)
	w.backup(bytes.Clone(save), 4)

	header, frames := readCast(t, nodestest.Read(t, mustOpen(t, w.Bytes()), "export/game.cast"))
	if want := map[string]any{"version": 2.0, "width": 80.0, "height": 24.0, "timestamp": float64(testStart / 1_000_000), "title": "Ag?nes"}; fmt.Sprint(header) != fmt.Sprint(want) {
		t.Errorf("header %v, want %v", header, want)
	}
	blank := func(n int) string { return strings.Repeat(" ", n) }
	for i, want := range []struct {
		at            float64
		hero, who, is string
	}{
		{
			0, blank(10) + "@ d",
			"Agnes the Valkyrie              St:18 Dx:12 Co:16 In:9 Wi:8 Ch:7  Neutral", "Dlvl:1  $:36 HP:13(16) Pw:2(4) Exp:3/55 T:1  Hungry",
		},
		{
			0.3, blank(10) + "d d",
			"?[2J\ufffd the jackal                St:18 Dx:12 Co:16 In:9 Wi:8 Ch:7  Neutral", "Dlvl:1  $:36 HP:3(4) Pw:2(4) Exp:3/55 T:2  Hungry",
		},
		{
			2.3, "",
			"?[2J\ufffd the jackal                St:18 Dx:12 Co:16 In:9 Wi:8 Ch:7  Neutral", "Dlvl:9  $:36 HP:3(4) Pw:2(4) Exp:3/55 T:3  Hungry",
		},
	} {
		if i >= len(frames) {
			t.Fatalf("%d events", len(frames))
		}
		f := frames[i]
		if len(f.rows) != castRows || f.at != want.at || f.end != "\x1b[9;11H" {
			t.Errorf("event %d: at %v, %d rows, then %q", i, f.at, len(f.rows), f.end)
			continue
		}
		for row, text := range map[int]string{0: "", 8: want.hero, 22: want.who, 23: want.is} {
			if f.rows[row] != text {
				t.Errorf("event %d row %d: %q, want %q", i, row, f.rows[row], text)
			}
		}
	}
	if len(frames) != 3 {
		t.Errorf("%d events, want 3", len(frames))
	}
}

// TestStatusLines holds the numbers and words of the two lines below the map.
func TestStatusLines(t *testing.T) {
	for n, want := range map[int8]string{3: "3", 18: "18", 19: "18/01", 23: "18/05", 117: "18/99", 118: "18/**", 119: "19", 125: "25", -1: "-1"} {
		if got := strength(n); got != want {
			t.Errorf("strength %d: %s, want %s", n, got, want)
		}
	}
	s := &state{details: &details{
		Hero: &hero{Name: strings.Repeat("ü", 90), Hunger: 7}, Attributes: &attributes{}, Location: &location{},
	}}
	if who, how := s.who(), s.how(); strings.Contains(who, " the ") || !strings.HasSuffix(how, "T:0  ") {
		t.Errorf("%q, %q of a hero without words", who, how)
	}
	frame := string(appendFrame(nil, s))
	if rows := strings.Split(frame, nextRow); len(rows) != castRows || rows[castRows-2] != strings.Repeat("ü", castColumns)+endRow {
		t.Errorf("%d rows: %q", len(rows), rows)
	}
}

// TestExportsOfRealGames holds the exports of real games to their states.
func TestExportsOfRealGames(t *testing.T) {
	nodestest.Long(t)
	for _, game := range []string{"small", "timezone", "beta1", "crash"} {
		t.Run(game, func(t *testing.T) {
			log, err := os.ReadFile(filepath.Join("../../testdata/archive/nethack", game+".nhgame"))
			if err != nil {
				t.Fatal(err)
			}
			root := mustOpen(t, log)
			rows, err := csv.NewReader(strings.NewReader(nodestest.Read(t, root, "export/hero.csv"))).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			_, frames := readCast(t, nodestest.Read(t, root, "export/game.cast"))
			if len(frames) != len(rows)-1 || len(frames) < 10 {
				t.Fatalf("%d events, %d rows", len(frames), len(rows)-1)
			}
			at := 0.0
			for i, row := range rows[1:] {
				doc := nodestest.Read(t, root, "states/"+row[0]+".json")
				checkRow(t, rows[0], row, doc)
				if i > 0 {
					at += min(max(timeIn(t, row).Sub(timeIn(t, rows[i])).Seconds(), 0), 2)
				}
				if d := frames[i].at - at; d < -1e-6*float64(i+1) || d > 1e-6*float64(i+1) {
					t.Errorf("event %d is at %v, want %v", i, frames[i].at, at)
				}
			}
		})
	}
}

func timeIn(t *testing.T, row []string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, row[2])
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// checkRow compares a row of hero.csv with the state that it is of.
func checkRow(t *testing.T, columns, row []string, doc string) {
	t.Helper()
	var s struct {
		Tick, Turn                 int
		Time                       string
		Hero, Attributes, Location map[string]any
	}
	if err := json.Unmarshal([]byte(doc), &s); err != nil {
		t.Fatal(err)
	}
	for i, column := range columns {
		var want any
		switch {
		case i < 3:
			want = []any{s.Tick, s.Turn, s.Time}[i]
		case column == "ac":
			want = ""
		case i < 9 || column == "nutrition" || column == "luck":
			want = s.Hero[column]
		case i < 14:
			want = s.Location[column]
		default:
			want = s.Attributes[column]
		}
		if row[i] != fmt.Sprint(want) {
			t.Errorf("tick %s: %s is %s, want %v", row[0], column, row[i], want)
		}
	}
}

// TestExportsOfForks holds that a game whose states do not decode has no exports of them.
func TestExportsOfForks(t *testing.T) {
	log, err := os.ReadFile("../../testdata/archive/nethack/fork-fiqhack.nhgame")
	if err != nil {
		t.Fatal(err)
	}
	root := mustOpen(t, log)
	for _, name := range []string{"export/hero.csv", "export/game.cast"} {
		if _, err := find(t, root, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	nodestest.Read(t, root, "export/commands.jsonl")
}
