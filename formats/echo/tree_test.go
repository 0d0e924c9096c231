package echo

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

var testMatch = matchOf("ID", "Ann", 0, 0)

// matchOf returns a match of which all is known.
func matchOf(id, client string, blue, orange int64) *Match {
	return &Match{
		SessionID: &id, SessionIP: new(""), MatchType: new("Echo_Arena"), MapName: new("mpl_arena_a"), ClientName: &client, Private: new(false),
		TotalRounds: new(int64(0)), BlueRounds: &blue, OrangeRounds: &orange,
	}
}

// testFrames are frames with a goal, in which players come, go and move.
func testFrames(n int) []Frame {
	frames := make([]Frame, n)
	for i := range frames {
		f := &frames[i]
		*f = Frame{Time: 1e12 + 33*int64(i), Kind: Arena, Has: HasStatus | HasScore | HasDisc, Status: "playing", Clock: float32(n - i)}
		f.Score.GoalType = NoGoal
		f.Disc.Position = Vec3{float32(i), 0.5, -1}
		f.Teams[0].Players = []Player{{Name: "Ann", UserID: 1, Ping: int32(i % 3), HasStats: true}}
		if i%40 > 20 {
			f.Teams[1].Players = []Player{{Name: `B, "b"`, UserID: 2, ID: 1, Level: 50}}
		}
		if i > 30 {
			f.Score = Score{GoalType: "SLAM DUNK", Team: "blue", Points: 2, Scorer: "Ann", Distance: 3}
			f.Points[0] = 2
		}
	}
	return frames
}

const testInterval = 50 // frames in a chunk

// piecesOf returns the pieces of all parts of a chunk.
func piecesOf(c *ChunkInfo) (list []Piece) {
	for _, p := range c.Parts {
		list = append(list, p.Pieces...)
	}
	return list
}

// testChunk returns chunk n of the frames.
func testChunk(frames []Frame, n int) *Chunk {
	e := NewEncoder(testMatch)
	part := frames[n*testInterval : min((n+1)*testInterval, len(frames))]
	return &Chunk{
		Number: n, FirstTick: int64(n) * testInterval, Frames: part,
		Session: func(b []byte, i int) []byte { return e.Session(b, &part[i]) },
		Bones:   func(b []byte, i int) []byte { return b },
	}
}

// scan makes the index of all frames, or goes on from that of fewer.
func scanTest(ctx context.Context, frames []Frame, earlier formats.Index) (*Index, error) {
	b, err := Resume(earlier, "test", true)
	if err != nil {
		return nil, err
	}
	n := len(b.Chunks)
	x, err := b.Scan(ctx, func(context.Context) (*Chunk, ChunkInfo, error) {
		info := ChunkInfo{Offset: int64(n), Stored: 10, Size: 20, State: []byte{byte(n + 1)}}
		if n*testInterval >= len(frames) {
			return nil, info, nil
		}
		n++
		c := testChunk(frames, n-1)
		c.Open = len(c.Frames) < testInterval
		return c, info, nil
	})
	x.End = EndClean
	return x, err
}

func mustScan(t testing.TB, frames []Frame) *Index {
	t.Helper()
	x, err := scanTest(t.Context(), frames, nil)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestScanLengths holds every length and checksum of an index to what is rendered.
func TestScanLengths(t *testing.T) {
	frames := testFrames(2*testInterval + 7)
	x := mustScan(t, frames)
	if len(x.Chunks) != 3 || x.Ticks != int64(len(frames)) {
		t.Fatalf("%d chunks, %d ticks", len(x.Chunks), x.Ticks)
	}
	var text []byte
	for n := range x.Chunks {
		c, info := testChunk(frames, n), &x.Chunks[n]
		text = append(text, viewText.render(c, nil, 0)...)
		first := 0
		for i, p := range piecesOf(info) {
			piece := c.Run(first, p.Frames)
			first += p.Frames
			of := func(v *view) int64 { return int64(len(v.render(piece, nil, x.First))) }
			got := Piece{p.Frames, [...]int64{of(viewLines), of(viewText), of(viewDisc), of(viewPlayers)}}
			if got != p {
				t.Errorf("chunk %d: piece %d has %+v, want %+v", n, i, p, got)
			}
		}
	}
	if sum := crc32.ChecksumIEEE(text); sum != x.CRC {
		t.Errorf("CRC-32 %#x, want %#x", x.CRC, sum)
	}
}

// TestScanStops ends a pass with its context or its first error, when what was begun is done.
func TestScanStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := scanTest(ctx, testFrames(5), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	broken := errors.New("broken")
	_, err := new(Builder).Scan(t.Context(), func(context.Context) (*Chunk, ChunkInfo, error) { return nil, ChunkInfo{}, broken })
	if !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}

type store map[string][]byte

func (s store) Load(_ context.Context, name string) ([]byte, bool) { b, ok := s[name]; return b, ok }
func (s store) Save(name string, b []byte)                         { s[name] = b }
func (s store) Forget(name string)                                 { delete(s, name) }

// openTest returns a tree of frames, whose source has the given bytes, and counts its scans.
func openTest(t *testing.T, frames []Frame, source string, saved store, scans *int) nodes.Dir {
	t.Helper()
	c := cache.New(1<<20, saved)
	t.Cleanup(c.Close)
	src := formatstest.BytesInput("x.butter", []byte(source), time.Unix(1e9, 0))
	src.Stamp = formats.Stamp{Size: src.Size, Changed: int64(source[0])}
	formatstest.Keep(&src, saved)
	dir, err := formatstest.Open(t.Context(), testFormat(frames, scans), src, c)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A testHead is empty.
type testHead struct{}

func (testHead) Append(b []byte) []byte { return b }
func (testHead) Memory() int64          { return 0 }

// testFormat has recordings of frames, and counts its scans.
func testFormat(frames []Frame, scans *int) formats.Format {
	return formats.Format{
		Name: "test", Variant: "7",
		Open:     func(context.Context, formats.Input) (formats.Head, error) { return testHead{}, nil },
		ReadHead: func(context.Context, formats.Input, []byte) (formats.Head, error) { return testHead{}, nil },
		Scan: func(ctx context.Context, in formats.Input, _ formats.Head, earlier formats.Index) (formats.Index, error) {
			*scans++
			if _, err := in.ReadAt(ctx, make([]byte, in.Size), 0); err != nil {
				return nil, err
			}
			x, err := scanTest(ctx, frames, earlier)
			if err == nil {
				x.Bytes = in.Size
			}
			return x, err
		},
		ReadIndex: func(in formats.Input, _ formats.Head, saved []byte) (formats.Index, error) {
			return ReadIndex("test", true, saved, in.Size, UnknownChunks, nil)
		},
		Tree: func(rec formats.Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
			return testTree(rec, frames, c)
		},
	}
}

func testTree(rec formats.Recording, frames []Frame, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
	return NewTree(Recording{
		Recording: rec, Format: "test", Text: true, Header: map[string]int{"a": 1}, Metadata: nodes.Bytes([]byte("m")), Match: testMatch,
		NumChunks: UnknownChunks,
		Chunk: func(_ context.Context, _ *Index, n int, info *ChunkInfo, _ *Chunk) (*Chunk, int64, error) {
			if !bytes.Equal(info.State, []byte{byte(n + 1)}) {
				return nil, 0, fmt.Errorf("state %x", info.State)
			}
			return testChunk(frames, n), 1000, nil
		},
		Visit: func(context.Context, int, *ChunkInfo, func(*Frame) error) (bool, error) { return false, nil },
		Data:  func(n int, _ *ChunkInfo) nodes.File { return nodes.Bytes(fmt.Append(nil, "chunk ", n)) },
	}, c)
}

// TestTree checks a whole tree, and opens it again with its saved index.
func TestTree(t *testing.T) {
	frames := testFrames(testInterval + 7)
	saved, scans := store{}, 0
	first := openTest(t, frames, "bytes", saved, &scans)
	for name, err := range nodestest.Check(t, first) {
		t.Errorf("%s: %v", name, err)
	}
	want := nodestest.Files(t, first)
	for _, name := range []string{"events.jsonl", "scores.json", "export/disc.csv", "ticks/00000056.json", "lines/000001.jsonl"} {
		if _, ok := want[name]; !ok {
			t.Errorf("no %s in %q", name, slices.Sorted(maps.Keys(want)))
		}
	}
	if _, ok := saved[formatstest.Key+"/test-7"]; !ok || scans != 1 {
		t.Fatalf("%d scans, saved %d", scans, len(saved))
	}
	if diff := cmp.Diff(want, nodestest.Files(t, openTest(t, frames, "bytes", saved, &scans))); diff != "" || scans != 1 {
		t.Errorf("with the saved index, %d scans: %s", scans, diff)
	}
	openAgain := func(what, source string, want int) {
		if nodestest.Files(t, openTest(t, frames, source, saved, &scans)); scans != want {
			t.Errorf("%s: %d scans, want %d", what, scans, want)
		}
	}
	openAgain("other bytes", "other", 2)
	saved[formatstest.Key+"/test-7"][0]++
	openAgain("another layout", "other", 3)
}

// TestDeflated opens the deflated archive, which is not listed, and holds that its size is kept.
func TestDeflated(t *testing.T) {
	const name = "export/deflated/x.butter.echoreplay"
	frames := testFrames(3*testInterval + 7)
	saved, scans := store{}, 0
	first := openTest(t, frames, "bytes", saved, &scans)
	b := []byte(nodestest.Read(t, first, name))
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := fs.ReadFile(r, r.File[0].Name)
	if want := nodestest.Read(t, first, "export/x.butter.echoreplay.txt"); string(text) != want || err != nil || len(b) > len(want)/4 {
		t.Errorf("%d bytes hold %d, not %d: %v", len(b), len(text), len(want), err)
	}
	if _, ok := saved[formatstest.Key+"/test-"+deflatedView]; !ok {
		t.Fatalf("kept: %q", slices.Sorted(maps.Keys(saved)))
	}
	again := openTest(t, slices.Clone(frames)[:0], "bytes", saved, &scans) // which make no text
	e, err := nodes.Lookup(t.Context(), again, name)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := e.File.Size(t.Context()); n != int64(len(b)) || err != nil {
		t.Errorf("the size is %d, %v; %d bytes were read", n, err, len(b))
	}
	list, err := nodes.Lookup(t.Context(), first, "export")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := list.Dir.Len(t.Context()); n != 4 || err != nil {
		t.Errorf("export/ lists %d, %v", n, err)
	}
	for name := range saved {
		if strings.Contains(name, deflatedView) {
			saved[name] = append(saved[name], 0)
		}
	}
	if got := nodestest.Read(t, openTest(t, frames, "bytes", saved, &scans), name); got != string(b) {
		t.Errorf("with damaged sizes %d bytes, want %d", len(got), len(b))
	}
}

// TestDeflatedVersion holds that the view has another name when the bytes are others: their sizes
// are on disk.
func TestDeflatedVersion(t *testing.T) {
	nodestest.Long(t)
	version, err := strconv.Atoi(strings.TrimPrefix(deflatedView, "deflated"))
	if err != nil {
		t.Fatal(err)
	}
	nodestest.Saved(t, "../../testdata/butter/deflated.sums", version, func(b []byte) []byte {
		return []byte(nodestest.Read(t, openBytesTree(t, b), "export/deflated/x.echoreplay"))
	}, "../../testdata/archive/butter/*.butter")
}

// openBytesTree opens the tree of a butter file.
func openBytesTree(t *testing.T, b []byte) nodes.Dir {
	t.Helper()
	dir, err := formatstest.Open(t.Context(), NewButter(Options{}), formatstest.BytesInput("x.butter", b, time.Unix(1e9, 0)), formatstest.NewCache(t))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSound holds that an index which cannot be of the recording is not used.
func TestSound(t *testing.T) {
	chunk := 5
	for name, spoil := range map[string]func(x *Index){
		"end":        func(x *Index) { x.End = "" },
		"chunks":     func(x *Index) { x.Chunks = x.Chunks[:1] },
		"order":      func(x *Index) { x.Chunks[1].FirstTick = 3 },
		"far tick":   func(x *Index) { x.Chunks[1].FirstTick = 1 << 40 },
		"offset":     func(x *Index) { x.Chunks[0].Offset = -1 },
		"size":       func(x *Index) { x.Chunks[0].Size = -2 },
		"frames":     func(x *Index) { x.Chunks[0].Ticks-- },
		"no lines":   func(x *Index) { x.Chunks[0].Parts[0].Pieces[0].Sizes[viewLines.number] = 3 },
		"long piece": func(x *Index) { x.Chunks[0].Parts[0].Pieces[0].Sizes[viewDisc.number] = 1 << 41 },
		"many pieces": func(x *Index) {
			c := &x.Chunks[0]
			c.Parts[0].Pieces = slices.Repeat([]Piece{{Frames: 1, Sizes: [4]int64{1}}}, c.Ticks)
		},
		"sum of ticks":       func(x *Index) { x.Ticks++ },
		"bones":              func(x *Index) { x.BonesTicks = x.Ticks + 1 },
		"points":             func(x *Index) { x.Points[0] = []byte("{") },
		"team":               func(x *Index) { x.Played[0].Team = 3 },
		"place of a problem": func(x *Index) { x.Problems = []formats.Problem{{Offset: -1}} },
		"chunk of a problem": func(x *Index) { x.Problems = []formats.Problem{{Chunk: &chunk}} },
	} {
		x := mustScan(t, testFrames(testInterval+1))
		if _, err := ReadIndex("test", true, x.Append(nil), x.Bytes, 2, nil); err != nil {
			t.Fatal("an index that was just made")
		}
		spoil(x)
		if _, err := ReadIndex("test", true, x.Append(nil), x.Bytes, 2, nil); err == nil {
			t.Errorf("%s: sound", name)
		}
	}
}

// FuzzSavedIndex makes directories and documents of any index that is sound.
func FuzzSavedIndex(f *testing.F) {
	x := mustScan(f, testFrames(testInterval+1))
	x.Problems = []formats.Problem{{Code: CodeChecksum, Message: "m"}}
	f.Add(x.Append(nil))
	f.Fuzz(func(t *testing.T, values []byte) {
		x, err := DecodeIndex("test", true, values)
		if err != nil || !x.sound(nil) {
			return
		}
		rec := formats.Recording{Input: formatstest.BytesInput("x", nil, time.Time{})}
		rec.Index = func(context.Context) (formats.Index, error) { return x, nil }
		dir, _ := NewTree(Recording{Recording: rec, NumChunks: UnknownChunks}, cache.New(1<<20, store{}))
		if _, err := json.Marshal(x.document("test")); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"ticks", "export"} {
			if e, err := nodes.Lookup(t.Context(), dir, name); err != nil {
				t.Error(err)
			} else if _, err := e.Dir.Len(t.Context()); err != nil && x.Bytes == 0 {
				t.Error(err)
			}
		}
	})
}

// TestTables writes the rows of both tables, with fields that need quotes and what combat maps do
// not have.
func TestTables(t *testing.T) {
	frames := testFrames(2)
	frames[1].Teams[2].Players = []Player{{Name: "C, \"c\"\n", UserID: 3, ID: 9, Possession: true, Holding: [2]string{"none", "disc"}}}
	c := testChunk(frames, 0)
	start := frames[0].Time
	if got, want := string(viewDisc.render(c, nil, start)), "0,0,0.0,0.5,-1.0,0.0,0.0,0.0\n1,33,1.0,0.5,-1.0,0.0,0.0,0.0\n"; got != want {
		t.Errorf("disc:\n%swant\n%s", got, want)
	}
	zeros := strings.Repeat(",0.0", 15)
	row := "1,33,spectator,\"C, \"\"c\"\"\n\",3,9" + zeros + ",0,"
	if got := string(viewPlayers.render(c, nil, start)); !strings.HasSuffix(got, row+"true,false,false,false,none,disc\n") {
		t.Errorf("players:\n%swant at the end\n%s", got, row)
	}
	frames[1].Teams[2].Players[0].Lacks = LacksAllFlags
	if got := string(viewPlayers.render(c, nil, start)); !strings.HasSuffix(got, row+",,,,none,disc\n") {
		t.Errorf("players of a combat map:\n%s", got)
	}
	if n := strings.Count(playersHead, ","); strings.Count(row+"true,false,false,false,none,disc", ",")-1 != n {
		t.Errorf("%d commas in the first row", n)
	}
}
