package main

import (
	"strings"

	"recfs/formats"
)

// label is the key of a detail for a person.
func label(d formats.Detail) string { return strings.ReplaceAll(d.Key, "_", " ") }
