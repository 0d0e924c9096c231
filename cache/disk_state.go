package cache

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// settled is how old the last change of a directory must be before its time
// tells it from a later one.
const settled = 2 * time.Second

// State returns a text that is another one after something was saved under a
// name that was not there, by whatever process. It is the same as long as
// nothing is saved, but for once in the first seconds after a change.
func (d *Disk) State() string {
	b := sha256.New() // there may be millions of names
	now := time.Now()
	for i := range 256 {
		dir := fmt.Sprintf("%s/%02x", layoutDir, i)
		switch info, err := os.Lstat(filepath.Join(d.base, dir)); {
		case err != nil:
			fmt.Fprint(b, "- ")
		case now.Sub(info.ModTime()) < settled:
			for _, name := range d.fileNames(dir) {
				fmt.Fprintln(b, name)
			}
		default:
			fmt.Fprintf(b, "%d ", info.ModTime().UnixNano())
		}
	}
	return string(b.Sum(nil))
}

// The file of marks is a set of numbers, each a bit: so it says in a microsecond that nothing is
// kept of what nobody has looked at. It may say that it has a number which it has not.
const marksBits = 23 // of the number of a bit: 1 MiB, of which a file system keeps what was written

// markAt returns which bit of the file a number is.
func markAt(n uint64) (off int64, bit byte) {
	n = n * 0x9E3779B97F4A7C15 >> (64 - marksBits) // neighbours lie far apart
	return int64(n / 8), 1 << (n % 8)
}

// Mark adds n to the numbers for which Marked reports true.
func (d *Disk) Mark(n uint64) {
	off, bit := markAt(n)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.prepare() != nil {
		return
	}
	f := d.openMarks(os.O_RDWR | os.O_CREATE)
	if f == nil {
		return
	}
	var b [1]byte
	_, _ = f.ReadAt(b[:], off) // behind the end there is none
	if b[0]&bit == 0 {
		b[0] |= bit
		_, _ = f.WriteAt(b[:], off) // without it less is found
	}
}

// Marked reports whether Mark was told n, by whatever process. It may err on that side.
func (d *Disk) Marked(n uint64) bool {
	f := d.openMarks(os.O_RDWR)
	if f == nil {
		return false
	}
	off, bit := markAt(n)
	var b [1]byte
	_, _ = f.ReadAt(b[:], off)
	return b[0]&bit != 0
}
