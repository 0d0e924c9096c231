package nethack

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recfs/formats/internal/rowcount"
	"recfs/nodes/nodestest"
)

// A heroCounts counts the heroes of saves with a heroCounter, and each by himself.
type heroCounts struct {
	heroCounter
	rows, want *rowcount.Counter
	n          int
}

func newHeroCounts() *heroCounts {
	return &heroCounts{rows: rowcount.New(heroesColumns), want: rowcount.New(heroesColumns)}
}

// add counts the hero of a save. The time of some ticks is none.
func (c *heroCounts) add(re *rebuilder, backup bool) {
	t := tick{turn: saveTurn(re.save), clock: saveClock(re.save) >> (c.n % 64), backup: backup}
	c.heroCounter.count(c.rows, re, c.n, &t, 0)
	var d heroState
	if readHero(re.save, &d) {
		heroRow(c.want.Batch, c.n, t, 0, &d)
		c.want.EndRow()
	}
	c.n++
}

// hold compares the two counts.
func (c *heroCounts) hold(t *testing.T) {
	t.Helper()
	c.flush(c.rows)
	if diff := cmp.Diff(c.want.Groups(), c.rows.Groups()); diff != "" {
		t.Fatalf("%d saves are counted otherwise than one by one (-one by one +counted)\n%s", c.n, diff)
	}
}

// TestHeroesOfGames holds the heroes of all saves of real games.
func TestHeroesOfGames(t *testing.T) {
	eachGame(t, func(_ string, x *index, re *rebuilder) (save func(n int), end func()) {
		counts := newHeroCounts()
		return func(n int) { counts.add(re, x.ticks.backup(n)) }, func() { counts.hold(t) }
	})
}

// TestHeroesOfDiffs holds heroes whatever diffs change of them.
func TestHeroesOfDiffs(t *testing.T) {
	saves := sizedSaves()
	re := &rebuilder{}
	e := &editor{rand.New(rand.NewPCG(5, 6)), re}
	counts := newHeroCounts()
	for i := range nodestest.Times(20_000, 2000) {
		backup := i%8 == 0
		switch kind := e.IntN(8); {
		case backup:
			re.save = append(re.save[:0], saves[e.IntN(len(saves))]...)
		case kind == 0:
			e.become(saves[e.IntN(len(saves))])
		case kind == 1:
			e.diff(0, len(re.save))
		case kind < 4:
			e.diff(0, stringAt+10)
		default:
			e.diff(heroAt, heroAt+heroSize)
		}
		if len(re.save) < minSave {
			counts.current = false // such a save is lost, and what follows it up to the next backup
			continue
		}
		counts.add(re, backup)
		if e.IntN(10) == 0 {
			counts.hold(t)
		}
		if e.IntN(100) == 0 {
			counts.hold(t)
			counts.rows.Reset(0, nil) // as where a group ends
			counts.want.Reset(0, nil)
		}
	}
}
