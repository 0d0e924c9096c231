package datafile

import (
	"reflect"
	"testing"

	"recfs/formats"
)

// TestSavedFindings reads what was saved, and refuses all that ends before its end.
func TestSavedFindings(t *testing.T) {
	want := findings{
		problemList{{Code: "size_wrong", Offset: 8, Message: "m"}, {Code: "truncated", Path: "data/00001", Offset: 1 << 40}},
		formats.Seal{Length: 3, Sum: 4},
	}
	b := want.encode()
	if got, err := decodeFindings(b); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for n := range b {
		if _, err := decodeFindings(b[:n]); err == nil {
			t.Errorf("%d of %d bytes are findings", n, len(b))
		}
	}
}
