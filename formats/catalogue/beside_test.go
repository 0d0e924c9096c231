package catalogue

import (
	"slices"
	"testing"
)

func TestParseBeside(t *testing.T) {
	for _, bad := range []string{"", "+", "xyz", "1ffffffffffffffff\x00a", "-1\x00a", "+1"} {
		if b, ok := parseBeside(bad); ok {
			t.Errorf("%q is %+v", bad, b)
		}
	}
	b, ok := parseBeside("ff\x00a\nb\x00c")
	if !ok || b.sum != 255 || !slices.Equal(b.names, []string{"a\nb", "c"}) {
		t.Errorf("%+v, %v", b, ok)
	}
	if b, ok := parseBeside("0"); !ok || len(b.names) > 0 {
		t.Errorf("%+v, %v", b, ok)
	}
}
