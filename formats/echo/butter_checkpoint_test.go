package echo

import (
	"errors"
	"reflect"
	"testing"

	"recfs/formats"
)

// TestCheckpoint reads the checkpoints that chunks start from, and none that is cut or of another
// number of players.
func TestCheckpoint(t *testing.T) {
	two := make([]Bones, 2)
	two[1].Positions[3] = Vec3{1, -2, 3.5}
	two[1].Rotations[22] = Quat{0.5, 0, 0, -1}
	for name, c := range map[string]carry{
		"start":        {bones: []Bones{}},
		"after damage": {lost: true, count: unknownCount, bones: []Bones{}},
		"lost":         {lost: true, count: 3, bones: []Bones{}},
		"two players":  {timers: [2]float32{1.5, -2}, count: 2, bones: two},
	} {
		t.Run(name, func(t *testing.T) {
			b := c.encode(true)
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
		"other bones before their time": {count: 1, bones: two, since: 1},
	} {
		if _, err := decodeCarry(c.encode(true)); err == nil {
			t.Errorf("%s: a checkpoint", name)
		}
	}
}

// TestBonesBetween decodes short chunks, the checkpoints of some of which have no bones: a
// sixteenth of the bytes of the chunks are kept, and the frames are the same from that of the chunk
// before and from the last ones that are.
func TestBonesBetween(t *testing.T) {
	for _, interval := range []int{1, 7} {
		b, _ := sample(layoutV3, 2, 3, 210, true, func(w *writer) { w.interval = interval })
		r := openBytes(t, b)
		x, want := scanned(t, b), allFrames(t, r)
		kept, due := 0, len(b)/boneShare+4*boneFloats*3
		var got []Frame
		var before *Chunk
		for n := range x.Chunks {
			kept += max(len(x.Chunks[n].State)-len(carry{since: 1 << 20}.encode(true)), 0)
			alone, _, err := r.Chunk(t.Context(), x, n, 0, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if before, _, err = r.Chunk(t.Context(), x, n, 0, before, nil); err != nil || !reflect.DeepEqual(alone.Frames, before.Frames) {
				t.Fatalf("chunk %d of %d frames: others after the chunk before, %v", n, interval, err)
			}
			got = append(got, alone.Frames...)
		}
		if !reflect.DeepEqual(got, want) || kept == 0 || kept > due {
			t.Errorf("chunks of %d frames: %d frames, want %d; %d bytes of bones, where %d are due", interval, len(got), len(want), kept, due)
		}
		x.Chunks[0].State = x.Chunks[1].State
		if _, _, err := r.Chunk(t.Context(), x, 1, 0, nil, nil); !errors.Is(err, formats.ErrOther) {
			t.Errorf("no bones from the beginning: %v", err)
		}
	}
}
