package unpack

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"io"
	"strings"
	"testing"

	"recfs/nodes/nodestest"
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
		var out bytes.Buffer
		unpack := func(b []byte, window int64) ([]byte, error) {
			r, release, err := openBzip2(bufio.NewReader(bytes.NewReader(b)), window)
			if err != nil {
				t.Fatal(err)
			}
			defer release(false)
			out.Reset()
			_, err = out.ReadFrom(r)
			return out.Bytes(), err
		}
		if got, err := unpack(packed, bzip2Window); err != nil || string(got) != s.Content {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if got, err := unpack(packed, bzip2First); name == "runs" && (len(got) > 0 || !needsWindow(err)) {
			t.Errorf("%s in a small window: %d bytes, %v", name, len(got), err)
		}

		sizes := map[int]bool{}
		check := func(b []byte, what string, at int) {
			got, err := unpack(b, bzip2First)
			if needsWindow(err) {
				got, err = unpack(b, bzip2Window)
			}
			if !strings.HasPrefix(s.Content, string(got)) || err == nil && len(got) != len(s.Content) {
				t.Fatalf("%s, %s %d: %d bytes that differ, %v", name, what, at, len(got), err)
			}
			sizes[len(got)] = true
		}
		step := 3
		if name == "runs" || testing.Short() {
			step = nodestest.Times(97, 211)
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
		if len(sizes) != 4 && !testing.Short() {
			t.Errorf("%s: sizes of damaged files %v", name, sizes)
		}
	}
}

// TestBehindBzip2 leaves out what stands behind a file, as bzip2(1) does, unless it may be one that
// is cut.
func TestBehindBzip2(t *testing.T) {
	content := strings.Repeat("lift", 250)
	packed, err := base64.StdEncoding.DecodeString("QlpoMTFBWSZTWRwcXOAAAXaBgAEkBAAgADDNNBNUGSDZB0g6QeLuSKcKEgODi5wA")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{packed, bytes.Repeat(packed, 2)} {
		for behind, sound := range map[string]bool{
			"": true, "\n": true, "\x00": true, "garbage": true, "Bad": true, "BZ2": true, "BZh0": true, strings.Repeat("\x00", 600): true,
			"B": false, "BZ": false, "BZh": false, "BZh9": false, "BZh9garbage": false, string(packed[:len(packed)-1]): false,
		} {
			r, _, err := openBzip2(bufio.NewReader(strings.NewReader(string(b)+behind)), bzip2Window)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if want := strings.Repeat(content, len(b)/len(packed)); !strings.HasPrefix(string(got), want) || (err == nil) != sound {
				t.Errorf("%d bytes of %d before %.10q: %v", len(got), len(want), behind, err)
			}
		}
	}
	// Nor does it hide damage before it.
	for cut := range nodestest.Times(20, 3) {
		r, _, err := openBzip2(bufio.NewReader(strings.NewReader(string(packed[:len(packed)-1-cut])+"garbage")), bzip2Window)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(r); err == nil {
			t.Errorf("without the last %d bytes: no error", cut+1)
		}
	}
}
