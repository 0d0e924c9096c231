package teehistorian

import (
	"context"
	"errors"
	"testing"

	"recfs/nodes"
)

// A piece that is not as long as it was says that the source was replaced, which is no damage.
func TestPieceOfAnotherLength(t *testing.T) {
	for _, got := range []string{"", "abc", "abcde"} {
		p := &parts{load: func(_ context.Context, i int) ([]byte, error) { return []byte([]string{"1234", got}[i]), nil }}
		p.add(4)
		p.add(4)
		b := make([]byte, 8)
		if n, err := p.ReadAt(b, 0); n != 4 || !errors.Is(err, nodes.ErrStale) {
			t.Errorf("second piece %q: %d, %v, want nodes.ErrStale after 4 bytes", got, n, err)
		}
	}
}
