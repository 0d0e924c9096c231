package export

import "recfs/formats/outfile"

// RemoveAbandoned removes what exports to a directory left there that were killed.
func RemoveAbandoned(dir string) {
	dirs, _, _ := tableDirs(dir)
	for _, d := range append(dirs, tableDir{path: dir}) {
		if root, err := outfile.OpenDir(d.path); err == nil {
			outfile.RemoveAbandoned(root)
			root.Close()
		}
	}
}
