package formats

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"
)

// pass reads b as one that makes an index does: parts of it, some twice, not
// in order, and beyond its end.
func pass(t *testing.T, b []byte, reads ...[2]int64) *Tally {
	t.Helper()
	tally := NewTally(BytesReader(b))
	for _, at := range reads {
		p := make([]byte, at[1])
		n, err := tally.ReadAt(t.Context(), p, at[0])
		if want := b[min(at[0], int64(len(b))):min(at[0]+at[1], int64(len(b)))]; !bytes.Equal(p[:n], want) || n < len(p) && err != io.EOF {
			t.Errorf("%d bytes at %d: %q, %v", at[1], at[0], p[:n], err)
		}
	}
	return tally
}

func sealed(t *testing.T, tally *Tally, stamp Stamp, length int64) Seal {
	t.Helper()
	s, err := tally.Seal(t.Context(), stamp, length)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSealIsOfAllBytes(t *testing.T) {
	b := bytes.Repeat([]byte("some bytes of a recording, "), 40_000)
	size := int64(len(b))
	want := sealed(t, pass(t, b), Stamp{}, size)
	if want.Length != size {
		t.Errorf("the seal is of %d bytes, not %d", want.Length, size)
	}
	for name, reads := range map[string][][2]int64{
		"in order":        {{0, 100}, {100, size - 100}},
		"with gaps":       {{50, 10}, {500_000, 20}, {size - 5, 5}},
		"with overlaps":   {{0, 100}, {50, 100}, {20, 10}, {140, 1000}},
		"not in order":    {{700_000, 100}, {0, 100}, {300_000, 100}},
		"beyond the end":  {{size - 10, 100}, {size + 10, 10}},
		"nothing at all":  {},
		"more than asked": {{0, size}},
	} {
		if got := sealed(t, pass(t, b, reads...), Stamp{}, size); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestSealFits(t *testing.T) {
	old := []byte("the bytes that an index was made of")
	stamp := Stamp{Size: int64(len(old)), Modified: 1, Changed: 2, Born: 3, Inode: 4}
	seal := sealed(t, pass(t, old), stamp, stamp.Size)
	if got, rest, ok := CutSeal(append(seal.Append(nil), "rest"...)); !ok || got != seal || string(rest) != "rest" {
		t.Errorf("saved: %+v, %q, %v", got, rest, ok)
	}
	if _, _, ok := CutSeal(make([]byte, SealSize-1)); ok {
		t.Error("a seal of too few bytes")
	}
	for _, c := range []struct {
		name    string
		content string
		change  func(*Stamp)
		want    Fit
	}{
		{"unchanged, and not read", "", func(*Stamp) {}, Same},
		{"another mode", string(old), func(s *Stamp) { s.Changed++ }, Same},
		{"touched", string(old), func(s *Stamp) { s.Modified++ }, Same},
		{"copied", string(old), func(s *Stamp) { s.Inode, s.Born, s.Changed = 5, 6, 7 }, Same},
		{"of an unknown change time", "The" + string(old[3:]), func(s *Stamp) { s.Changed = 0 }, Other},
		{"rewritten with its times", "The" + string(old[3:]), func(s *Stamp) { s.Changed++ }, Other},
		{"grown", string(old) + " and more", func(s *Stamp) { s.Changed++; s.Size += 9 }, Grown},
		{"rewritten and longer", "The" + string(old[3:]) + " and more", func(s *Stamp) { s.Changed++; s.Size += 9 }, Other},
		{"cut", string(old[:10]), func(s *Stamp) { s.Changed++; s.Size = 10 }, Other},
	} {
		src := bytesInput("x", []byte(c.content), time.Unix(1, 0))
		src.Stamp = stamp
		c.change(&src.Stamp)
		if got, _, err := seal.Fit(t.Context(), src); got != c.want || err != nil {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
		if src.Size = UnknownSize; c.name == "cut" {
			if got, _, err := seal.Fit(t.Context(), src); got != Other || err != nil {
				t.Errorf("%s, size unknown: %v, %v", c.name, got, err)
			}
		}
	}
}

// The pass over what was added goes on with the checksum of what was there.
func TestSealGoesOn(t *testing.T) {
	b := bytes.Repeat([]byte("a line\n"), 1000)
	seal := sealed(t, pass(t, b[:3000]), Stamp{}, 3000)
	_, tally, err := seal.Fit(t.Context(), bytesInput("x", b, time.Time{}))
	if err != nil || tally == nil {
		t.Fatal(err)
	}
	if got, want := sealed(t, tally, Stamp{}, 7000), sealed(t, pass(t, b), Stamp{}, 7000); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := seal.Fit(ctx, bytesInput("x", b, time.Time{})); !errors.Is(err, context.Canceled) {
		t.Errorf("after its context ended: %v", err)
	}
}

func bytesInput(name string, b []byte, modified time.Time) Input {
	return Input{ReaderAt: BytesReader(b), Name: name, Size: int64(len(b)), Stored: int64(len(b)), ModTime: modified}
}
