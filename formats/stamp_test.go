package formats

import "testing"

func TestStampSaved(t *testing.T) {
	s := Stamp{1, -2, 3, 4, -5, 6}
	if got := ReadStamp(s.Append(nil)); got != s {
		t.Errorf("%+v, want %+v", got, s)
	}
	if !s.Same(s) || s.Same(Stamp{1, -2, 3, 4, -5, 7}) {
		t.Error("a stamp is the same as itself alone")
	}
	if s.Changed = 0; s.Same(s) {
		t.Error("size and time say that nothing was changed")
	}
}
