package nethack

import (
	"encoding/csv"
	"io"
	"strconv"
)

// heroColumns are the columns of export/hero.csv (docs/tree/nethack.md section 7a).
var heroColumns = []string{
	"tick", "turn", "time", "hp", "hp_max", "power", "power_max", "level", "experience", "ac", "dungeon", "depth", "x", "y",
	"nutrition", "luck", "str", "int", "wis", "dex", "con", "cha",
}

// A heroTable writes export/hero.csv.
type heroTable struct{ w *csv.Writer }

func newHeroTable(w io.Writer) (*heroTable, error) {
	t := &heroTable{csv.NewWriter(w)}
	return t, t.w.Write(heroColumns)
}

// add writes the row of a state that has its groups. The armour class on the screen is not in a save.
func (t *heroTable) add(s *state) error {
	h, l, a := s.Hero, s.Location, s.Attributes
	time := ""
	if s.Time != nil {
		time = *s.Time
	}
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	return t.w.Write([]string{
		n(int64(s.Tick)), n(int64(s.Turn)), time, n(int64(h.HP)), n(int64(h.HPMax)), n(int64(h.Power)), n(int64(h.PowerMax)),
		n(int64(h.Level)), n(int64(h.Experience)), "", n(int64(l.Dungeon)), n(l.Depth), n(int64(l.X)), n(int64(l.Y)),
		n(h.Nutrition), n(int64(h.Luck)), n(int64(a.Str)), n(int64(a.Int)), n(int64(a.Wis)), n(int64(a.Dex)), n(int64(a.Con)), n(int64(a.Cha)),
	})
}

func (t *heroTable) flush() error {
	t.w.Flush()
	return t.w.Error()
}
