package datafile

import "testing"

func TestCellNames(t *testing.T) {
	for _, c := range []struct {
		kind       Kind
		cell, want string
	}{
		{KindGame, ".", "air"},
		{KindGame, "9", "freeze"},
		{KindFront, "60/08", "stopper/08"},
		{KindGame, "36", "time checkpoint 2"},
		{KindGame, "22", "solo off"},
		{KindSwitch, "22#7", "timed open#7"},
		{KindTele, "26#255", "tele in#255"},
		{KindGame, "8", ""},
		{KindGame, "x", ""},
	} {
		if got := c.kind.cellName(c.cell); got != c.want {
			t.Errorf("%s of %s is %q, want %q", c.cell, c.kind, got, c.want)
		}
	}
}
