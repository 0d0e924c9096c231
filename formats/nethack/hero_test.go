package nethack

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recfs/formats/internal/rowcount"
)

// holdHero holds what a reader has of the hero of a save to what there is to read, and the parts that it says are as
// before to those that it had.
func holdHero(t *testing.T, h *heroReader, re *rebuilder, backup bool) (changed heroSet) {
	t.Helper()
	before := h.heroState
	changed, ok := h.read(re, backup)
	var want heroState
	if readHero(re.save, &want) != ok {
		t.Fatalf("there is a hero: %t", !ok)
	}
	if !ok {
		return changed
	}
	equal := func(a, b *heroState) bool { // words are pointers into lists
		x, y := *a, *b
		x.hero.Role, x.hero.Race, x.hero.Alignment = y.hero.Role, y.hero.Race, y.hero.Alignment
		return x == y && wordText(a.hero.Role) == wordText(b.hero.Role) && wordText(a.hero.Race) == wordText(b.hero.Race) &&
			wordText(a.hero.Alignment) == wordText(b.hero.Alignment)
	}
	if !equal(&h.heroState, &want) {
		t.Fatalf("parts %b: %+v, want %+v", changed, h.heroState, want)
	}
	if changed&heroHabits == 0 && (before.attributes != want.attributes || before.conducts != want.conducts) ||
		changed&heroPlace == 0 && before.location != want.location ||
		changed&heroOccupation == 0 && before.hero.Occupation != want.hero.Occupation {
		t.Fatalf("parts %b changed: %+v from %+v", changed, want, before)
	}
	before.attributes, before.conducts, before.location = want.attributes, want.conducts, want.location
	before.hero.Occupation, before.hero.OccupationHex = want.hero.Occupation, want.hero.OccupationHex
	if changed&(heroNames|heroNumbers) == 0 && !equal(&before, &want) {
		t.Fatalf("parts %b changed: %+v from %+v", changed, want, before)
	}
	return changed
}

func wordText(word *string) string {
	if word == nil {
		return ""
	}
	return *word
}

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
	eachGame(t, func(file string, x *index, re *rebuilder) (save func(n int), end func()) {
		var h heroReader
		counts, again := newHeroCounts(), 0
		return func(n int) {
				counts.add(re, x.ticks.backup(n))
				if holdHero(t, &h, re, x.ticks.backup(n)) != allColumns {
					again++
				}
			}, func() {
				counts.hold(t)
				if h.current && 2*again < x.ticks.len() {
					t.Errorf("%s: of %d heroes %d were read in part", file, x.ticks.len(), again)
				}
			}
	})
}

// TestHeroesOfDiffs holds heroes whatever diffs change of them.
func TestHeroesOfDiffs(t *testing.T) {
	saves := sizedSaves()
	re := &rebuilder{}
	e := &editor{rand.New(rand.NewPCG(5, 6)), re}
	var h heroReader
	counts := newHeroCounts()
	var seen []heroSet
	for i := range 20_000 {
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
			h.current, counts.current = false, false // such a save is lost, and what follows it up to the next backup
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
		seen = append(seen, holdHero(t, &h, re, backup))
	}
	for _, part := range []heroSet{heroNumbers, heroOccupation, heroHabits, heroPlace} {
		if !slices.ContainsFunc(seen, func(set heroSet) bool { return set != 0 && set&^part == 0 }) {
			t.Errorf("columns %b never changed alone", part)
		}
	}
}
