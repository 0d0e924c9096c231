package nethack

import (
	"recfs/formats/columnar"
	"recfs/formats/internal/rowcount"
)

// beginChunk notes that a chunk begins at tick n.
func (p *indexer) beginChunk(n int) {
	if p.chunks.add(uint64(n)); p.chunks.rows > 1 {
		p.heroes.EndChunk()
		p.commands.EndChunk()
	}
}

// count counts the commands and the rows of tables that the next tick has, and notes what is wrong
// with the lines before it.
func (p *indexer) count(t *tick) {
	n := p.ticks.len()
	p.countCommands(p.commands, commandContext{tick: n, turn: p.ticks.lastTurn(), zone: t.tz})
	if !t.lost() && readHero(p.re.save, &p.hero) {
		heroRow(p.heroes.Batch, n, *t, p.zoneAt(t.off, t.tz), &p.hero)
		p.dungeon, p.depth = p.hero.location.DungeonName, p.hero.location.depth32()
		p.heroes.EndRow()
	}
}

// countPending ends the count, with the commands that are pending.
func (p *indexer) countPending() {
	c := p.commands
	if len(p.ev.text) > 0 {
		c = c.Clone()
		p.countCommands(c, commandContext{tick: -1, turn: p.ticks.lastTurn(), zone: p.lastZone()})
	}
	p.commandGroups = c.Groups()
}

// maxGroupText is how many bytes of text end a row group of commands. A group is made as a whole,
// and a command may have maxEventText, which is many times as long as answers.
const maxGroupText = 8 << 20

// countCommands counts the lines since the last save line, and their commands as rows.
func (p *indexer) countCommands(c *rowcount.Counter, at commandContext) {
	for e, answers := range p.ev.commands(at.zone, p.judge) {
		at.answers = answers
		commandRow(c.Batch, e, &at)
		c.EndRow()
		c.EndText(maxGroupText)
	}
	p.ev.forget(p.clock)
}

// skip counts the lines since the last save line without rows: they are not shown.
func (p *indexer) skip() {
	for e := range p.ev.all() {
		p.judge(e)
	}
	p.ev.forget(p.clock)
}

// judge counts a command, and notes a line that is not known.
func (p *indexer) judge(e *event) {
	switch e.kind {
	case kindCommand:
		p.now.commands++
	case kindUnknown:
		p.problem(badLine, e.off, "the line is not one of a NetHack 4.3 log")
	}
}

// tooLong reports whether the lines that led to tick n, or are pending, are more than are shown.
func (x *index) tooLong(n int) bool {
	start, end := x.header.size, x.end
	if n > 0 {
		start = x.ticks.end(n - 1)
	}
	if n < x.ticks.len() {
		end = x.ticks.off(n)
	}
	return end-start > maxEventText
}

// commandRows adds the commands that led to tick n, or are pending.
func (x *index) commandRows(b *columnar.Batch, n int, ev *events) {
	at := commandContext{tick: n}
	if n == x.ticks.len() {
		at.tick = -1
	}
	at.zone, at.turn = x.context(n)
	for e, answers := range ev.commands(at.zone, nil) {
		at.answers = answers
		commandRow(b, e, &at)
	}
}

// tickGroups counts the ticks that are shown.
func (x *index) tickGroups() []columnar.Group {
	c, chunk := rowcount.New(ticksColumns), 0
	for n := range x.ticks.len() {
		if chunk+1 < x.chunks.rows && x.chunks.number(chunk+1) == n {
			chunk++
			c.EndChunk()
		}
		if !x.tooLong(n) {
			tickRow(c.Batch, n, x.ticks.at(n), x.zone(n), notYet)
			c.EndRow()
		}
	}
	return c.Groups()
}

// context returns the timezone of the lines that led to tick n, or are pending, and the turn of the
// tick before them, -1 if that is lost or there is none.
func (x *index) context(n int) (tz, turn int32) {
	tz, turn = x.lastZone(), -1
	if n < x.ticks.len() {
		tz = x.ticks.zone(n)
	}
	if n > 0 {
		turn = x.ticks.turn(n - 1)
	}
	return tz, turn
}

// lastZone returns the timezone of what follows the last tick.
func (x *index) lastZone() int32 {
	return x.ticks.last.tz
}
