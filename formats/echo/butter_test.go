package echo

import (
	"math"
	"testing"

	"recfs/nodes/nodestest"
)

// TestRoundTrip holds the decoder against the precision that docs/formats/butter.md section 15
// states.
func TestRoundTrip(t *testing.T) {
	for _, l := range []*layout{layoutDec2021, layoutV1, layoutV2, layoutV3Early, layoutV3} {
		for _, mapIndex := range []uint8{1, 2, 5} {
			for compression := uint8(0); compression <= zstdLast; compression += uint8(nodestest.Times(1, int(mapIndex))) {
				bones := l.bones && compression%2 == 0
				b, want := sample(l, mapIndex, 6, nodestest.Times(40, 20), bones, func(w *writer) { w.compression, w.private = compression, compression == 3 })
				r := openBytes(t, b)
				if r.Layout != l {
					t.Errorf("%s, map %d: read as %s", l.name, mapIndex, r.Layout.name)
					continue
				}
				got := allFrames(t, r)
				if len(got) != len(want) {
					t.Fatalf("%s, map %d: %d frames, want %d", l.name, mapIndex, len(got), len(want))
				}
				for i := range got {
					compare(t, &got[i], want[i], l)
				}
				if t.Failed() {
					t.Fatalf("%s, map %d, compression %d", l.name, mapIndex, compression)
				}
			}
		}
	}
}

func compare(t *testing.T, got, want *Frame, l *layout) {
	t.Helper()
	if got.Time != want.Time || math.Abs(float64(got.Clock-want.Clock)) > 2e-4 {
		t.Fatalf("time %d clock %v, want %d %v", got.Time, got.Clock, want.Time, want.Clock)
	}
	if got.Kind != Combat && got.Status != want.Status || (got.Kind == Arena || got.Kind == Combat && l.emotes) && got.Points != want.Points {
		t.Errorf("status %q points %v, want %q %v", got.Status, got.Points, want.Status, want.Points)
	}
	if got.Throw != want.Throw {
		t.Errorf("throw %v, want %v", got.Throw, want.Throw)
	}
	if got.Kind == Arena {
		nearPose(t, "disc", got.Disc.Pose, want.Disc.Pose)
		if got.Score != want.Score {
			t.Errorf("score %v, want %v", got.Score, want.Score)
		}
	}
	nearPose(t, "vr", got.VR, want.VR)
	for i := range want.Teams {
		if len(got.Teams[i].Players) != len(want.Teams[i].Players) {
			t.Fatalf("team %d has %d players, want %d", i, len(got.Teams[i].Players), len(want.Teams[i].Players))
		}
		for j := range want.Teams[i].Players {
			comparePlayer(t, &got.Teams[i].Players[j], &want.Teams[i].Players[j], got.Kind, l)
		}
	}
	if len(got.Bones) != len(want.Bones) {
		t.Fatalf("%d players with bones, want %d", len(got.Bones), len(want.Bones))
	}
	for i := range want.Bones {
		for j := range want.Bones[i].Positions {
			for k, x := range want.Bones[i].Positions[j] {
				if math.Abs(float64(x-got.Bones[i].Positions[j][k])) > 0.001 {
					t.Errorf("bone %d of %d: %v, want %v", j, i, got.Bones[i].Positions[j], want.Bones[i].Positions[j])
				}
			}
		}
	}
}

func comparePlayer(t *testing.T, got, want *Player, kind Kind, l *layout) {
	t.Helper()
	if got.Name != want.Name || got.UserID != want.UserID || got.ID != want.ID || got.Number != want.Number || got.Level != want.Level ||
		got.Ping != want.Ping || got.Stunned != want.Stunned || got.Possession != want.Possession || got.Stats != want.Stats {
		t.Errorf("player %+v, want %+v", got, want)
	}
	if kind == Arena && got.Holding != want.Holding {
		t.Errorf("holding %q, want %q", got.Holding, want.Holding)
	}
	if kind == Combat && got.Holding != [2]string{} {
		t.Errorf("holding %q on a combat map", got.Holding)
	}
	if kind == Combat && l.loadouts && *got.Loadout != *want.Loadout {
		t.Errorf("loadout %v, want %v", got.Loadout, want.Loadout)
	}
	for k := range want.Poses {
		nearPose(t, "pose", got.Poses[k], want.Poses[k])
	}
}

// nearPose compares poses: 3 cm, 0.4 degrees.
func nearPose(t *testing.T, what string, got, want Pose) {
	t.Helper()
	dot := 0.0
	for i := range want.Rotation {
		dot += float64(want.Rotation[i]) * float64(got.Rotation[i])
	}
	far := math.Abs(dot) < math.Cos(0.4*math.Pi/180/2*2)
	for i, x := range want.Position {
		far = far || math.Abs(float64(x-got.Position[i])) > 0.03
	}
	if far {
		t.Errorf("%s %v, want %v", what, got, want)
	}
}
