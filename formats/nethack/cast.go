package nethack

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"unicode"

	"recfs/formats/internal/jsonenc"
)

// The terminal of export/game.cast, which is an asciicast of version 2: a header, then an event a
// line, [seconds, "o", what the terminal gets].
const (
	castColumns = 80
	castRows    = 24
	mapTop      = 1         // the row above the map is for messages, which no log has
	maxPause    = 2_000_000 // microseconds
)

// Sequences of the terminal.
const (
	toTop   = "\x1b[H"
	endRow  = "\x1b[K" // clears to the end of the row
	nextRow = "\r\n"
)

// A castTime is that of the event before one of export/game.cast: when it is in the cast and when
// in the game, in microseconds.
type castTime struct{ at, last int64 }

// castStart is the time before the first event.
var castStart = castTime{last: math.MaxInt64}

// A cast writes events of export/game.cast (docs/tree/nethack.md section 7a). Each draws the whole
// screen, so that a player can begin anywhere.
type cast struct {
	castTime
	doc    []byte
	screen []byte
}

// begin appends the header.
func (c *cast) begin(h *header) {
	c.doc = fmt.Appendf(c.doc, `{"version":2,"width":%d,"height":%d`, castColumns, castRows)
	if start, ok := utc(h.start, 0); ok && start.Unix() >= 0 {
		c.doc = jsonenc.AppendInt(jsonenc.AppendKey(c.doc, "timestamp"), start.Unix())
	}
	c.doc = jsonenc.AppendString(jsonenc.AppendKey(c.doc, "title"), printable(string(h.name)))
	c.doc = append(c.doc, "}\n"...)
}

// add appends the event of a state that has its groups; now is the time of its tick in
// microseconds.
func (c *cast) add(s *state, now int64) {
	if now > c.last {
		c.at += int64(min(uint64(now-c.last), maxPause)) // clocks of any value: what they differ by may need all 64 bits
	}
	c.last = now
	c.doc = fmt.Appendf(c.doc, `[%d.%06d,"o",`, c.at/1e6, c.at%1e6)
	c.screen = appendFrame(c.screen[:0], s)
	c.doc = jsonenc.AppendString(c.doc, c.screen)
	c.doc = append(c.doc, "]\n"...)
}

// appendFrame draws the screen of a state. The cursor ends on the hero.
func appendFrame(dst []byte, s *state) []byte {
	dst = append(dst, toTop...)
	for i, row := range s.terminal(s.overview()) {
		if i > 0 {
			dst = append(dst, nextRow...)
		}
		dst = append(append(dst, row...), endRow...)
	}
	return fmt.Appendf(dst, "\x1b[%d;%dH", int(s.Location.Y)+mapTop+1, int(s.Location.X)+1)
}

// terminal returns the rows of the terminal with a level, without the blanks at their ends.
func (s *state) terminal(level []string) []string {
	rows := make([]string, castRows)
	copy(rows[mapTop:], level)
	rows[castRows-2], rows[castRows-1] = s.who(), s.how()
	for i, row := range rows {
		rows[i] = strings.TrimRight(firstRunes(row, castColumns), " ")
	}
	return rows
}

// remembered returns the level as the hero remembers it.
func (s *state) remembered() []string {
	if s.around == nil || s.level == nil {
		return s.Map
	}
	return s.screen
}

// overview returns the level as one who sees all of its monsters.
func (s *state) overview() []string {
	if s.around == nil || s.level == nil {
		return s.Map
	}
	rows := make([][]byte, len(s.screen))
	for i, row := range s.screen {
		rows[i] = []byte(row)
	}
	for i := range s.level.monsters {
		m := &s.level.monsters[i]
		if symbol := m.kind().symbol; symbol != "" && int(m.y) < mapRows && int(m.x) < mapColumns {
			rows[m.y][m.x] = symbol[0]
		}
	}
	return strings.Split(string(bytes.Join(rows, []byte{'\n'})), "\n")
}

var (
	roleNames = map[string]string{
		"Arc": "Archeologist", "Bar": "Barbarian", "Cav": "Caveman", "Hea": "Healer", "Kni": "Knight", "Mon": "Monk", "Pri": "Priest",
		"Rog": "Rogue", "Ran": "Ranger", "Sam": "Samurai", "Tou": "Tourist", "Val": "Valkyrie", "Wiz": "Wizard",
	}
	alignmentNames = map[string]string{"law": "Lawful", "neu": "Neutral", "cha": "Chaotic"}
	hungerNames    = [...]string{"Satiated", "", "Hungry", "Weak", "Fainting", "Fainted", "Starved"}
)

// who returns the first of the two lines below the map: who the hero is.
func (s *state) who() string {
	h, a := s.Hero, s.Attributes
	as := ""
	switch {
	case h.Polymorphed:
		as = names().monsters.of(int64(h.Monster)).name
	case h.Role != nil:
		as = roleNames[*h.Role]
	}
	who := printable(h.Name)
	if as != "" {
		who += " the " + as
	}
	alignment := ""
	if h.Alignment != nil {
		alignment = alignmentNames[*h.Alignment]
	}
	return fmt.Sprintf("%-30s  St:%s Dx:%d Co:%d In:%d Wi:%d Ch:%d  %s", who, strength(a.Str), a.Dex, a.Con, a.Int, a.Wis, a.Cha, alignment)
}

// how returns the second line: how the hero is. The armour class is not in a save.
func (s *state) how() string {
	h := s.Hero
	hp, hpMax := h.HP, h.HPMax
	if h.Polymorphed {
		hp, hpMax = h.MonsterHP, h.MonsterHPMax
	}
	hunger := ""
	if h.Hunger >= 0 && int(h.Hunger) < len(hungerNames) {
		hunger = hungerNames[h.Hunger]
	}
	return fmt.Sprintf("Dlvl:%d  $:%d HP:%d(%d) Pw:%d(%d) Exp:%d/%d T:%d  %s",
		s.Location.Depth, s.gold(), hp, hpMax, h.Power, h.PowerMax, h.Level, h.Experience, s.Turn, hunger)
}

// gold returns how many gold pieces the hero carries.
func (s *state) gold() int64 {
	gold := int64(0)
	if s.around != nil {
		for i := range s.pack {
			if o := &s.pack[i]; names().objects.of(int64(o.number)).class == "coin" {
				gold += int64(o.quantity)
			}
		}
	}
	return gold
}

// strength returns a strength as the game writes it: 19 to 117 are 18/01 to 18/99.
func strength(n int8) string {
	switch {
	case n <= 18:
		return fmt.Sprint(n)
	case n < 118:
		return fmt.Sprintf("18/%02d", n-18)
	case n == 118:
		return "18/**"
	}
	return fmt.Sprint(int(n) - 100)
}

// printable returns s without what a terminal would act on.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}

// firstRunes returns at most n characters of s.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
