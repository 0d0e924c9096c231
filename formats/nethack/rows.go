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

// count counts the rows of tables that tick n has.
func (p *indexer) count(n int) {
	p.countCommands(p.commands, n)
	if p.ticks[n].lost() {
		return
	}
	if changed, ok := p.hero.read(&p.re, p.ticks[n].backup); ok {
		if p.heroes.Rows() == 0 {
			changed = allParts
		}
		heroRow(p.heroes.Batch, n, &p.ticks[n], p.zone(n), &p.hero.heroState, changed)
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
		start = x.ticks[n-1].end
	}
	if n < len(x.ticks) {
		end = x.ticks[n].off
	}
	return end-start > maxEventText
}

// commandRows calls fn for each of the commands that led to tick n, or are pending. buf is memory to use.
func (x *index) commandRows(n int, list []event, buf *[]byte, fn func(*event, commandContext)) {
	at := commandContext{tick: n}
	if n == len(x.ticks) {
		at.tick = -1
	}
	at.zone, at.before = x.context(n)
	for e, answers := range commandsOf(list) {
		*buf = appendEvents((*buf)[:0], answers, at.zone)
		at.answers = *buf
		fn(e, at)
	}
}

// tickGroups counts the ticks that are shown.
func (x *index) tickGroups() []columnar.Group {
	c, chunk := rowcount.New(ticksColumns), 0
	for n := range x.ticks {
		if chunk+1 < len(x.chunks) && x.chunks[chunk+1] == n {
			chunk++
			c.EndChunk()
		}
		if !x.tooLong(n) {
			tickRow(c.Batch, n, &x.ticks[n], x.zone(n), notYet)
			c.EndRow()
		}
	}
	return c.Groups()
}

// context returns the timezone of the lines that led to tick n, or are pending, and the tick before them,
// if there is one.
func (x *index) context(n int) (tz int32, before *tick) {
	tz = x.lastZone()
	if n < len(x.ticks) {
		tz = x.ticks[n].tz
	}
	if n > 0 {
		before = &x.ticks[n-1]
	}
	return tz, before
}

// lastZone returns the timezone of what follows the last tick.
func (x *index) lastZone() int32 {
	if n := len(x.ticks); n > 0 {
		return x.ticks[n-1].tz
	}
	return 0
}
