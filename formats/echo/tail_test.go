package echo

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"recfs/formats"
	"recfs/nodes/nodestest"
)

// restlessFrames are frames in which each part comes, goes and changes by chance.
func restlessFrames(r *rand.Rand, n int) []Frame {
	coin := func() bool { return r.IntN(2) == 0 }
	word := func() string { return []string{"", "a", "b\xff", NoGoal}[r.IntN(4)] }
	float := func() float32 { return []float32{0, 1.5, float32(math.NaN())}[r.IntN(3)] }
	lacks := func() Lacks {
		if coin() {
			return 0
		}
		return Lacks(r.Uint64() & r.Uint64())
	}
	frames := make([]Frame, n)
	for i := range frames {
		if i > 0 && r.IntN(3) > 0 {
			frames[i] = frames[i-1] // nothing happens
			continue
		}
		f := &frames[i]
		*f = Frame{Time: int64(33 * i), Kind: Kind(r.IntN(3)), Has: Has(r.IntN(int(HasBones))), Lacks: lacks() & LacksFrame, Status: word()}
		f.Points, f.Restart = [2]float32{float(), 2}, [2]int64{int64(r.IntN(2)), int64(r.IntN(3))}
		f.Pause = Pause{State: word(), UnpausedTeam: word(), RequestedTeam: word()}
		f.Score = Score{float(), float(), word(), word(), int64(r.IntN(2)), word(), word()}
		f.Throw[r.IntN(len(f.Throw))] = float()
		f.Rules = Rules{int64(r.IntN(2)), word()}
		for id := range 4 {
			if t := r.IntN(4); t < len(f.Teams) {
				f.Teams[t].Players = append(f.Teams[t].Players, Player{
					Name: "p", UserID: int64(id), ID: int32(r.IntN(9)), Lacks: lacks() & LacksPlayer, Number: 7, Level: 3, Stunned: coin(), HasStats: coin(),
					Stats: Stats{lacks() & LacksStats, float(), [11]int32{int32(i), -1}},
				})
			}
		}
	}
	return frames
}

// An index that goes on from that of fewer frames, saved or not, is that of one pass.
func TestGoesOn(t *testing.T) {
	for seed := range uint64(nodestest.Times(60, 10)) {
		r := rand.New(rand.NewPCG(seed, 0))
		frames := restlessFrames(r, 4*testInterval+7)
		var earlier formats.Index
		for n := 0; n < len(frames); {
			n = min(n+r.IntN(2*testInterval), len(frames))
			x, err := scanTest(t.Context(), frames[:n], earlier)
			if err != nil {
				t.Fatal(err)
			}
			want := mustScan(t, frames[:n]).Append(nil)
			if !bytes.Equal(x.Append(nil), want) {
				t.Fatalf("seed %d: %d frames give another index than in one pass", seed, n)
			}
			earlier = x
			if r.IntN(2) == 0 {
				if earlier, err = ReadIndex("test", true, want, x.Bytes, UnknownChunks, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// A pass begins anew where the index before does not say how to go on, or says what cannot be.
func TestGoesOnFromNothing(t *testing.T) {
	x := mustScan(t, testFrames(testInterval+1))
	for cut := range len(x.Tail) {
		part := &Index{Tail: x.Tail[:cut], Chunks: x.Chunks, Events: x.Events}
		if _, err := Resume(part, "test", true); !errors.Is(err, formats.ErrOther) {
			t.Errorf("%d of %d bytes: %v", cut, len(x.Tail), err)
		}
	}
	if _, err := Resume(x, "other", true); !errors.Is(err, formats.ErrOther) {
		t.Errorf("another layout: %v", err)
	}
	if _, err := Resume(&Index{Tail: x.Tail}, "test", true); !errors.Is(err, formats.ErrOther) {
		t.Errorf("without its chunks: %v", err)
	}
}
