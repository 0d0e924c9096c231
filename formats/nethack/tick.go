package nethack

// A tick is a save line.
type tick struct {
	off, end int64  // end: behind the newline
	clock    uint64 // after the line
	line     int    // number in the log, from 1
	turn     int32  // -1: the tick is lost
	size     int32  // of the save
	tz       int32  // seconds that the clock is ahead of UTC
	nth      int32  // among the saves of its turn, from 1; 0 is the last of them
	backup   bool
	format   diffFormat
	comp     compression
}

func (t *tick) lost() bool { return t.turn < 0 }

// What the byte of flags of a tick has from bit 0 on.
const (
	backupFlag  = 1 << 0
	formatShift = 1 // two bits
	compShift   = 3 // two bits
)

func (t *tick) flags() byte {
	flags := byte(t.format)<<formatShift | byte(t.comp)<<compShift
	if t.backup {
		flags |= backupFlag
	}
	return flags
}

func (t *tick) setFlags(flags byte) {
	t.backup = flags&backupFlag != 0
	t.format = diffFormat(flags >> formatShift & 3)
	t.comp = compression(min(flags>>compShift&3, byte(lz4Block)))
}

// The columns of ticks. Turns and timezones are there as numbers that are not negative.
const (
	offColumn = iota
	lengthColumn
	clockColumn
	lineColumn
	turnColumn
	sizeColumn
	zoneColumn
	flagsColumn
	tickColumns

	turnBias = 1
	zoneBias = 1 << 31
)

// A tickList is the ticks of a log. Of a usual one each takes some 15 bytes.
type tickList struct {
	rows packed
	nth  packed // of the ticks that are named
	last tick   // that was added
}

func (l *tickList) len() int { return l.rows.rows }

// lastTurn returns the turn of the last tick, -1 if that is lost or there is none.
func (l *tickList) lastTurn() int32 {
	if l.len() == 0 {
		return -1
	}
	return l.last.turn
}

func (l *tickList) add(t *tick) {
	l.rows.add(uint64(t.off), uint64(t.end-t.off), t.clock, uint64(t.line), uint64(int64(t.turn)+turnBias),
		uint64(t.size), uint64(int64(t.tz)+zoneBias), uint64(t.flags()))
	l.last = *t
}

// at returns tick n.
func (l *tickList) at(n int) tick {
	var row [tickColumns]uint64
	l.rows.row(n, row[:])
	t := tick{
		off: int64(row[offColumn]), end: int64(row[offColumn] + row[lengthColumn]), clock: row[clockColumn],
		line: int(row[lineColumn]), turn: int32(int64(row[turnColumn]) - turnBias), size: int32(row[sizeColumn]),
		tz: int32(int64(row[zoneColumn]) - zoneBias),
	}
	t.setFlags(byte(row[flagsColumn]))
	if n < l.nth.rows {
		t.nth = int32(l.nth.number(n))
	}
	return t
}

// Single parts of tick n.

func (l *tickList) off(n int) int64 { return int64(l.rows.at(n, offColumn, tickColumns)) }

func (l *tickList) turn(n int) int32 {
	return int32(int64(l.rows.at(n, turnColumn, tickColumns)) - turnBias)
}
func (l *tickList) size(n int) int32 { return int32(l.rows.at(n, sizeColumn, tickColumns)) }
func (l *tickList) zone(n int) int32 {
	return int32(int64(l.rows.at(n, zoneColumn, tickColumns)) - zoneBias)
}
func (l *tickList) lost(n int) bool   { return l.turn(n) < 0 }
func (l *tickList) backup(n int) bool { return l.rows.at(n, flagsColumn, tickColumns)&backupFlag != 0 }

// end returns where tick n ends.
func (l *tickList) end(n int) int64 {
	return l.off(n) + int64(l.rows.at(n, lengthColumn, tickColumns))
}

// memory returns how many bytes the list keeps alive.
func (l *tickList) memory() int64 { return l.rows.memory() + l.nth.memory() }
