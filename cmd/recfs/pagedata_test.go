package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"recfs/nodes/nodestest"
)

// ask returns the status, the ETag and the body of an answer to the page.
func (p serverProcess) ask(t *testing.T, path string, header ...string) (status int, tag, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.http+"/.view/1/"+path, http.NoBody)
	must(t, err)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp.StatusCode, resp.Header.Get("ETag"), string(b)
}

// A frameBlock is what the test reads of a block of frames.
type frameBlock struct {
	First, Frames int64
	Tracks        []struct {
		At, N int64
		X, Y  []int64
	}
}

// places returns where the tracks have somebody in a frame, from the differences on.
func (b *frameBlock) places(frame int64) (all [][2]int64) {
	for _, track := range b.Tracks {
		at := [2]int64{}
		for i := range track.N {
			at[0] += track.X[i]
			at[1] += track.Y[i]
			if track.At+i == frame {
				all = append(all, at)
			}
		}
	}
	slices.SortFunc(all, func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
	return all
}

// The frames that a page gets have whoever states/ has at their ticks.
func TestPageFrames(t *testing.T) {
	p := startServer(t, filepath.Join("..", "..", "testdata", "archive"))
	random := rand.New(rand.NewPCG(36, 1))
	for range 40 {
		step := int64(1) << random.IntN(7)
		number := random.Int64N(25185 / (250 * step))
		status, _, body := p.ask(t, fmt.Sprintf("frames/%s?block=%d&step=%d", busy, number, step))
		var b frameBlock
		if err := json.Unmarshal([]byte(body), &b); status != http.StatusOK || err != nil || b.Frames == 0 {
			t.Fatalf("block %d of step %d: %d, %v: %.200s", number, step, status, err, body)
		}
		frame := random.Int64N(b.Frames)
		tick := b.First + frame*step
		var state struct {
			Players []struct {
				Alive bool
				X, Y  int64
			}
		}
		resp, err := http.Get(fmt.Sprintf("%s/%s/states/%08d.json", p.http, busy, tick))
		must(t, err)
		must(t, json.NewDecoder(resp.Body).Decode(&state))
		resp.Body.Close()
		var want [][2]int64
		for _, one := range state.Players {
			if one.Alive {
				want = append(want, [2]int64{one.X, one.Y})
			}
		}
		slices.SortFunc(want, func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
		if got := b.places(frame); !slices.Equal(got, want) {
			t.Errorf("tick %d of step %d: %v, not %v", tick, step, got, want)
		}
	}
}

// Each kind of answer has its version, says when it is known, and refuses what makes no sense.
func TestPageAnswers(t *testing.T) {
	p := startServer(t, filepath.Join("..", "..", "testdata", "archive"))
	for _, path := range []string{"about/" + busy, "frames/" + busy + "?block=1&step=4", "events/" + busy, "players/" + busy, "about/datafile/maps/new.map"} {
		status, tag, body := p.ask(t, path)
		if status != http.StatusOK || tag == "" || len(body) < 8 || body[:7] != `{"v":1,` {
			t.Errorf("%s: %d %s %.80s", path, status, tag, body)
		}
		if status, again, body := p.ask(t, path, "If-None-Match", tag); status != http.StatusNotModified || again != tag || body != "" {
			t.Errorf("%s again: %d %s %.80s", path, status, again, body)
		}
	}
	for path, want := range map[string]string{
		"frames/" + busy + "?block=9223372036854775807":     "bad parameter: block",
		"frames/" + busy + "?block=-1":                      "bad parameter: block",
		"frames/" + busy + "?block=1e3":                     "bad parameter: block",
		"frames/" + busy + "?step=3":                        "bad parameter: step",
		"frames/" + busy + "?step=128":                      "bad parameter: step",
		"frames/" + busy + "?secrets=2":                     "bad parameter: secrets",
		"events/" + busy + "?limit=1001":                    "bad parameter: limit",
		"events/" + busy + "?dir=0":                         "bad parameter: dir",
		"events/" + busy + "?from=tomorrow":                 "bad parameter: from",
		"players/" + busy + "?after=-1":                     "bad parameter: after",
		"mapdiff/datafile/maps/new.map":                     "bad parameter: with",
		"mapdiff/datafile/maps/new.map?with=" + busy + "/x": "bad parameter: with",
		"list?since=whenever":                               "bad parameter: since",
	} {
		if status, _, body := p.ask(t, path); status != http.StatusBadRequest || body != want+"\n" {
			t.Errorf("%s: %d %.80q, not %q", path, status, body, want)
		}
	}
	for path, want := range map[string]int{
		"about/nothing": 404, "frames/nothing": 404, "frames/README.md": 404, "nothing/" + busy: 404,
		"frames/butter/old.milk": 404, "about/butter/old.milk": 200, "frames/datafile/maps/new.map": 400,
	} {
		if status, _, body := p.ask(t, path); status != want {
			t.Errorf("%s: %d, not %d: %.80s", path, status, want, body)
		}
	}
	if status, _, body := p.ask(t, "about/"+busy, "Sec-Fetch-Site", "same-site"); status != http.StatusForbidden || body != "another site\n" {
		t.Errorf("of another site: %d %q", status, body)
	}
}

// What follows /timeout, /save and /load is told only to who asks for it.
func TestPageSecrets(t *testing.T) {
	p := startServer(t, filepath.Join("..", "..", "testdata", "archive"))
	_, _, hidden := p.ask(t, "events/"+busy+"?kind=login&limit=1000")
	_, _, told := p.ask(t, "events/"+busy+"?kind=login&limit=1000&secrets=1")
	type answer struct{ Rows []struct{ Text string } }
	var a, b answer
	must(t, json.Unmarshal([]byte(hidden), &a))
	must(t, json.Unmarshal([]byte(told), &b))
	if len(a.Rows) == 0 || len(a.Rows) != len(b.Rows) || slices.Equal(a.Rows, b.Rows) {
		t.Errorf("%d events hide something of %d: %.300s and %.300s", len(a.Rows), len(b.Rows), hidden, told)
	}
}

// What no game would record is shown: 1,024 players at once at the ends of 32 bits with names that
// are markup, 64 KB long or no text, 100,000 that come and go, ticks to the last there is, one tick
// and none.
func TestPageHostileRecordings(t *testing.T) {
	head := "\x69\x9d\xb1\x7b\x8e\xfb\x34\xff\xb1\xd8\xda\x6f\x60\xc1\x5d\xd1" + `{"version":"2","version_minor":"22"}` + "\x00"
	names := []string{"<img src=x onerror=alert(1)>", strings.Repeat("long", 16<<10), "\u202egnp\x01\x1b[2J", "bad\xff\xfe", "\u05d0\u05d1", ""}
	const players, last = 1024, math.MaxInt32
	many := nodestest.Times(100_000, 10_000)
	var crowded, visitors, one records
	crowded.ints(-2, 0)
	for id := range players {
		crowded.ints(-8, id, -3, id, []int{math.MinInt32, math.MaxInt32}[id%2], []int{math.MaxInt32, math.MinInt32}[id%2])
	}
	for id := range players {
		crowded.name(id, names[id%len(names)])
		if id < len(names) {
			crowded.ints(-10, id, 128)
			crowded = append(crowded, "me\x00\x01"+strings.ReplaceAll(names[id], "\x00", "")+"\x00"...)
		}
	}
	crowded.ints(-2, last-10, 0, 1, 1, -1)
	for id := range many {
		visitors.ints(-2, 0, -8, id%64, -3, id%64, id, -id)
		visitors.ints(-2, 0, -4, id%64, -9, id%64)
		visitors = append(visitors, 0)
	}
	visitors.ints(-1)
	one.ints(-2, 0, -8, 0, -3, 0, 1, 1, -1)
	dir := t.TempDir()
	for name, r := range map[string]records{"crowded": crowded, "visitors": visitors, "one": one, "none": nil} {
		must(t, os.WriteFile(filepath.Join(dir, name+".teehistorian"), append([]byte(head), r...), 0o666))
	}
	p := startServer(t, dir)
	for name, want := range map[string]struct{ tracks, players int }{"crowded": {players, players}, "visitors": {125, many}, "one": {1, 1}, "none": {0, 0}} {
		path := name + ".teehistorian"
		var about struct{ First, Last *int64 }
		status, _, body := p.ask(t, "about/"+path)
		must(t, json.Unmarshal([]byte(body), &about))
		if status != http.StatusOK || len(body) > 64<<10 || (about.Last == nil) != (name == "none") || name == "crowded" && *about.Last < last-100 {
			t.Errorf("%s: %d %.300s", name, status, body)
		}
		for end, block := range map[string]int64{"first": 0, "last": last / 250} {
			status, _, body := p.ask(t, fmt.Sprintf("frames/%s?block=%d", path, block))
			var b frameBlock
			if end == "last" && name != "crowded" || name == "none" {
				if status != http.StatusBadRequest {
					t.Errorf("%s: the %s block is %d %.200s", name, end, status, body)
				}
				continue
			}
			if err := json.Unmarshal([]byte(body), &b); err != nil || status != http.StatusOK || len(b.Tracks) != want.tracks || !utf8.ValidString(body) {
				t.Errorf("%s: the %s block has %d tracks: %d, %v, %.300s", name, end, len(b.Tracks), status, err, body)
			}
			if places := b.places(b.Frames / 2); name == "crowded" && (places[0] != [2]int64{math.MinInt32, math.MaxInt32} || len(body) > 4<<20) {
				t.Errorf("%s: %v in %d bytes", name, places[0], len(body))
			}
		}
		var list struct {
			Total int
			Rows  []struct{ Name, Text string }
		}
		for _, what := range []string{"players/" + path + "?limit=1000&after=10", "events/" + path + "?limit=1000&q=img"} {
			status, _, body := p.ask(t, what)
			must(t, json.Unmarshal([]byte(body), &list))
			for _, row := range list.Rows {
				if len(row.Name)+len(row.Text) > 2048 {
					t.Errorf("%s: a text of %d bytes", what, len(row.Name)+len(row.Text))
				}
			}
			if status != http.StatusOK {
				t.Errorf("%s: %d %.200s", what, status, body)
			}
		}
		if list.Total != want.players {
			t.Errorf("%s: %d players", name, list.Total)
		}
	}
}
