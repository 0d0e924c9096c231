package nethack

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"unicode/utf8"
)

// incarnation43 is the first field of the saves of NetHack 4.3; the forks keep most fields
// elsewhere.
const incarnation43 = 0x04030000

// A state is what states/ shows of a save, in the order of its keys. The map stands apart.
type state struct {
	Tick        int
	Turn        int32
	Time        *string
	Save        string
	Incarnation string
	Timezone    int32
	*details
}

// The details are known only of saves of NetHack 4.3. In a damaged save all are nil.
type details struct {
	Game       *game
	Hero       *hero
	Attributes *attributes
	Conducts   *conducts
	Location   *location
	Map        []string // nil: the level is not in the save
	*around             // nil: the names of what is there are not known
}

// An around is what is on the hero's level and in his pack. All of it is nil where that part of a
// save is damaged.
type around struct {
	screen []string // nil: the level is not in the save
	pack   []object
	level  *level // nil: it is not in the save
}

type game struct {
	Debug, Explore, Friday13th bool
	MoonPhase                  int32
	SetSeed, SetSeedHex        string
}

type hero struct {
	Name, NameHex, Gender, Occupation, OccupationHex string

	Role, Race, Alignment *string // nil: one that is not known

	HP, HPMax, Power, PowerMax, Level, LevelMax, Experience int32
	Monster, MonsterHP, MonsterHPMax                        int32
	Hunger, AlignmentRecord                                 int32
	Nutrition, PrayerTimeout                                int64
	Luck, LuckBonus                                         int8

	Polymorphed, Swallowed, InWater, Hiding, Invulnerable                   bool
	QuestCompleted, InvocationDone, EnteredGehennom, KilledWizard, Ascended bool
}

type attributes struct{ Str, Int, Wis, Dex, Con, Cha int8 }

// conducts are how often the hero broke each conduct, in the order of conductKeys.
type conducts [15]int32

const conductKeys = "food vegan vegetarian gnostic weapon_hit killer illiterate polypile polyself wish artifact_wish genocide " +
	"elbereth pudding_split lost_alignment"

type location struct {
	Dungeon, Level, X, Y        uint8
	Depth                       int64
	DungeonName, DungeonNameHex string
}

var (
	roles = []string{"Arc", "Bar", "Cav", "Hea", "Kni", "Mon", "Pri", "Rog", "Ran", "Sam", "Tou", "Val", "Wiz"}
	races = []string{"hum", "elf", "dwa", "gno", "orc"}

	alignments = []string{"cha", "neu", "law"}
)

// Offsets in a save of NetHack 4.3 (docs/formats/nethack.md section 7.2).
const (
	relativeAt = 121 // how counters are stored
	stringAt   = 266 // the first of the parts that are not always as long
)

const levelName = 70 // from the magic of a level to its map

// readState decodes a save of at least minSave bytes.
func readState(save []byte) (incarnation string, d *details) {
	v := binary.LittleEndian.Uint32(save)
	incarnation = fmt.Sprintf("%08x", v)
	if v != incarnation43 {
		return incarnation, nil
	}
	r := fields{b: save, moves: saveTurn(save)}
	d = r.details()
	if r.bad {
		d = &details{}
	}
	if r.u32(fingerprintAt) == fingerprint43 {
		d.around = r.around(d)
	}
	return incarnation, d
}

// fields reads a save by offsets. A read outside gives 0 and sets bad.
type fields struct {
	b     []byte
	moves int32
	bad   bool

	you      int64 // where the hero begins
	dungeons int64 // where their list begins
	role     int32 // of the hero
}

// at returns n bytes at p.
func (r *fields) at(p int64, n int) []byte {
	if p < 0 || p > int64(len(r.b)-n) {
		r.bad = true
		return make([]byte, n)
	}
	return r.b[p : p+int64(n)]
}

func (r *fields) u8(p int64) uint8 {
	if p < 0 || p >= int64(len(r.b)) {
		r.bad = true
		return 0
	}
	return r.b[p]
}

func (r *fields) u32(p int64) uint32 {
	if p < 0 || p > int64(len(r.b))-4 {
		r.bad = true
		return 0
	}
	return binary.LittleEndian.Uint32(r.b[p:])
}

func (r *fields) i32(p int64) int32 { return int32(r.u32(p)) }

// length reads a length, which must not be negative.
func (r *fields) length(p int64) int64 {
	n := r.i32(p)
	if n < 0 {
		r.bad = true
		return 0
	}
	return int64(n)
}

// text returns the string in a field of n bytes.
func (r *fields) text(p int64, n int) []byte { return cutText(r.at(p, n)) }

// textTo sets s to the text in b, and asHex to its bytes in hex if it is not UTF-8. Most saves have
// the text of the save before, so nothing is made if s has it already.
func textTo(s, asHex *string, b []byte) {
	if string(b) != *s {
		*s, *asHex = string(b), invalidHex(b)
	}
}

// invalidHex returns b in hex if it is not UTF-8.
func invalidHex(b []byte) string {
	if utf8.Valid(b) {
		return ""
	}
	return hex.EncodeToString(b)
}

// counter returns a number that may be stored so that it stays the same from turn to turn
// (docs/formats/nethack.md section 7.4).
func (r *fields) counter(stored uint32) int64 {
	if stored == 0 || r.u8(relativeAt) == 0 {
		return int64(int32(stored))
	}
	v := (int64(stored) - int64(r.moves) + 1) % math.MaxUint32
	if v < 0 {
		v += math.MaxUint32
	}
	if v > math.MaxInt32 {
		v -= math.MaxUint32
	}
	return v
}

func word(words []string, n int32) *string {
	if n < 0 || int(n) >= len(words) {
		return nil
	}
	return &words[n]
}

// details reads everything; offsets are those of docs/formats/nethack.md sections 7.2 and 7.3.
func (r *fields) details() *details {
	g, s := &game{}, &heroState{}
	r.readGame(g)
	r.readHero(s)
	d := &details{Game: g, Hero: &s.hero, Attributes: &s.attributes, Conducts: &s.conducts, Location: &s.location}
	d.Map = r.level(d.Location)
	return d
}

// readGame reads what is of the game.
func (r *fields) readGame(g *game) {
	g.Debug, g.Explore, g.MoonPhase, g.Friday13th = r.u8(71) != 0, r.u8(73) != 0, r.i32(48), r.u8(76) != 0
	textTo(&g.SetSeed, &g.SetSeedHex, r.text(232, 16))
}

// level draws the map of the hero's level, if it is in the save.
func (r *fields) level(l *location) []string {
	if r.bad {
		return nil
	}
	at := bytes.Index(r.b[r.dungeons:], []byte{'L', 'E', 'V', 'L', l.Dungeon, l.Level})
	if at < 0 || len(r.b)-at-int(r.dungeons)-levelName < mapSize {
		return nil
	}
	return drawMap(r.b[int(r.dungeons)+at+levelName:], l)
}

// around reads what is around the hero.
func (r *fields) around(d *details) *around {
	a := &around{}
	if r.bad {
		return a
	}
	a.pack, a.level = readLevel(r.b, r.dungeons, d.Location, r.role)
	if a.level != nil {
		a.screen = drawScreen(a.level.cells, d.Location, d.Hero.Monster)
		a.level.cells = nil // they would keep the save
	}
	return a
}
