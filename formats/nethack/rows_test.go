package nethack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recfs/formats/internal/rowcount"
)

// TestCommandsAreCounted holds the counts of commands to those of their rows.
func TestCommandsAreCounted(t *testing.T) {
	lines := []string{
		"move D3", "chat", "travel P78,20", "travel P3000000000,-1", "drop L5 Ia", "drop I\xff D10", "cast Sb K-3", "cast S\xff L5000000000", "name TRmlkbwA=", "name T/w==",
		"Yn", "K42,-1", "K123456789012345678", "K34", "P!", "M5:104", "LRmlkbwA=", "LIlwA", "L/w==", "Lgg", "O5,3:6", "B!", "+1f", "+ffffffffffffff", "what is this",
	}
	rapid.Check(t, func(t *rapid.T) {
		var ev events
		var g commandCounter
		rows, want := rowcount.New(commandsColumns), rowcount.New(commandsColumns)
		off := int64(100)
		for range rapid.IntRange(1, 9).Draw(t, "ticks") {
			for _, s := range rapid.SliceOfN(rapid.SampledFrom(lines), 0, 9).Draw(t, "lines") {
				end := off + int64(len(s)) + 1
				ev.add(line{off: off, end: end, text: []byte(s)})
				off = end
			}
			at := commandContext{
				tick: rapid.IntRange(-1, 3).Draw(t, "tick"), turn: rapid.Int32Range(-1, 9).Draw(t, "turn"), zone: rapid.Int32Range(-1, 1).Draw(t, "zone"),
			}
			g.count(rows, ev.list, at)
			for e, answers := range commandsOf(ev.list) {
				at.answers = appendEvents(nil, answers, at.zone)
				commandRow(want.Batch, e, &at)
				want.EndRow()
			}
			ev.forget(ev.clock)
			if rapid.Bool().Draw(t, "flush") {
				g.flush(rows)
			}
		}
		g.flush(rows)
		if diff := cmp.Diff(want.Groups(), rows.Groups()); diff != "" {
			t.Fatalf("-one by one +counted\n%s", diff)
		}
	})
}
