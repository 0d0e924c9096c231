package nethack

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
	"recfs/nodes/play"
)

// playSamples are the logs of the sample archive and those of the goldens.
func playSamples(t *testing.T) map[string][]byte {
	t.Helper()
	logs := map[string][]byte{"heroes": heroGame(5*castTicks + 3).Bytes(), "header": newGame("Agnes").Bytes()}
	for _, pattern := range []string{"archive/nethack/*.nhgame", "nethack/*.txtar"} {
		files, err := filepath.Glob("../../testdata/" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			logs[filepath.Base(file)] = nodestest.Sample(t, file)
		}
	}
	if files, _ := filepath.Glob(sharedGames + "/*.nhgame"); !testing.Short() {
		for _, file := range files {
			logs[filepath.Base(file)] = nodestest.Sample(t, file)
		}
	}
	return logs
}

// TestPlay holds every frame to export/game.cast and to states/ of its tick, and events to ticks/.
func TestPlay(t *testing.T) {
	for name, log := range playSamples(t) {
		t.Run(name, func(t *testing.T) {
			root, err := openTree(t, log)
			if err != nil {
				t.Skip(err)
			}
			p := root.(play.Recording)
			var cast []frame
			if _, err := find(t, root, "export/game.cast"); err == nil {
				_, cast = readCast(t, nodestest.Read(t, root, "export/game.cast"))
			}
			formatstest.Frames(t, p, func(b *play.Block, i int, tick int64) {
				if b.Screen.Ticks[i] != tick {
					t.Errorf("tick %d is told as %d", tick, b.Screen.Ticks[i])
				}
				holdScreen(t, root, &cast, b.Screen, i, tick)
				var kinds []string
				for _, e := range b.Events {
					if e.Tick == tick {
						kinds = append(kinds, e.Kind)
					}
				}
				if want := eventsOf(t, root, tick); !slices.Equal(kinds, want) {
					t.Errorf("tick %d: events %q, want %q", tick, kinds, want)
				}
			})
			if len(cast) > 0 {
				t.Errorf("%d events of game.cast have no frame", len(cast))
			}
			formatstest.Alone(t, p, mustOpen(t, log).(play.Recording))
		})
	}
}

// holdScreen holds a frame to the state of its tick, and takes its event from cast.
func holdScreen(t *testing.T, root nodes.Dir, cast *[]frame, s *play.Screens, i int, tick int64) {
	t.Helper()
	var state struct {
		Turn        int64
		Map, Screen []string
		Hero        *struct{}
	}
	text, err := tryRead(t, root, fmt.Sprintf("states/%d.json", tick))
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	if err != nil || state.Hero == nil {
		if s.Rows[i] != nil || s.Plain[i] != nil {
			t.Errorf("tick %d has a screen, but no state: %v", tick, err)
		}
		return
	}
	if s.Turns[i] != state.Turn {
		t.Errorf("tick %d has turn %d, want %d", tick, s.Turns[i], state.Turn)
	}
	level := state.Map
	if state.Screen != nil {
		level = state.Screen
	}
	plain := slices.Clone(s.Rows[i])
	for y := range mapRows {
		plain[y+mapTop] = ""
		if level != nil {
			plain[y+mapTop] = strings.TrimRight(level[y], " ")
		}
	}
	if !slices.Equal(s.Plain[i], plain) {
		t.Errorf("tick %d without monsters: %q, want %q", tick, s.Plain[i], plain)
	}
	if len(*cast) == 0 || !slices.Equal(s.Rows[i], (*cast)[0].rows) {
		t.Errorf("tick %d: %q is not that of game.cast", tick, s.Rows[i])
		return
	}
	*cast = (*cast)[1:]
}

// tryRead reads a file that may not be readable.
func tryRead(t *testing.T, root nodes.Dir, path string) ([]byte, error) {
	t.Helper()
	e, err := find(t, root, path)
	if err != nil {
		return nil, err
	}
	return nodes.ReadAll(t.Context(), e.File)
}

// eventsOf returns the kinds of events that ticks/ has.
func eventsOf(t *testing.T, root nodes.Dir, tick int64) (kinds []string) {
	t.Helper()
	var doc struct{ Events []struct{ Event string } }
	if text, err := tryRead(t, root, fmt.Sprintf("ticks/%d.json", tick)); err != nil || json.Unmarshal(text, &doc) != nil {
		return nil
	}
	for _, e := range doc.Events {
		kinds = append(kinds, e.Event)
	}
	return kinds
}

// TestPlayAbout holds what is known of a log before a frame is made.
func TestPlayAbout(t *testing.T) {
	p := mustOpen(t, heroGame(5*castTicks+3).Bytes()).(play.Recording)
	a, err := p.About(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var marks []string
	for _, m := range a.Marks {
		marks = append(marks, fmt.Sprintf("%d %s %s", m.Tick, m.Kind, m.Text))
	}
	want := []string{
		"0 backup backup, turn 1", "50 backup backup, turn 51", "100 backup backup, turn 101", "150 backup backup, turn 151", "200 backup backup, turn 201",
		"250 backup backup, turn 251", "300 backup backup, turn 301",
	}
	if !slices.Equal(marks, want) || *a.First != 0 || *a.Last != 5*castTicks+2 || a.TickMS != nil || a.Start == nil || a.Bounds != nil {
		t.Errorf("%+v, marks %q", a, marks)
	}
	players, n, err := p.Players(t.Context(), "", 0, 10)
	if err != nil || n != 1 || len(players) != 1 || players[0].Name != "Agnes" || players[0].Last != *a.Last {
		t.Errorf("%+v, %d: %v", players, n, err)
	}
	if _, err := p.Frames(t.Context(), 0, 2); err == nil {
		t.Error("two saves a frame")
	}
	b, err := p.Frames(t.Context(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if e := b.Events[0]; e.Kind != "command" || e.Text != "move E" {
		t.Errorf("%+v", e)
	}
	if len(b.MS) != b.Frames || b.MS[0] != 0 || b.MS[1] <= 0 {
		t.Errorf("times %d", b.MS)
	}
}

// TestPlaysOnce plays a log from its start.
func TestPlaysOnce(t *testing.T) {
	log := heroGame(20 * castTicks).Bytes()
	formatstest.PlaysOnce(t, Format, "game.nhgame", log, int64(len(log)))
}

// Playing rebuilds each save once.
func BenchmarkPlay(b *testing.B) {
	log := heroGame(40 * castTicks).Bytes()
	p := mustOpen(b, log).(play.Recording)
	if _, err := p.About(b.Context()); err != nil {
		b.Fatal(err)
	}
	for n := 0; b.Loop(); n++ {
		if n%40 == 0 {
			b.StopTimer()
			p = mustOpen(b, log).(play.Recording)
			b.StartTimer()
		}
		if _, err := p.Frames(b.Context(), int64(n%40), 1); err != nil {
			b.Fatal(err)
		}
	}
}

// TestWords holds what is said of events.
func TestWords(t *testing.T) {
	for line, want := range map[string]string{
		"move D4": "move E", "zap I2": "zap 2", "D4": "direction E", "P10,7.": "position x 10 y 7 .", "K42": "key *", "K27": "key key_code 27",
		"K42,3": "key * count 3", "P!": "position cancelled", "Yn": "yes_no n", "Q": "game_over", "M7:8": "menu 2 items", "R1": "top_ten 1", "\xff": "unknown size 1 \ufffd",
	} {
		var e event
		if e.parse([]byte(line)); e.words() != want {
			t.Errorf("%s: %q, want %q", line, e.words(), want)
		}
	}
}

// TestScreensAreCounted holds what screens are said to keep alive to the rows that they have: those
// that stay are there once.
func TestScreensAreCounted(t *testing.T) {
	log, err := os.ReadFile("../../testdata/archive/nethack/small.nhgame")
	if err != nil {
		t.Fatal(err)
	}
	rec, _, x, _ := openHeroes(t, formatstest.BytesInput("small.nhgame", log, testTime), 16<<20)
	s, cost, err := rec.screens(t.Context(), x, 0, x.ticks.len())
	if err != nil {
		t.Fatal(err)
	}
	seen, want, rows := map[*byte]bool{}, int64(0), int64(0)
	for _, list := range slices.Concat(s.Rows, s.Plain) {
		want += castRows * 16
		for _, row := range list {
			rows += int64(len(row))
			if at := unsafe.StringData(row); len(row) > 0 && !seen[at] {
				seen[at] = true
				want += int64(len(row))
			}
		}
	}
	if cost < want || cost > want+want/8 || 4*want > 3*rows {
		t.Errorf("%d bytes are counted of %d, of %d of rows", cost, want, rows)
	}
}
