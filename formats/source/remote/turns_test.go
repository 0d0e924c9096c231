package remote

import (
	"testing"
	"time"
)

// TestTurns numbers each look-up without a time to live, and makes a turn last as long as a walk.
func TestTurns(t *testing.T) {
	each := turns{}
	if a, b := each.now(), each.now(); a == b {
		t.Errorf("two look-ups are in turn %d", a)
	}
	long := turns{ttl: time.Hour}
	began := time.Now()
	turn, release := long.hold()
	long.end = time.Time{} // as if the hour was over
	if now := long.now(); now != turn {
		t.Errorf("the walk of turn %d is in turn %d", turn, now)
	}
	release()
	if !long.end.After(began) {
		t.Error("what was walked does not hold")
	}
	long.end = time.Time{}
	if now := long.now(); now == turn {
		t.Errorf("turn %d does not end", turn)
	}
}
