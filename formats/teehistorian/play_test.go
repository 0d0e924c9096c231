package teehistorian

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
	"recfs/nodes/play"
)

// holdFrames holds all frames of a recording to states/.
func holdFrames(t *testing.T, b []byte) (frames int) {
	t.Helper()
	c := formatstest.NewCache(t)
	open := func() nodes.Dir {
		root, err := formatstest.Open(t.Context(), Format, formatstest.BytesInput("x", b, time.Unix(1, 0)), c)
		if err != nil {
			t.Fatal(err)
		}
		return root
	}
	root := open()
	var players struct{ Players []struct{ CID int32 } }
	if err := json.Unmarshal([]byte(nodestest.Read(t, root, "players.json")), &players); err != nil {
		t.Fatal(err)
	}
	want := map[int64][]string{}
	rec := root.(play.Recording)
	formatstest.Frames(t, rec, func(b *play.Block, i int, tick int64) {
		if want[tick] == nil {
			want[tick] = characters(t, nodestest.Read(t, root, fmt.Sprintf("states/%d.json", tick)))
		}
		got := []string{}
		tracks, at := formatstest.At(b, i)
		for k, tr := range tracks {
			stay, err := strconv.Atoi(string(tr.ID))
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("%d %s %d,%d", players.Players[stay].CID, tr.Team, tr.X[at[k]], tr.Y[at[k]])
			if tr.A != nil {
				text += fmt.Sprintf(" %d %d", tr.A[at[k]], tr.S[at[k]])
			}
			got = append(got, text)
		}
		if slices.Sort(got); !slices.Equal(got, want[tick]) {
			t.Fatalf("tick %d: %q, want %q", tick, got, want[tick])
		}
		frames++
	})
	formatstest.Alone(t, rec, open().(play.Recording))
	return frames
}

// characters returns those of a state, sorted.
func characters(t *testing.T, doc string) []string {
	var state struct {
		Players []struct {
			CID, Team int32
			Alive     bool
			X, Y      *int32
			Input     *struct {
				TargetX int32 `json:"target_x"`
				TargetY int32 `json:"target_y"`
				Hook    int32
				Fire    int32
				Flags   int32 `json:"player_flags"`
				Weapon  int32 `json:"wanted_weapon"`
			}
		}
	}
	if err := json.Unmarshal([]byte(doc), &state); err != nil {
		t.Fatal(err)
	}
	list := []string{}
	for _, p := range state.Players {
		if !p.Alive {
			continue
		}
		text := fmt.Sprintf("%d %d %d,%d", p.CID, p.Team, *p.X, *p.Y)
		if in := p.Input; in != nil {
			s := in.Fire&1<<1 | in.Flags>>2&1<<2 | in.Flags>>1&1<<3
			if in.Hook != 0 {
				s |= 1
			}
			if 0 < in.Weapon && in.Weapon < 7 {
				s |= in.Weapon << 8
			}
			text += fmt.Sprintf(" %d %d", aim(in.TargetX, in.TargetY), s)
		}
		list = append(list, text)
	}
	slices.Sort(list)
	return list
}

func TestFrames(t *testing.T) {
	files, _ := filepath.Glob("../../testdata/archive/teehistorian/*.teehistorian")
	if !testing.Short() {
		holdFrames(t, readBusy(t))
	}
	shared, _ := filepath.Glob(filepath.Join(sharedRecordings, "*.teehistorian"))
	if !testing.Short() {
		files = append(files, shared...)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := openBytes(t, newCache(t), b); err != nil {
			continue
		}
		t.Logf("%s: %d frames", file, holdFrames(t, b))
	}
}

// TestPlaysOnce plays a crowd, of which a block takes more memory than a request has at first.
func TestPlaysOnce(t *testing.T) {
	nodestest.Long(t)
	w := newWriter(nil)
	w.skip(0)
	for cid := range 80 {
		w.new(cid, 32*cid, 1600)
		w.inputNew(cid, [inputs]int{})
	}
	for tick := range 4000 {
		for cid := range 80 {
			w.diff(cid, (tick+cid)%9-4, tick%3-1)
		}
	}
	w.finish()
	formatstest.PlaysOnce(t, Format, "crowd.teehistorian", w.b, int64(len(w.b)))
}
