package export

import "testing"

// SetLimit lets row groups have so many rows at most, for the time of a test.
func SetLimit(t *testing.T, rows, bytes int64) {
	t.Helper()
	old := groupLimit
	groupLimit = size{rows, bytes}
	t.Cleanup(func() { groupLimit = old })
}
