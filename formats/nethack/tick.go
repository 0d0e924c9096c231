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
