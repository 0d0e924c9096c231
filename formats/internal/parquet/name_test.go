package parquet

import (
	"testing"

	"pgregory.net/rapid"
)

// UnescapeName undoes EscapeName, and knows no other names.
func TestUnescapeName(t *testing.T) {
	for escaped, want := range map[string]string{
		"": "", "a": "a", "tick%3D5": "tick=5", "%5Fx": "_x", "%2Eh%3Ai%25": ".h:i%", "bad%FFä": "bad\xffä", "a_b.c": "a_b.c", "back%5Cslash": `back\slash`,
	} {
		if name, ok := UnescapeName(escaped); name != want || !ok {
			t.Errorf("%q: %q, %t, want %q", escaped, name, ok, want)
		}
	}
	for _, other := range []string{"%", "a%3", "%3d", "%61", "=", "_a", ".", "%+1", "%2F", "\xff", "%C3%A4", `\`} {
		if name, ok := UnescapeName(other); ok {
			t.Errorf("%q: %q", other, name)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		name := string(rapid.SliceOf(rapid.SampledFrom([]byte("ab%=:\\_.3D\xc3\xa4\xff"))).Draw(rt, "name"))
		if got, ok := UnescapeName(EscapeName(name)); got != name || !ok {
			rt.Fatalf("%q: %q, %t", name, got, ok)
		}
	})
}
