package export

import (
	"os"
	"path"
	"path/filepath"
	"time"
)

// abandonedAfter is how long nobody has written to the file of an export that was killed. One that goes on writes
// every few seconds.
const abandonedAfter = time.Hour

// RemoveAbandoned removes what exports to a directory left there that were killed. What cannot be removed stays for
// the next time: engines pass over it.
func RemoveAbandoned(dir string) {
	for _, d := range tableDirs(dir) {
		_ = d.each(func(name string) {
			if ours, _ := path.Match(".*.parquet-????????", name); !ours {
				return
			}
			at := filepath.Join(d.path, name)
			if info, err := os.Lstat(at); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > abandonedAfter {
				os.Remove(at)
			}
		})
	}
}
