package export

import "recfs/formats/outfile"

// RemoveAbandoned removes what exports to a directory left there that were killed.
func RemoveAbandoned(dir string) {
	for _, d := range tableDirs(dir) {
		if root, err := outfile.OpenDir(d.path); err == nil {
			outfile.RemoveAbandoned(root)
			root.Close()
		}
	}
}
