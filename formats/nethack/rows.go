package nethack

import (
	"recfs/formats/columnar"
	"recfs/formats/internal/rowcount"
)

// beginChunk notes that a chunk begins at tick n.
func (p *indexer) beginChunk(n int) {
	if p.chunks = append(p.chunks, n); len(p.chunks) > 1 {
		p.heroes.EndChunk()
		p.commands.EndChunk()
	}
}

// count counts the rows of tables that tick n has, which is t.
func (p *indexer) count(n int, t tick) {
	p.countCommands(p.commands, n)
	if t.lost() {
		return
	}
	if changed, ok := p.hero.read(&p.re, t.backup); ok {
		if p.heroes.Rows() == 0 {
			changed = allParts
		}
		heroRow(p.heroes.Batch, n, t, p.zoneAt(t.off, t.tz), &p.hero.heroState, changed)
		p.heroes.EndRow()
	}
}

// countCommands counts the commands that led to tick n, or are pending, and forgets them.
func (p *indexer) countCommands(c *rowcount.Counter, n int) {
	if !p.tooLong(n) {
		p.commandRows(n, p.ev.list, &p.answers, func(e *event, at commandContext) {
			commandRow(c.Batch, e, &at)
			c.EndRow()
		})
	}
	p.ev.forget(p.clock)
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

// commandRows calls fn for each of the commands that led to tick n, or are pending. buf is memory to use.
func (x *index) commandRows(n int, list []event, buf *[]byte, fn func(*event, commandContext)) {
	at := commandContext{tick: n}
	if n == x.ticks.len() {
		at.tick = -1
	}
	at.zone, at.turn = x.context(n)
	for e, answers := range commandsOf(list) {
		*buf = appendEvents((*buf)[:0], answers, at.zone)
		at.answers = *buf
		fn(e, at)
	}
}

// tickGroups counts the ticks that are shown.
func (x *index) tickGroups() []columnar.Group {
	c, chunk := rowcount.New(ticksColumns), 0
	for n := range x.ticks.len() {
		if chunk+1 < len(x.chunks) && x.chunks[chunk+1] == n {
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

// context returns the timezone of the lines that led to tick n, or are pending, and the turn of the tick before them,
// -1 if that is lost or there is none.
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
