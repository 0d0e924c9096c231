package echo

import (
	"context"
	"strings"
	"testing"
	"time"

	"recfs/formats/columnar"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// More events than a text of 256 MiB has are shown, and no index fails for them.
func TestManyEvents(t *testing.T) {
	nodestest.Long(t)
	const frames, players = 48, 3 * 255
	name := strings.Repeat("a name of a player ", 400)
	list := make([]Frame, frames)
	for i := range list {
		f := &list[i]
		f.Time, f.Kind, f.Has = 1e12+int64(i), Other, HasStatus
		if i%2 == 0 {
			continue
		}
		for p := range players {
			team := &f.Teams[p%3]
			team.Players = append(team.Players, Player{Name: name, UserID: int64(p), ID: int32(p)})
		}
	}
	scans := 0
	format := testFormat(list, &scans)
	c := formatstest.NewCache(t)
	src := formatstest.BytesInput("x.butter", []byte("bytes"), time.Unix(1e9, 0))
	dir, err := formatstest.Open(t.Context(), format, src, c)
	if err != nil {
		t.Fatal(err)
	}
	e, err := nodes.Lookup(t.Context(), dir, "events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	err = c.Do(t.Context(), 1, func(ctx context.Context) (err error) {
		size, err = e.File.Size(ctx)
		return err
	})
	if err != nil || size <= 256<<20 {
		t.Errorf("%d bytes of events, %v", size, err)
	}
}

// The column time may hold nulls where a frame has no date, and only there.
func TestTimeOfTables(t *testing.T) {
	frames := testFrames(5)
	for _, want := range []bool{false, true} {
		if want {
			frames[3].Time = 253402300800000
		}
		x := mustScan(t, frames)
		for _, list := range [][]columnar.Column{framesColumns, textPlayers, eventsColumns} {
			for _, c := range x.columns(list) {
				if c.Name == "time" && c.Nullable != want {
					t.Errorf("time may be null: %t, want %t", c.Nullable, want)
				}
			}
		}
	}
	if row := rowOf(&frames[3])[2]; !strings.HasPrefix(row, "time[false] [] []") {
		t.Errorf("the year 10000 is %s", row)
	}
}
