package export

import (
	iofs "io/fs"
	"os"
	"path/filepath"
	"time"
)

// abandonedAfter is how long nobody has written to the file of an export that was killed. One that goes on writes
// every few seconds.
const abandonedAfter = time.Hour

// RemoveAbandoned removes what exports to a directory left there that were killed. What cannot be removed stays for
// the next time: engines pass over it.
func RemoveAbandoned(dir string) {
	names, _ := iofs.Glob(os.DirFS(dir), "format=*/table=*/.*.parquet-????????")
	for _, name := range names {
		at := filepath.Join(dir, name)
		if info, err := os.Lstat(at); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > abandonedAfter {
			os.Remove(at)
		}
	}
}
