package recordings_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zip"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/echo"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/recordings"
	"recfs/formats/teehistorian"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// A dying is a recording whose process dies once something was saved: then each read waits for its
// end.
type dying struct {
	nodes.ReaderAt
	*nodestest.Shelf
	end  context.CancelFunc // nil: it lives
	dead bool
	read []int64 // where each read begins
}

func (d *dying) Save(name string, b []byte) {
	d.Shelf.Save(name, b)
	if d.end != nil {
		d.dead = true
		d.end()
	}
}

func (d *dying) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if d.dead {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	d.read = append(d.read, off)
	return d.ReaderAt.ReadAt(ctx, p, off)
}

// stretch is how many bytes are between saves: twice as many as the head of the sample has.
const stretch = 8 << 10

func indexOf(ctx context.Context, in formats.Input, shelf *nodestest.Shelf, dies bool) (formats.Index, *dying, error) {
	return indexBy(ctx, &teehistorian.Format, stretch, in, shelf, dies)
}

// indexBy makes the index of in, of which it keeps every stretch of so many bytes, and dies after
// the first if it is to.
func indexBy(ctx context.Context, format *formats.Format, stretch int64, in formats.Input, shelf *nodestest.Shelf, dies bool) (formats.Index, *dying, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := &dying{ReaderAt: in.ReaderAt, Shelf: shelf}
	if dies {
		d.end = cancel
	}
	formatstest.Keep(&in, shelf)
	in.ReaderAt = d
	c := cache.New(1<<20, d)
	defer c.Close()
	s := recordings.NewStore(c, slog.New(slog.DiscardHandler), func(struct{}) recordings.Source {
		return recordings.Source{Format: format, Input: in}
	})
	s.KeepEvery(stretch)
	o, err := s.Get(ctx, struct{}{})
	if err != nil {
		return nil, d, err
	}
	x, err := o.Index(ctx)
	return x, d, err
}

// version returns a recording as it is after so many changes.
func version(b []byte, changes int64) formats.Input {
	in := formatstest.BytesInput("x", b, time.Unix(1, 0))
	in.Stamp = formats.Stamp{Size: in.Size, Changed: changes}
	return in
}

func reload(t *testing.T, size int64) formats.Input {
	t.Helper()
	b, err := os.ReadFile("../../testdata/archive/teehistorian/reload-20.1.teehistorian")
	if err != nil {
		t.Fatal(err)
	}
	in := version(b, 1)
	if size == formats.UnknownSize {
		in.Size = size
		in.Measure = func(context.Context) (int64, error) { return int64(len(b)), nil }
	}
	return in
}

// keptOf returns what is saved of a recording.
func keptOf(t *testing.T, shelf *nodestest.Shelf) []byte {
	t.Helper()
	b, ok := shelf.Load(t.Context(), formatstest.Key+"/teehistorian-0")
	if !ok {
		t.Fatal("nothing was saved")
	}
	return b
}

// A pass that dies is gone on with where it last saved what it had, and its index is the same as in
// one go.
func TestInterrupted(t *testing.T) {
	for name, size := range map[string]int64{"plain": 0, "stream": formats.UnknownSize} {
		t.Run(name, func(t *testing.T) {
			in, once, shelf := reload(t, size), new(nodestest.Shelf), new(nodestest.Shelf)
			whole, _, err := indexOf(t.Context(), in, once, false)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := indexOf(t.Context(), in, shelf, true); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if x, d, err := indexOf(cache.SavedOnly(t.Context()), in, shelf, false); err == nil || len(d.read) > 2 {
				t.Errorf("the index of a part is shown as %v, after reads at %d", x, d.read)
			}
			x, d, err := indexOf(t.Context(), in, shelf, false)
			if err != nil {
				t.Fatal(err)
			}
			head := headEnd(t, in)
			if slices.ContainsFunc(d.read, func(off int64) bool { return off >= head && off < stretch-100 }) {
				t.Errorf("reads again what it has: at %d", d.read)
			}
			if !slices.Equal(x.Append(nil), whole.Append(nil)) || !slices.Equal(keptOf(t, shelf), keptOf(t, once)) {
				t.Error("another index than in one go")
			}
		})
	}
}

// A format of chunks goes on behind the last one that was whole, from what it has in hand between
// two frames: of a pass that died, and of a recording that has grown.
func TestInterruptedChunks(t *testing.T) {
	nodestest.Long(t)
	butters, err := os.ReadFile("../../testdata/archive/butter/arena_private_bones_v3_zstd7.butter")
	if err != nil {
		t.Fatal(err)
	}
	replay := replayText(1000)
	butterFormat := echo.NewButter(echo.Options{})
	for name, c := range map[string]struct {
		format         *formats.Format
		b              []byte
		stretch        int64
		first, settled int64 // bytes of a chunk that is not read again
	}{
		"butter":     {&butterFormat, butters, 64 << 10, 31 << 10, 50 << 10},
		"text":       {&echo.Replay, replay, 512 << 10, 80 << 10, 250 << 10},
		"packed":     {&echo.Replay, zipped(t, zip.Deflate, replay), 256 << 10, 0, 0},
		"zip stored": {&echo.Replay, zipped(t, zip.Store, replay), 512 << 10, 0, 0},
	} {
		index := func(ctx context.Context, in formats.Input, shelf *nodestest.Shelf, dies bool) ([]byte, *dying, error) {
			x, d, err := indexBy(ctx, c.format, c.stretch, in, shelf, dies)
			if err != nil {
				return nil, d, err
			}
			return x.Append(nil), d, nil
		}
		goesOn := func(what string, in formats.Input, shelf *nodestest.Shelf) {
			want, _, err := index(t.Context(), in, new(nodestest.Shelf), false)
			if err != nil {
				t.Fatal(err)
			}
			got, d, err := index(t.Context(), in, shelf, false)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %s: another index than in one go, %v", name, what, err)
			}
			if slices.ContainsFunc(d.read, func(off int64) bool { return off >= c.first && off < c.settled }) {
				t.Errorf("%s, %s: reads again what it has: at %d", name, what, d.read)
			}
		}
		in, shelf := version(c.b, 1), new(nodestest.Shelf)
		if _, _, err := index(t.Context(), in, shelf, true); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if x, _, err := index(cache.SavedOnly(t.Context()), in, shelf, false); err == nil {
			t.Errorf("%s: the index of a part is shown as %d bytes", name, len(x))
		}
		goesOn("killed", in, shelf)
		grown := new(nodestest.Shelf)
		if _, _, err := index(t.Context(), version(c.b[:len(c.b)*2/3], 1), grown, false); err != nil {
			t.Fatal(err)
		}
		goesOn("grown", version(c.b, 2), grown)
	}
}

// replayText returns so many frames of the text of an .echoreplay, of a kilobyte each.
func replayText(frames int) (text []byte) {
	random := rand.New(rand.NewPCG(1, 1))
	for n := range frames {
		text = fmt.Appendf(text, "2024/01/01 00:00:%02d.%03d\t{\"game_status\":\"%d\",\"x\":\"", n/100, n%100*10, n/70)
		for range 60 {
			text = fmt.Appendf(text, "%016x", random.Uint64())
		}
		text = append(text, "\"}\r\n"...)
	}
	return text
}

// zipped returns a zip of one member.
func zipped(t *testing.T, method uint16, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "x.echoreplay", Method: method})
	if err == nil {
		_, err = w.Write(b)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What is kept of a part is worth as much as the bytes of the recording that it was made of.
func TestInterruptedChanges(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b []byte) []byte
		anew   bool
	}{
		"touched":                   {func(b []byte) []byte { return b }, false},
		"grown":                     {func(b []byte) []byte { return append(b, 0x40) }, false},
		"cut to where the pass was": {func(b []byte) []byte { return b[:stretch] }, false},
		"cut before":                {func(b []byte) []byte { return b[:stretch-1000] }, true},
		"other":                     {func(b []byte) []byte { b[stretch-1000] ^= 1; return b }, true},
	} {
		t.Run(name, func(t *testing.T) {
			in, shelf := reload(t, 0), new(nodestest.Shelf)
			if _, _, err := indexOf(t.Context(), in, shelf, true); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			b := make([]byte, in.Size)
			if _, err := in.ReadAt(t.Context(), b, 0); err != nil {
				t.Fatal(err)
			}
			now := version(c.change(b), 2)
			whole, _, err := indexOf(t.Context(), now, new(nodestest.Shelf), false)
			if err != nil {
				t.Fatal(err)
			}
			x, d, err := indexOf(t.Context(), now, shelf, false)
			if err != nil || !slices.Equal(x.Append(nil), whole.Append(nil)) {
				t.Errorf("another index than in one go, %v", err)
			}
			if anew := slices.Contains(d.read, headEnd(t, in)); anew != c.anew {
				t.Errorf("begun anew: %t, reads at %d", anew, d.read)
			}
		})
	}
}

// headEnd returns where the records of a recording begin.
func headEnd(t *testing.T, in formats.Input) int64 {
	t.Helper()
	b := make([]byte, stretch)
	if _, err := in.ReadAt(t.Context(), b, 0); err != nil {
		t.Fatal(err)
	}
	return int64(16 + bytes.IndexByte(b[16:], 0) + 1)
}

// What is kept of a part is only a claim, as every index is.
func TestForgedPart(t *testing.T) {
	in, sound := reload(t, 0), new(nodestest.Shelf)
	if _, _, err := indexOf(t.Context(), in, sound, true); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for run := range uint64(nodestest.Times(300, 20)) {
		shelf := new(nodestest.Shelf)
		shelf.Save(formatstest.Key+"/teehistorian-0", nodestest.Mutate(rand.New(rand.NewPCG(run, 0)), keptOf(t, sound)))
		if _, _, err := indexOf(t.Context(), in, shelf, false); err != nil && strings.Contains(err.Error(), "panic") {
			t.Errorf("run %d: %v", run, err)
		}
	}
}
