package nethack

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"recfs/formats/internal/jsonenc"
	"recfs/nodes/nodestest"
)

// stateOf returns the document of states/ for a save.
func stateOf(t testing.TB, save []byte) string {
	t.Helper()
	w := newGame("Agnes")
	w.backup(bytes.Clone(save), 1)
	return nodestest.Read(t, mustOpen(t, w.Bytes()), "states/0.json")
}

// list returns the elements of a list of a document, a line each, or the document's value for the
// key if that is no list.
func list(t testing.TB, doc, key string) []string {
	t.Helper()
	_, rest, ok := strings.Cut(doc, "\n  \""+key+"\": ")
	if !ok {
		t.Fatalf("no %s in %s", key, doc)
	}
	first, rest, _ := strings.Cut(rest, "\n")
	if first != "[" {
		return []string{strings.TrimSuffix(first, ",")}
	}
	rest, _, _ = strings.Cut(rest, "\n  ]")
	var lines []string
	for line := range strings.SplitSeq(rest, "\n") {
		lines = append(lines, strings.TrimSuffix(strings.TrimSpace(line), ","))
	}
	return lines
}

func compareLists(t testing.TB, doc, key string, want ...string) {
	t.Helper()
	if got := list(t, doc, key); !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", key, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestObjects holds what is shown of objects to docs/tree/nethack.md section 6a.
func TestObjects(t *testing.T) {
	coin := testObject{number: 389, quantity: 36, corpse: -1, letter: '$', flags: 1 << 27}
	deep := testObject{number: 189, quantity: 1, letter: 'p', contents: [][]byte{
		testObject{number: 189, contents: [][]byte{}}.bytes(), testObject{number: 500, corpse: 3}.bytes(),
	}}
	for name, c := range map[string]struct {
		object testObject
		want   string
	}{
		"plain": {coin, `{"letter":"$","quantity":36,"object":"gold piece","class":"coin","buc":"uncursed","buc_known":false,"known":true,"weight":10}`},
		"flags": {
			testObject{number: 1, letter: 'b', flags: 1<<31 | 1<<30 | 1<<29 | 1<<28 | 1<<25 | 3<<22 | 2<<20 | 0xf<<16 | 5<<13 | 1<<12 | 1<<11 | 1<<7 | 1<<5},
			`{"letter":"b","quantity":0,"object":"arrow","class":"weapon","buc":"cursed","buc_known":true,"known":false,"weight":10,"enchantment":0,` +
				`"recharged":5,"eroded":3,"eroded2":2,"flags":["unpaid","no_charge","erodeproof","locked","broken","poisoned","lit","greased","thrown","dropped"]}`,
		},
		"wand": {
			testObject{number: 363, letter: 'w', spe: -1, flags: 1<<30 | 1<<16, worn: 1<<11 | 1<<14},
			`{"letter":"w","quantity":0,"object":"wand of secret door detection","class":"wand","buc":"blessed","buc_known":false,"known":false,"weight":10,` +
				`"charges":-1,"flags":["trapped"],"worn":"weapon"}`,
		},
		"statue of a mimic, dead pet attached": {
			testObject{number: 427, letter: 's', corpse: 12, flags: 1 << 9, attached: testMonster{number: 3, name: "Fido\x00", extra: 3}.bytes(), name: "a\xffb\x00c"},
			`{"letter":"s","quantity":0,"object":"statue","class":"rock","buc":"uncursed","buc_known":false,"known":false,"weight":10,` +
				`"monster":"jackal","name":"a\ufffdb","name_hex":"61ff62"}`,
		},
		"id attached, artifact, strange slot": {
			testObject{number: 37, artifact: 1, flags: 2 << 9, attached: u32(7), worn: 1 << 15},
			`{"letter":"","quantity":0,"object":"long sword","class":"weapon","buc":"uncursed","buc_known":false,"known":false,"weight":10,` +
				`"enchantment":0,"artifact":"Excalibur","worn":null}`,
		},
		"numbers without a name": {
			testObject{number: 315, letter: 0x80, artifact: 99, corpse: 1},
			`{"letter":"\ufffd","letter_hex":"80","quantity":0,"object":null,"class":null,"buc":"uncursed","buc_known":false,"known":false,"weight":10,"artifact":null}`,
		},
		"corpse of nothing known": {
			testObject{number: 240, letter: 'c', corpse: 9999},
			`{"letter":"c","quantity":0,"object":"corpse","class":"food","buc":"uncursed","buc_known":false,"known":false,"weight":10,"monster":null}`,
		},
		"contents": {
			deep, `{"letter":"p","quantity":1,"object":"large box","class":"tool","buc":"uncursed","buc_known":false,"known":false,"weight":10,"contents":[` +
				`{"quantity":0,"object":"large box","class":"tool","buc":"uncursed","buc_known":false,"known":false,"weight":10,"contents":[]},` +
				`{"quantity":0,"object":null,"class":null,"buc":"uncursed","buc_known":false,"known":false,"weight":10}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			save := dungeonSave(listOf("OCHN", c.object.bytes()), testLevel{level: 1}.bytes())
			compareLists(t, stateOf(t, save), "inventory", c.want)
		})
	}
}

// TestMonsters holds what is shown of monsters to docs/tree/nethack.md section 6a.
func TestMonsters(t *testing.T) {
	keeper := make([]byte, 2699)
	copy(keeper[67:], "-Asidonhopo")
	for name, c := range map[string]struct {
		monster testMonster
		want    string
	}{
		"plain": {testMonster{number: 12, flags: normal}, `{"x":30,"y":4,"monster":"jackal","symbol":"d","hp":5,"hp_max":6,"level":2,"attitude":"hostile"}`},
		"flags": {
			testMonster{number: 12, flags: ^uint32(normal), tame: 3, name: "Fido\x00x"},
			`{"x":30,"y":4,"monster":"jackal","symbol":"d","hp":5,"hp_max":6,"level":2,"attitude":"tame","flags":["female","invisible","hidden","cancelled",` +
				`"fleeing","blind","paralyzed","asleep","stunned","confused","trapped","leashed","shopkeeper","minion","guard","priest"],"name":"Fido"}`,
		},
		"shopkeeper": {
			testMonster{number: 270, flags: normal | 1<<9, extra: 4, data: keeper, carries: [][]byte{testObject{number: 389}.bytes()}},
			`{"x":30,"y":4,"monster":"shopkeeper","symbol":"@","hp":5,"hp_max":6,"level":2,"attitude":"peaceful","shopkeeper":"-Asidonhopo","inventory":[` +
				`{"quantity":0,"object":"gold piece","class":"coin","buc":"uncursed","buc_known":false,"known":false,"weight":10}]}`,
		},
		"carries an empty list": {
			testMonster{number: 12, flags: normal, carries: [][]byte{}},
			`{"x":30,"y":4,"monster":"jackal","symbol":"d","hp":5,"hp_max":6,"level":2,"attitude":"hostile","inventory":[]}`,
		},
		"leader":    {testMonster{number: -1000, flags: normal}, `{"x":30,"y":4,"monster":"Norn","symbol":"@","hp":5,"hp_max":6,"level":2,"attitude":"hostile"}`},
		"nemesis":   {testMonster{number: -3000, flags: normal}, `{"x":30,"y":4,"monster":"Lord Surtur","symbol":"H","hp":5,"hp_max":6,"level":2,"attitude":"hostile"}`},
		"no number": {testMonster{number: -6000, flags: normal}, `{"x":30,"y":4,"monster":null,"symbol":null,"hp":5,"hp_max":6,"level":2,"attitude":"hostile"}`},
		"as a door": {
			testMonster{number: 12, flags: normal, disguise: 1, looks: 24},
			`{"x":30,"y":4,"monster":"jackal","symbol":"d","hp":5,"hp_max":6,"level":2,"attitude":"hostile","disguise":"closed door"}`,
		},
		"as an object": {
			testMonster{number: 12, flags: normal, disguise: 2, looks: 0},
			`{"x":30,"y":4,"monster":"jackal","symbol":"d","hp":5,"hp_max":6,"level":2,"attitude":"hostile","disguise":"strange object"}`,
		},
		"as nothing known": {
			testMonster{number: 12, flags: normal, disguise: 3, looks: -1},
			`{"x":30,"y":4,"monster":"jackal","symbol":"d","hp":5,"hp_max":6,"level":2,"attitude":"hostile","disguise":null}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			save := dungeonSave(listOf("OCHN"), testLevel{level: 1, monsters: [][]byte{c.monster.bytes()}}.bytes())
			compareLists(t, stateOf(t, save), "monsters", c.want)
		})
	}
}

// fullLevel is a level that has something of everything.
func fullLevel() testLevel {
	room := make([]byte, roomSize)
	nested := bytes.Clone(room)
	nested[8] = 2
	region := slices.Concat(make([]byte, 16), []byte{1, 0}, make([]byte, 4), make([]byte, 14), []byte{1, 0}, make([]byte, 3), u32(1),
		[]byte{2, 0, 1, 0}, []byte("abc"))
	return testLevel{
		level: 1,
		cells: map[[2]int]uint32{
			{0, 0}: 2 << 26, {1, 0}: 63 << 26, {2, 0}: 14<<26 | 1<<1, {3, 0}: 14<<26 | 2<<11, {4, 0}: 14<<26 | 3<<21, {5, 0}: 14<<26 | 30<<21,
			{6, 0}: 14<<26 | 1000<<11, {10, 7}: 14 << 26, {78, 20}: 36 << 26,
		},
		rooms:    [][]byte{slices.Concat(nested, room, room), room},
		monsters: [][]byte{testMonster{number: 12, flags: normal, carries: [][]byte{testObject{number: 1}.bytes()}}.bytes()},
		traps:    [][]byte{testTrap(11<<11 | 1<<10), testTrap(31<<11 | 1<<8)},
		floor:    [][]byte{testObject{number: 389, x: 1, y: 2}.bytes()},
		buried:   [][]byte{testObject{number: 389, x: 3, y: 4}.bytes()},
		bills:    [][]byte{testObject{number: 389, x: 5, y: 6}.bytes()},
		regions:  [][]byte{region},
		worms:    slices.Concat(u32(2), make([]byte, 2*2+4), make([]byte, 4*(worms-1))),
	}
}

// TestLevel holds what is shown of a level that has something of everything, between two others.
func TestLevel(t *testing.T) {
	other := testLevel{level: 2, monsters: [][]byte{testMonster{number: 1}.bytes()}, floor: [][]byte{testObject{}.bytes()}}
	doc := stateOf(t, dungeonSave(listOf("OCHN"), other.bytes(), fullLevel().bytes(), other.bytes()))
	if !json.Valid([]byte(doc)) {
		t.Errorf("not valid: %s", doc)
	}
	compareLists(t, doc, "inventory", "[]")
	const rest = `"quantity":0,"object":"gold piece","class":"coin","buc":"uncursed","buc_known":false,"known":false,"weight":10}`
	compareLists(t, doc, "objects", `{"x":1,"y":2,`+rest, `{"x":3,"y":4,"buried":true,`+rest)
	compareLists(t, doc, "traps", `{"x":5,"y":6,"trap":"pit","seen":true}`, `{"x":5,"y":6,"trap":null,"seen":false,"by_hero":true}`)
	if n := len(list(t, doc, "monsters")); n != 1 {
		t.Errorf("%d monsters, want 1", n)
	}
	screen, plain := list(t, doc, "screen"), list(t, doc, "map")
	blank := func(n int) string { return strings.Repeat(" ", n) }
	for name, c := range map[string]struct{ got, want string }{
		"map":                 {plain[0], "|?....." + blank(72)},
		"screen":              {screen[0], "|?I)^??" + blank(72)},
		"hero":                {screen[7], blank(10) + "@" + blank(68)},
		"hero on the map":     {plain[7], blank(10) + "@" + blank(68)},
		"last":                {screen[20], blank(78) + `\\`},
		"nothing in between":  {screen[12], blank(79)},
		"nothing on the maps": {plain[12], blank(79)},
	} {
		if c.got != `"`+c.want+`"` {
			t.Errorf("%s: %s, want %s", name, c.got, c.want)
		}
	}
}

// TestPolymorphedHero holds that the hero is drawn as the monster that he is.
func TestPolymorphedHero(t *testing.T) {
	for number, want := range map[int32]string{12: "d", 341: "@", 9999: "@", -1: "@"} {
		save := dungeonSave(listOf("OCHN"), testLevel{level: 1}.bytes())
		put32(save, heroAt+56, number)
		if got := list(t, stateOf(t, save), "screen")[7]; strings.TrimSpace(strings.Trim(got, `"`)) != want {
			t.Errorf("monster %d: %s, want %s", number, got, want)
		}
	}
}

// levelKeys are the keys after map.
var levelKeys = []string{"screen", "inventory", "monsters", "objects", "traps"}

// TestUnknownLevels holds that a save that is not as it should be has null for what cannot be told,
// and one of another version nothing at all.
func TestUnknownLevels(t *testing.T) {
	good := func() []byte { return dungeonSave(listOf("OCHN"), fullLevel().bytes()) }
	dungeons := len(heroSave())
	edited := func(at int, b ...byte) []byte {
		save := good()
		copy(save[at:], b)
		return save
	}
	object := func(o testObject) []byte { return dungeonSave(listOf("OCHN", o.bytes()), testLevel{level: 1}.bytes()) }
	inOthers := func(n int) []byte {
		o := testObject{number: 189}.bytes()
		for range n {
			o = testObject{number: 189, contents: [][]byte{o}}.bytes()
		}
		return dungeonSave(listOf("OCHN", o), testLevel{level: 1}.bytes())
	}
	rooms := func(n int) []byte {
		room := make([]byte, roomSize)
		room[8] = 1
		return dungeonSave(listOf("OCHN"), testLevel{level: 1, rooms: [][]byte{append(bytes.Repeat(room, n), make([]byte, roomSize)...)}}.bytes())
	}
	monster := func(m testMonster) []byte {
		return dungeonSave(listOf("OCHN"), testLevel{level: 1, monsters: [][]byte{m.bytes()}}.bytes())
	}
	room := make([]byte, roomSize)
	room[8] = 0xff
	for name, c := range map[string]struct {
		save []byte
		want string // for the five keys: + a value, 0 null, - no key
	}{
		"whole":                {good(), "+++++"},
		"other level":          {edited(heroAt+223, 9), "0+000"},
		"no level":             {dungeonSave(listOf("OCHN")), "0+000"},
		"other fingerprint":    {edited(fingerprintAt, 1), "-----"},
		"other incarnation":    {edited(1, 1), "-----"},
		"no dungeon list":      {edited(dungeons, 'X'), "00000"},
		"negative dungeons":    {edited(dungeons+7, 0x80), "00000"},
		"no level magic":       {edited(bytes.Index(good(), []byte("LEVL")), 'X'), "00000"},
		"no room magic":        {edited(bytes.Index(good(), []byte("RDBT")), 'X'), "00000"},
		"no STAT":              {edited(bytes.Index(good(), []byte("STAT")), 'X'), "00000"},
		"negative rooms":       {edited(bytes.Index(good(), []byte("RDBT"))+7, 0x80), "00000"},
		"too many rooms":       {edited(bytes.Index(good(), []byte("RDBT"))+7, 0x7f), "00000"},
		"negative subrooms":    {dungeonSave(listOf("OCHN"), testLevel{level: 1, rooms: [][]byte{room}}.bytes()), "00000"},
		"rooms in 64 others":   {rooms(64), "+++++"},
		"rooms in 65 others":   {rooms(65), "00000"},
		"objects in 64 others": {inOthers(64), "+++++"},
		"objects in 65 others": {inOthers(65), "00000"},
		"attachment 3":         {object(testObject{flags: 3 << 9}), "00000"},
		"extra 6":              {monster(testMonster{extra: 6, data: make([]byte, 3000)}), "00000"},
		"cut name":             {append(object(testObject{})[:len(object(testObject{}))-objectSize+4], bytes.Repeat([]byte{0xff}, 100)...), "00000"},
		"4 MiB of names":       {object(testObject{name: strings.Repeat("x", maxShown-objectSize)}), "+++++"},
		"more than 4 MiB":      {object(testObject{name: strings.Repeat("x", maxShown-objectSize+1)}), "00000"},
		"4 MiB elsewhere":      {dungeonSave(listOf("OCHN"), testLevel{level: 2, floor: [][]byte{testObject{name: strings.Repeat("x", maxShown)}.bytes()}}.bytes()), "0+000"},
	} {
		t.Run(name, func(t *testing.T) {
			doc := stateOf(t, c.save)
			got := ""
			for _, key := range levelKeys {
				switch {
				case !strings.Contains(doc, "\n  \""+key+"\": "):
					got += "-"
				case list(t, doc, key)[0] == "null":
					got += "0"
				default:
					got += "+"
				}
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestCutLevels holds that a save that ends anywhere before the end of the pack shows neither it
// nor the level.
func TestCutLevels(t *testing.T) {
	save := dungeonSave(listOf("OCHN", testObject{number: 1, name: "x\x00"}.bytes()), fullLevel().bytes())
	for n := len(heroSave()); n < len(save); n++ {
		if _, d := readState(save[:n]); d.around == nil || d.pack != nil || d.around.level != nil || d.screen != nil {
			t.Fatalf("cut at %d of %d: something is shown", n, len(save))
		}
	}
	if _, d := readState(save); len(d.pack) != 1 {
		t.Errorf("the whole save has %d objects in the pack", len(d.pack))
	}
}

// TestRealLevel looks at the last state of a real game.
func TestRealLevel(t *testing.T) {
	log, err := os.ReadFile("../../testdata/archive/nethack/small.nhgame")
	if err != nil {
		t.Fatal(err)
	}
	doc := nodestest.Read(t, mustOpen(t, log), "states/00000040.json")
	inventory := list(t, doc, "inventory")
	const shield = `{"letter":"e","quantity":1,"object":"small shield","class":"armor","buc":"cursed","buc_known":true,"known":true,"weight":30,` +
		`"enchantment":3,"flags":["dropped"],"name":"text 17713","worn":"shield"}`
	if !slices.Contains(inventory, shield) {
		t.Errorf("no shield in %s", inventory)
	}
	compareLists(t, doc, "traps", `{"x":54,"y":18,"trap":"pit","seen":true}`, `{"x":45,"y":12,"trap":"trap door","seen":false}`)
	compareLists(t, doc, "monsters",
		`{"x":44,"y":5,"monster":"lichen","symbol":"F","hp":3,"hp_max":3,"level":0,"attitude":"hostile","flags":["female"]}`,
		`{"x":11,"y":8,"monster":"kitten","symbol":"f","hp":8,"hp_max":8,"level":1,"attitude":"tame","flags":["female"]}`)
	if row := list(t, doc, "screen")[8]; !strings.Contains(row, `0|......|`) {
		t.Errorf("row 8 of the screen is %s", row)
	}
}

// FuzzState decodes whatever bytes as a save of NetHack 4.3.
func FuzzState(f *testing.F) {
	f.Add(dungeonSave(listOf("OCHN", testObject{number: 1, contents: [][]byte{}}.bytes()), fullLevel().bytes()))
	f.Add(heroSave())
	f.Fuzz(func(t *testing.T, save []byte) {
		if len(save) < minSave {
			return
		}
		put32(save, 0, incarnation43)
		put32(save, fingerprintAt, fingerprint43)
		s := &state{}
		s.Incarnation, s.details = readState(save)
		doc := s.appendDocument(nil)
		if !json.Valid(doc) {
			t.Fatalf("%s", doc)
		}
		if most := 1<<16 + 20*len(save); len(doc) > most {
			t.Errorf("%d bytes of a save of %d", len(doc), len(save))
		}
		if indented := jsonenc.AppendIndented(nil, doc); !json.Valid(indented) {
			t.Errorf("not valid once indented: %s", indented)
		}
	})
}

// TestKinds holds the tables of names to docs/formats/nethack.md section 15.3.
func TestKinds(t *testing.T) {
	for name, c := range map[string]struct {
		table        kindTable
		rows         int
		first, least int64
		unnamed      int
	}{
		"objects":     {table: names().objects, rows: 432, unnamed: 7},
		"monsters":    {table: names().monsters, rows: 381},
		"traps":       {table: names().traps, rows: 24, first: 1},
		"backgrounds": {table: names().backgrounds, rows: 55},
		"artifacts":   {table: names().artifacts, rows: 34, first: 1},
	} {
		if len(c.table) != c.rows {
			t.Errorf("%s: %d rows, want %d", name, len(c.table), c.rows)
		}
		unnamed := 0
		for i, k := range c.table[c.first:] {
			if k.name == "" {
				unnamed++
			}
			if name != "artifacts" && (len(k.symbol) != 1 || k.symbol[0] < ' ' || k.symbol[0] > '~') {
				t.Errorf("%s: %d has the symbol %q", name, i, k.symbol)
			}
			if k.spe != "" && k.spe != "enchantment" && k.spe != "charges" {
				t.Errorf("%s: %d has %q", name, i, k.spe)
			}
			if name == "objects" && k.class == "" {
				t.Errorf("object %d has no class", i)
			}
		}
		if unnamed != c.unnamed {
			t.Errorf("%s: %d without a name, want %d", name, unnamed, c.unnamed)
		}
		for _, n := range []int64{-1, int64(c.rows)} {
			if k := c.table.of(n); *k != (kind{}) {
				t.Errorf("%s: %d is %q", name, n, k.name)
			}
		}
	}
}
