package cache

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
			for _, name := range slices.Sorted(maps.Keys(d.fileNames(dir))) {
				fmt.Fprintln(b, name)
			}
		default:
			fmt.Fprintf(b, "%d ", info.ModTime().UnixNano())
		}
	}
	return string(b.Sum(nil))
}
