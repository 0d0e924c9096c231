package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Of standard input no more is taken than fits.
func TestSpool(t *testing.T) {
	for text, want := range map[string]string{
		"1234":  "",
		"12345": "standard input has more than 4 B; write it to a file first",
	} {
		got := ""
		if err := spool(strings.NewReader(text), filepath.Join(t.TempDir(), "input"), 4); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
