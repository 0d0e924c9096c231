package formats

import "testing"

// TestIndexName tells the saved results of a recording apart, and keeps none of what has no ID.
func TestIndexName(t *testing.T) {
	for _, c := range []struct{ id, kind, variant, want string }{
		{"a1", "nethack", "", "a1/nethack"},
		{"a1", "hcrp", "0f", "a1/hcrp-0f"},
		{"", "hcrp", "0f", ""},
	} {
		if got := (Input{ID: c.id}).IndexName(c.kind, c.variant); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
