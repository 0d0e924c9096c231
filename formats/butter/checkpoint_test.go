package butter

import (
	"reflect"
	"testing"

	"recfs/formats/internal/echovr"
)

// TestCheckpoint reads the checkpoints that chunks start from, and none that is cut or of another
// number of players.
func TestCheckpoint(t *testing.T) {
	two := make([]echovr.Bones, 2)
	two[1].Positions[3] = echovr.Vec3{1, -2, 3.5}
	two[1].Rotations[22] = echovr.Quat{0.5, 0, 0, -1}
	for name, c := range map[string]carry{
		"start":        {bones: []echovr.Bones{}},
		"after damage": {lost: true, count: unknownCount, bones: []echovr.Bones{}},
		"lost":         {lost: true, count: 3, bones: []echovr.Bones{}},
		"two players":  {timers: [2]float32{1.5, -2}, count: 2, bones: two},
	} {
		t.Run(name, func(t *testing.T) {
			b := c.encode()
			got, err := decodeCarry(b)
			if err != nil || !reflect.DeepEqual(got, c) {
				t.Errorf("%+v, %v, want %+v", got, err, c)
			}
			for n := range b {
				if _, err := decodeCarry(b[:n]); err == nil {
					t.Errorf("%d of %d bytes are a checkpoint", n, len(b))
				}
			}
		})
	}
	for name, c := range map[string]carry{
		"missing bones": {count: 1}, "other bones": {count: 1, bones: two}, "no count": {lost: true, count: -2},
	} {
		if _, err := decodeCarry(c.encode()); err == nil {
			t.Errorf("%s: a checkpoint", name)
		}
	}
}
