package nethack

import (
	"math/rand/v2"
	"testing"
)

// holdHero holds what a reader has of the hero of a save to what there is to read, and the parts that it says are as
// before to those that it had.
func holdHero(t *testing.T, h *heroReader, re *rebuilder, backup bool) (changed heroParts) {
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

// TestHeroesOfGames holds the heroes of all saves of real games.
func TestHeroesOfGames(t *testing.T) {
	eachGame(t, func(file string, x *index, re *rebuilder) (save func(n int), end func()) {
		var h heroReader
		again := 0
		return func(n int) {
				if holdHero(t, &h, re, x.ticks.backup(n)) != allParts {
					again++
				}
			}, func() {
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
	parts := map[heroParts]int{}
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
			h.current = false // such a save is lost, and what follows it up to the next backup
			continue
		}
		parts[holdHero(t, &h, re, backup)]++
	}
	for _, p := range []heroParts{heroNumbers, heroOccupation, heroHabits, heroPlace} {
		if parts[p] == 0 {
			t.Errorf("parts %b never changed alone", p)
		}
	}
}
