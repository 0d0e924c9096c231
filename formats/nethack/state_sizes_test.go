package nethack

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// sharedGames are those of real builds of the game.
const sharedGames = "../../../shared/recordings/nethack"

// holdSize holds the size of the document of tick n to the document. It reports whether the size is known without reading
// all of the save.
func holdSize(t *testing.T, m *stateMeter, n int) (followed bool) {
	t.Helper()
	if followed = m.known; followed {
		m.parts.list = append(m.parts.list, part{start: math.MaxInt32, end: math.MaxInt32}) // as long as it is the same list
	}
	more, ok := m.more(n)
	if k := len(m.parts.list) - 1; followed && k >= 0 && m.parts.list[k].end == math.MaxInt32 {
		m.parts.list = m.parts.list[:k]
	} else {
		followed = false
	}
	doc, err := m.x.decodeState(n, m.re.save).appendDocument(nil)
	if size := emptyHead() + more; ok && size != len(doc) || err != nil {
		t.Fatalf("tick %d: %d bytes, want %d, %v", n, size, len(doc), err)
	}
	return followed && ok
}

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

// TestStateSizesOfGames holds the sizes of all states of real games to their documents.
func TestStateSizesOfGames(t *testing.T) {
	measured, all := 0, 0
	eachGame(t, func(_ string, x *index, re *rebuilder) (save func(n int), end func()) {
		m := newStateMeter(x, re)
		all += x.ticks.len()
		return func(n int) {
			if holdSize(t, m, n) {
				measured++
			}
		}, func() {}
	})
	if 4*measured < 3*all-500 { // those of a fork are none
		t.Errorf("of %d states %d had to be measured in part", all, measured)
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

// TestStateSizesOfDiffs holds the sizes of states to their documents, whatever diffs change.
func TestStateSizesOfDiffs(t *testing.T) {
	saves := sizedSaves()
	x := new(index)
	re := &rebuilder{}
	m := newStateMeter(x, re)
	e := &editor{rand.New(rand.NewPCG(3, 4)), re}
	level := len(heroSave())
	shown, known := 0, 0
	for i := range 15_000 {
		now := tick{
			turn: int32(e.Uint32() >> 1 >> e.IntN(31)), nth: int32(e.IntN(2) * e.IntN(5000)), clock: e.Uint64() >> e.IntN(64), backup: i%8 == 0,
		}
		x.ticks = tickListOf(now)
		switch kind := e.IntN(8); {
		case now.backup:
			re.save = append(re.save[:0], saves[e.IntN(len(saves))]...)
		case kind == 0:
			e.become(saves[e.IntN(len(saves))])
		case kind == 1 && m.cells > 0:
			e.diff(m.cells, m.cells+mapSize)
		case kind == 2 && m.known:
			p := m.parts.list[e.IntN(len(m.parts.list))]
			e.diff(int(p.start)+4, max(int(p.end), int(p.start)+6))
		case kind == 3:
			e.diff(minSave, len(re.save))
		case i%16 < 8:
			e.diff(level, len(re.save))
		default:
			e.diff(heroAt, heroAt+1783)
		}
		if len(re.save) < minSave {
			m.known, m.cells, m.current = false, 0, false // such a save is lost, and what follows it up to the next backup
			continue
		}
		if holdSize(t, m, 0) {
			known++
		}
		if m.known {
			shown++
		}
	}
	if known < 1500 || shown < 4000 {
		t.Errorf("of %d states %d had to be measured in part", shown, known)
	}
}
