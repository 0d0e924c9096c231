package archive

import (
	"time"

	"recfs/formats/source"
	"recfs/nodes"
)

// atRest is how long ago the last write to a file is if the file is not expected to grow.
const atRest = 24 * time.Hour

// grows reports whether it can be expected that bytes are added to a file. One in a container has
// no device.
func grows(v source.Version) bool {
	return v.Dev != 0 && v.Born != 0 && time.Since(v.Time()) < atRest
}

// changeOf tells what became of a file. The number of an inode alone does not tell that: the next
// file gets that of a removed one.
func changeOf(earlier, now source.Version) nodes.Change {
	switch {
	case now.Size < earlier.Size:
		return nodes.Replaced
	case now.Born == 0 || now.Inode == 0:
		return nodes.Unknown
	case now.Dev != earlier.Dev || now.Inode != earlier.Inode || now.Born != earlier.Born:
		return nodes.Replaced
	}
	return nodes.Grown
}

// A growth is what is remembered of a file to which bytes may be added.
type growth struct {
	v   source.Version // that was looked at last
	was bool           // it grew out of the one before
}

// maxGrowths is of how many files an archive knows that they grew.
const maxGrowths = 1 << 10

const (
	// writing is for how long after a write the next one is expected. A file that was just put there
	// by a copy is complete when that is over.
	writing = 5 * time.Second
	// pausing is the same for a file that was seen to grow.
	pausing = time.Hour
)

// running reports whether somebody seems to be adding to a file at present.
func (a *Archive) running(at string, v source.Version) bool {
	if !grows(v) {
		return false
	}
	before, ok := a.growths.Get(at)
	now := growth{v, ok && changeOf(before.v, v) == nodes.Grown && (before.was || before.v.Size < v.Size)}
	if now != before {
		a.growths.Swap(at, now)
	}
	pause := time.Since(v.Time()).Abs() // a clock may be ahead of another
	return pause < writing || now.was && pause < pausing
}
