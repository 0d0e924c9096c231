package datafile

import "recfs/nodes"

// safeName is a name from inside the map as part of a file name.
func safeName(name string) string { return nodes.SafeName(name) }
