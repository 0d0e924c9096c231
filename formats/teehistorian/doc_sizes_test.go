package teehistorian

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recfs/formats"
)

// The sizes that are counted are those of the documents, whatever the records are.
func TestDocSizes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { holdSizes(t, rt.Errorf, draw(rt).b) })
}

// The same with the recordings of servers.
func TestDocSizesOfSamples(t *testing.T) {
	if docs := holdSizes(t, t.Errorf, readBusy(t)); docs < 1000 {
		t.Errorf("%d documents", docs)
	}
	files, _ := filepath.Glob(filepath.Join(sharedRecordings, "*.teehistorian"))
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		holdSizes(t, t.Errorf, b)
	}
}

// holdSizes holds the sizes of all ticks and states of a recording to the documents, and returns how many they are;
// none if it does not open.
func holdSizes(t *testing.T, fail func(string, ...any), b []byte) (docs int) {
	in := formats.BytesInput("x.teehistorian", b, time.Unix(1, 0))
	opened, err := Format.Open(t.Context(), in)
	if err != nil {
		return 0
	}
	h := opened.(*header)
	x, err := buildIndex(t.Context(), in.At(t.Context()), in.Size, h)
	if err != nil {
		t.Fatal(err)
	}
	r := &recording{src: in, idx: x, version1: h.version1(), render: renderer{h.idents}}
	for k := range x.chunks {
		for _, states := range []bool{false, true} {
			sizes, err := r.docSizes(t.Context(), k, states)
			if err != nil || len(sizes) != x.chunks[k].count {
				t.Fatalf("chunk %d: %d sizes, %v", k, len(sizes), err)
			}
			from, err := r.chunkStart(k)
			if err != nil {
				t.Fatal(err)
			}
			n := x.blockLen(k)
			for g := 0; g*n < len(sizes); g++ {
				blk, err := r.block(t.Context(), from, k, g, states)
				if err != nil {
					t.Fatal(err)
				}
				from = blk.next
				for i := range blk.ends {
					if got, want := int(sizes[g*n+i]), len(blk.doc(i)); got != want {
						fail("tick %d, states %v: %d bytes, want %d", x.ticksOf(k)[g*n+i], states, got, want)
					}
				}
				docs += len(blk.ends)
			}
		}
	}
	return docs
}
