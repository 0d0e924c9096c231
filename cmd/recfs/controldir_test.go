package main

import "testing"

// .recfs of a mount is equal to itself, as a look-up of a name that is held compares what it finds
// with that.
func TestControlDirIsComparable(t *testing.T) {
	m := &monitor{}
	if a, b := m.entry(), m.entry(); a.Dir != b.Dir {
		t.Error("two look-ups of .recfs differ")
	}
}
