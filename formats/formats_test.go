package formats

import (
	"testing"
	"time"
)

func TestSourceInfo(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 0, 0, 500, time.UTC)
	for _, c := range []struct{ name, hex string }{
		{"härter.rec", ""},
		{"bad\xff.rec", "626164ff2e726563"},
	} {
		want := SourceInfo{Name: c.name, NameHex: c.hex, Size: 3, Modified: "2026-11-21T09:00:00.0000005Z"}
		if got := bytesInput(c.name, []byte("abc"), at).Info(); got != want {
			t.Errorf("Info of %q is %+v, want %+v", c.name, got, want)
		}
	}
}
