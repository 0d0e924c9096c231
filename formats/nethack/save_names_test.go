package nethack

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// Names of saves are those that fmt makes, whatever the turn of a damaged save is.
func TestSaveNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Int32(), rapid.Int32Range(-100, 100), rapid.Int32Range(-10_000_001, 10_000_001))
		turn, nth := number.Draw(t, "turn"), number.Draw(t, "nth")
		want := fmt.Sprintf("turn%07d", turn)
		if nth != 0 {
			want += fmt.Sprintf(".%03d", nth)
		}
		if got := saveName(turn, nth); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
