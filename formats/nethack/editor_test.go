package nethack

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// sharedGames are those of real builds of the game.
const sharedGames = "../../../shared/recordings/nethack"

// eachGame rebuilds all saves of real games. begin is called for each game, and what it returns for each of its saves and
// behind the last one.
func eachGame(t *testing.T, begin func(file string, x *index, re *rebuilder) (save func(n int), end func())) {
	t.Helper()
	files, _ := filepath.Glob(sharedGames + "/*.nhgame")
	for _, file := range append(files, "../../testdata/archive/nethack/small.nhgame") {
		log, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rec, x, done := openBench(t, log, benchBudget)
		var re rebuilder
		save, end := begin(file, x, &re)
		err = rec.eachSave(t.Context(), x, &re, 0, x.ticks.len()-1, func(n int, _ []byte) error {
			save(n)
			return nil
		})
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		end()
		done()
	}
}

// An editor makes random diffs.
type editor struct {
	*rand.Rand
	re *rebuilder
}

// bytes returns what to write over a part of a save.
func (e *editor) bytes() []byte {
	switch e.IntN(9) {
	case 8:
		return u32(36 << 26)[e.IntN(4):] // a throne, which is a backslash
	case 0:
		return []byte("LEVL\x00\x01")
	case 1:
		return []byte{'"', '\\', 0xff}[e.IntN(3):][:1]
	case 2:
		return u32(e.Uint32() >> e.IntN(32))
	case 3:
		return u32(-uint32(e.IntN(3000)))
	}
	return u32(e.Uint32())[:1+e.IntN(2)]
}

// diff changes the save in a few places from start to before end, and now and then takes bytes out or puts some in.
func (e *editor) diff(start, end int) {
	p := &e.re.patch
	size := len(e.re.save)
	p.reset(size)
	places := make([]int, 1+e.IntN(6))
	for i := range places {
		places[i] = start + e.IntN(min(end, size)-start)
		if i > 0 && e.IntN(3) == 0 {
			places[i] = min(places[i-1]+e.IntN(8), size)
		}
	}
	slices.Sort(places)
	for _, at := range places {
		p.copy(uint64(max(at-int(p.src), 0)))
		switch {
		case int(p.src) >= size:
		case e.IntN(4) == 0:
			p.adjust(byte(e.Uint32()))
		case e.IntN(60) == 0:
			p.seek(int64(e.IntN(11) - 5))
		default:
			b := e.bytes()
			p.edit(b[:min(len(b), size-int(p.src))])
		}
	}
	p.copy(uint64(max(size-int(p.src)-e.IntN(2), 0)))
	e.apply()
}

// become makes another save of the one there is, which begins and ends alike.
func (e *editor) become(save []byte) {
	old, p := e.re.save, &e.re.patch
	p.reset(len(old))
	most := min(len(old), len(save))
	first, last := 0, 0
	for first < most && old[first] == save[first] {
		first++
	}
	for last < most-first && old[len(old)-1-last] == save[len(save)-1-last] {
		last++
	}
	p.copy(uint64(first))
	p.edit(save[first : len(save)-last])
	p.seek(int64(len(save) - len(old)))
	p.copy(uint64(last))
	e.apply()
}

func (e *editor) apply() {
	e.re.save, e.re.spare = e.re.patch.apply(e.re.save, e.re.spare)
}

// sizedSaves returns saves of which one becomes the other, when the hero goes from level to level and things before his
// level become more.
func sizedSaves() (list [][]byte) {
	contents := [][]byte{testObject{number: 2, name: "xy"}.bytes(), testObject{number: 3}.bytes()}
	named := testObject{number: 389, quantity: 36, letter: 'a', name: "LEVL\x00\x01LEVL", contents: contents}
	elsewhere, here := fullLevel(), fullLevel()
	elsewhere.level = 7
	here.monsters = append(here.monsters, testMonster{number: -1000, flags: normal, name: "x"}.bytes())
	for i := range 4 {
		save := dungeonSave(listOf("OCHN", named.bytes(), named.bytes()), elsewhere.bytes(), here.bytes(), elsewhere.bytes())
		save[heroAt+223] = []byte{1, 1, 7, 1}[i]
		save[heroAt+188] = []byte{11, 11, 11, 6}[i]
		elsewhere.floor = append(elsewhere.floor, testObject{number: 389, name: "abcdefgh"[:1+i]}.bytes())
		list = append(list, save)
	}
	return list
}
