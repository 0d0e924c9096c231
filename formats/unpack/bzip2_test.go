package unpack

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"recfs/formats/internal/formatstest"
	"recfs/nodes"
)

// Bzip2Samples are by bzip2 -1: three blocks of 100,000 bytes, and one of runs.
var Bzip2Samples = map[string]struct{ Packed, Content string }{
	"blocks": {
		"QlpoMTFBWSZTWcZ3UcsAYaMBgAEkBAAgAFBmmgUoMoSgtIlBdQlBdQlBeYoKyTKazXwI1ZgBhowMAAkgIAEAAoM00ClBhEoLaEoLqEoLqEoLzF" +
			"BWSZTWZYJz5oAJxSBgAEkBAAgAFQUoApSep0SFRtEhUdEhUZJCo8XckU4UJDQ1r3SA",
		strings.Repeat("lift", 70_000),
	},
	"runs": {
		"QlpoMTFBWSZTWW5YbQQAnDlGAMAACgAQAAAIIABUM0AUqMe2lBUfJIkrNzCoKjmKCskymsv1kh4gAGgmAAYAAABBAAEFIEGlQVGJUFRzFBWSZT" +
			"WdMMQ3sADczABMAAAAEACCAAMMwJqmmUUJtUihPF3JFOFCQlwlw4g=",
		"REC" + string(make([]byte, 12_000_000)),
	},
}

// TestBzip2 gives every byte of a sound file, and of a damaged one none that was not compressed.
func TestBzip2(t *testing.T) {
	for name, s := range Bzip2Samples {
		packed, err := base64.StdEncoding.DecodeString(s.Packed)
		if err != nil {
			t.Fatal(err)
		}
		unpack := func(b []byte, window int64) (string, error) {
			r, _, err := openBzip2(bufio.NewReader(bytes.NewReader(b)), window)
			if err != nil {
				t.Fatal(err)
			}
			out, err := io.ReadAll(r)
			return string(out), err
		}
		if got, err := unpack(packed, bzip2Window); err != nil || got != s.Content {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if got, err := unpack(packed, bzip2First); name == "runs" && (got != "" || !needsWindow(err)) {
			t.Errorf("%s in a small window: %d bytes, %v", name, len(got), err)
		}

		sizes := map[int]bool{}
		check := func(b []byte, what string, at int) {
			got, err := unpack(b, bzip2Window)
			if at%7 == 0 {
				sameBzip2(t, b, fmt.Sprintf("%s, %s %d", name, what, at))
			}
			if !strings.HasPrefix(s.Content, got) || err == nil && got != s.Content {
				t.Fatalf("%s, %s %d: %d bytes that differ, %v", name, what, at, len(got), err)
			}
			sizes[len(got)] = true
		}
		step := 1
		if name == "runs" || testing.Short() {
			step = 53
		}
		for bit := 0; bit < 8*len(packed); bit += step {
			b := bytes.Clone(packed)
			b[bit/8] ^= 1 << (bit % 8)
			check(b, "bit", bit)
		}
		for n := 0; n < len(packed); n += step {
			check(packed[:n], "cut at", n)
		}
		// Nothing, one block, two, and all but what ends the file.
		if len(sizes) != 4 {
			t.Errorf("%s: sizes of damaged files %v", name, sizes)
		}
	}
}

// sameBzip2 compares what a decoder gives that begins with blocks at the same time to what one gives that does not.
func sameBzip2(t *testing.T, b []byte, what string) {
	t.Helper()
	want, wantErr := decodeBzip2(t, b, bzip2Window)
	if got, err := decodeBzip2(t, b, bzip2First); got != want || err.Error() != wantErr.Error() {
		t.Fatalf("%s: %d bytes, %v; one block after the other %d, %v", what, len(got), err, len(want), wantErr)
	}
}

// decodeBzip2 returns what a decoder gives up to the error after the last byte.
func decodeBzip2(t *testing.T, b []byte, window int64) (string, error) {
	t.Helper()
	d := newDecoder(Bzip2, nodes.BytesContent(b), int64(len(b)))
	d.window = window
	defer d.close(false)
	var out []byte
	for p := make([]byte, frameSize); ; {
		n, err := d.read(t.Context(), p)
		out = append(out, p[:n]...)
		if err != nil {
			return string(out), err
		}
	}
}

// TestBzip2Blocks decompresses blocks at the same time, of all streams in a file and at all bits, and leaves none
// of them to the decoder that reads one after the other.
func TestBzip2Blocks(t *testing.T) {
	packed, err := base64.StdEncoding.DecodeString(Bzip2Samples["blocks"].Packed)
	if err != nil {
		t.Fatal(err)
	}
	many, level := bytes.Repeat(packed, 9), bytes.Clone(packed)
	level[3] = '9'
	for name, b := range map[string][]byte{"one stream": packed, "nine": many, "two levels": append(level, packed...)} {
		readBlocks(t, name, b, strings.Repeat(Bzip2Samples["blocks"].Content, len(b)/len(packed)))
	}
}

// TestBzip2LargeBlocks has a stream of twenty blocks that are decompressed on their own.
func TestBzip2LargeBlocks(t *testing.T) {
	tool, err := exec.LookPath("bzip2")
	if err != nil {
		t.Skip("no bzip2: ", err)
	}
	content := make([]byte, 2_000_000)
	rand.NewChaCha8([32]byte{}).Read(content)
	cmd := exec.CommandContext(t.Context(), tool, "-1", "-c")
	cmd.Stdin = bytes.NewReader(content)
	packed, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	readBlocks(t, "whole", packed, string(content))
	for _, at := range []int{1000, len(packed) / 2, len(packed) - 3} {
		b := bytes.Clone(packed)
		b[at] ^= 4
		sameBzip2(t, b, fmt.Sprint("another byte at ", at))
		sameBzip2(t, packed[:at], fmt.Sprint("cut at ", at))
	}
}

// readBlocks expects what blocks give that are decompressed at the same time.
func readBlocks(t *testing.T, name string, packed []byte, want string) {
	t.Helper()
	r, done, err := openBzip2(bufio.NewReaderSize(bytes.NewReader(packed), 16), bzip2First)
	if err != nil {
		t.Fatal(err)
	}
	defer done(true)
	if got, err := io.ReadAll(r); err != nil || string(got) != want {
		t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(want), err)
	}
}

// TestBzip2Decode decompresses sound files without the decoder of the standard library.
func TestBzip2Decode(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 300_000)
	for i := range random {
		random[i] = byte(rnd.Uint32())
	}
	contents := []string{string(random), string(formatstest.Compressible(2_000_000)), "a", strings.Repeat("ab", 150_000), strings.Repeat("aaaab", 50_000) + string(random[:20_000])}
	var packed [][]byte
	for _, s := range Bzip2Samples {
		if b, err := base64.StdEncoding.DecodeString(s.Packed); err == nil && len(s.Content) < 1<<20 {
			contents, packed = append(contents, s.Content), append(packed, b)
		}
	}
	if tool, err := exec.LookPath("bzip2"); err == nil {
		for i, content := range contents[:len(contents)-len(packed)] {
			cmd := exec.CommandContext(t.Context(), tool, "-c", fmt.Sprintf("-%d", 1+8*(i%2)))
			cmd.Stdin = strings.NewReader(content)
			b, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			packed = slices.Insert(packed, i, b)
		}
	} else {
		contents = contents[len(contents)-len(packed):]
	}
	for i, b := range packed {
		in := bzip2Scanner{r: bufio.NewReader(bytes.NewReader(b))}
		var got []byte
		for {
			stream, err := in.next()
			if err == io.EOF {
				break
			}
			m := unpackBzip2(stream)
			if err != nil || m.err != nil {
				t.Fatalf("content %d, at %d: %v, %v", i, len(got), err, m.err)
			}
			got = append(got, m.b...)
		}
		if string(got) != contents[i] {
			t.Errorf("content %d: %d bytes that differ, want %d", i, len(got), len(contents[i]))
		}
	}
}

// TestBzip2Lane follows a chain that has nearly all of its bytes in one piece.
func TestBzip2Lane(t *testing.T) {
	const n = bzip2LaneLeast
	d := &bzip2Decoder{chain: make([]uint32, n), from: 5}
	var order []uint32 // of the places: first those where pieces begin
	for piece := range bzip2Pieces {
		order = append(order, d.place(piece))
	}
	for at := range uint32(n) {
		if !slices.Contains(order[:bzip2Pieces], at) {
			order = append(order, at)
		}
	}
	var want []byte
	for i, at := range order {
		c := byte(i * 7)
		d.chain[at] = order[(i+1)%n]<<8 | uint32(c)
		want = append(want, c)
	}
	if d.follow() {
		t.Error("there was room for a piece of all bytes")
	}
	d.undo()
	if !bytes.Equal(d.plain, want) {
		t.Errorf("%d bytes that differ, want %d", len(d.plain), len(want))
	}
}
