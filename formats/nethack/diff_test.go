package nethack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// applyDiff is what rebuilding does with one diff.
func applyDiff(base, diff []byte) ([]byte, error) {
	var p patch
	if err := p.decode(diff, len(base)); err != nil {
		return nil, err
	}
	out, _ := p.apply(bytes.Clone(base), nil)
	return out, p.verify(out)
}

// TestDiffVectors compares single diffs with what the game's own decoder says of them.
func TestDiffVectors(t *testing.T) {
	classes := map[string]error{
		"truncated": errTruncated, "unknown-command": errUnknown, "unsupported-command": errUnsupported,
		"copy-before-start": errCopyStart, "copy-past-end": errCopyEnd, "adjust-past-end": errAdjust,
		"bad-checksum": errChecksum, "seek-before-start": errSeek,
	}
	b, err := os.ReadFile("../../testdata/nethack/diff_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name, Format, Result, Error, Base string
		BaseLen                           int    `json:"base_len"`
		BaseHex                           string `json:"base_hex"`
		DiffHex                           string `json:"diff_hex"`
		OutLen                            int    `json:"out_len"`
		OutSHA256                         string `json:"out_sha256"`
	}
	if err := json.Unmarshal(b, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 50 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			base, err := hex.DecodeString(v.BaseHex)
			if err != nil {
				t.Fatal(err)
			}
			if v.Base == "pattern" {
				base = make([]byte, v.BaseLen)
				for i := range base {
					base[i] = byte(7*i + 3)
				}
			}
			diff, err := hex.DecodeString(v.DiffHex)
			if err != nil {
				t.Fatal(err)
			}
			if got := formatOf(diff).String(); got != v.Format {
				t.Errorf("format %s, want %s", got, v.Format)
			}
			out, err := applyDiff(base, diff)
			if v.Result == "error" {
				if want := classes[v.Error]; want == nil || !errors.Is(err, want) {
					t.Errorf("error %v, want %s", err, v.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if sum := sha256.Sum256(out); len(out) != v.OutLen || hex.EncodeToString(sum[:]) != v.OutSHA256 {
				t.Errorf("%d bytes with sum %x, want %d with %s", len(out), sum, v.OutLen, v.OutSHA256)
			}
		})
	}
}

// drawOps draws a diff that its format can express, for a base of the given length.
func drawOps(t *rapid.T, f diffFormat, base []byte) []op {
	var ops []op
	src, size, anchor := 0, 0, 0
	for range rapid.IntRange(0, 30).Draw(t, "commands") {
		left := max(len(base)-src, 0)
		o := op{widely: rapid.IntRange(0, 3).Draw(t, "widely") / 3}
		some := func(most int) int {
			return min(rapid.SampledFrom([]int{0, 1, 2, 15, 63, 64, 300, 5000, 20000}).Draw(t, "n"), most)
		}
		kinds := []int{cmdCopy, cmdEdit, cmdSeek}
		if f == beta3 {
			kinds = append(kinds, cmdCopyEdit, cmdCoord, cmdErase, cmdIncrement, cmdCopyEdit1)
		} else if f == beta2 {
			kinds = append(kinds, cmdCopyEdit)
		}
		switch o.cmd = rapid.SampledFrom(kinds).Draw(t, "cmd"); o.cmd {
		case cmdCopy:
			o.n = some(left)
			anchor = size + o.n
		case cmdEdit:
			o.data = rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "data")
		case cmdSeek:
			o.n = rapid.IntRange(src-len(base)-10, src).Draw(t, "seek")
			if src -= o.n; o.n == 0 {
				continue
			}
		case cmdCopyEdit:
			o.n, o.data = some(left), rapid.SliceOfN(rapid.Byte(), 1, 4).Draw(t, "data")
		case cmdCopyEdit1:
			o.n, o.data = some(left), []byte{byte(size)}
		case cmdErase:
			o.n, o.arg2 = some(left), rapid.IntRange(3, 10).Draw(t, "zeros")
		case cmdIncrement:
			if left == 0 {
				continue
			}
			o.n = some(left - 1)
		case cmdCoord:
			gap := coordGap(anchor, size)
			if left < gap+2 {
				continue
			}
			o.n = min(rapid.IntRange(0, 3).Draw(t, "monsters"), (left-gap-2)/monsterSize)
			o.arg2 = rapid.IntRange(0, 7).Draw(t, "direction")
		}
		ops = append(ops, o)
		before := size
		size = len(run(base, ops))
		if o.cmd != cmdSeek {
			src += size - before
		}
	}
	return ops
}

// TestDiffs encodes random diffs in each format and decodes them.
func TestDiffs(t *testing.T) {
	for _, f := range []diffFormat{beta1, beta2, beta3} {
		t.Run(f.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				base := make([]byte, rapid.SampledFrom([]int{0, 1, 50, 300, 30000}).Draw(t, "base"))
				rng := rand.New(rand.NewPCG(uint64(len(base)), 1))
				for i := range base {
					base[i] = byte(rng.Uint32())
				}
				ops := drawOps(t, f, base)
				want := run(base, ops)
				diff := encodeDiff(f, ops, crc32.ChecksumIEEE(want))
				got, err := applyDiff(base, diff)
				if err != nil {
					t.Fatalf("%v: %x of %v", err, diff, ops)
				}
				if !bytes.Equal(got, want) {
					t.Fatalf("%x makes another save of %v", diff, ops)
				}
			})
		})
	}
}

// TestMovesInPlace tries moves that overlap, in every order, within one buffer.
func TestMovesInPlace(t *testing.T) {
	base := []byte("abcdefghijklmnopqrstuvwxyz")
	cases := map[string][]op{
		"insert":             {{cmd: cmdCopy, n: 5}, {cmd: cmdEdit, data: []byte("123")}, {cmd: cmdSeek, n: 3}, {cmd: cmdCopy, n: 21}},
		"delete":             {{cmd: cmdCopy, n: 5}, {cmd: cmdSeek, n: -3}, {cmd: cmdCopy, n: 18}},
		"insert then delete": {{cmd: cmdEdit, data: []byte("1")}, {cmd: cmdSeek, n: 1}, {cmd: cmdCopy, n: 8}, {cmd: cmdSeek, n: -4}, {cmd: cmdCopy, n: 14}},
		"delete then insert": {{cmd: cmdSeek, n: -4}, {cmd: cmdCopy, n: 8}, {cmd: cmdSeek, n: 11}, {cmd: cmdCopy, n: 20}},
		"swap halves":        {{cmd: cmdSeek, n: -13}, {cmd: cmdCopy, n: 13}, {cmd: cmdSeek, n: 26}, {cmd: cmdCopy, n: 13}},
		"repeat":             {{cmd: cmdCopy, n: 26}, {cmd: cmdSeek, n: 26}, {cmd: cmdCopy, n: 26}, {cmd: cmdSeek, n: 20}, {cmd: cmdCopy, n: 9}},
	}
	for name, ops := range cases {
		t.Run(name, func(t *testing.T) {
			want := run(base, ops)
			got, err := applyDiff(base, encodeDiff(beta3, ops, crc32.ChecksumIEEE(want)))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		})
	}
}

// TestDiffLimits holds against diffs that ask for much.
func TestDiffLimits(t *testing.T) {
	base := make([]byte, 1<<20)
	var ops []op
	for range maxBlob>>20 + 1 {
		ops = append(ops, op{cmd: cmdCopy, n: 1 << 20}, op{cmd: cmdSeek, n: 1 << 20})
	}
	for _, f := range []diffFormat{beta1, beta2, beta3} {
		if f == beta1 {
			continue // a seek of beta1 is 14 bits wide, run would be slow
		}
		var p patch
		if err := p.decode(encodeDiff(f, ops, 0), len(base)); !errors.Is(err, errTooLong) {
			t.Errorf("%v: %v, want %v", f, err, errTooLong)
		}
	}
	var many patch
	many.reset(0)
	for made := 0; many.err == nil && made <= maxEdits; made++ {
		many.literal(1, zeros)
	}
	if !errors.Is(many.err, errTooMany) {
		t.Errorf("more than %d commands: %v, want %v", maxEdits, many.err, errTooMany)
	}
	wide := mdiffWriter{b: []byte{0x01, 0x43}}
	for i := range wide.order {
		wide.order[i] = byte(i)
	}
	wide.command(cmdCopy, 1, 0, 8)
	if _, err := applyDiff(base, wide.b); !errors.Is(err, errWide) {
		t.Errorf("an argument of 70 bits: %v, want %v", err, errWide)
	}
	far := mdiffWriter{b: []byte{0x01, 0x43}, order: wide.order}
	for i := range far.order {
		far.order[i] = byte(i)
	}
	for range 1<<9 + 1 {
		far.command(cmdSeek, 1<<54, 0, 0)
	}
	if _, err := applyDiff(base, far.b); !errors.Is(err, errSeek) {
		t.Errorf("a seek beyond 2^63: %v, want %v", err, errSeek)
	}
}

func fuzzDiff(f *testing.F, header []byte) {
	b, err := os.ReadFile("../../testdata/nethack/diff_vectors.json")
	if err != nil {
		f.Fatal(err)
	}
	var vectors []struct {
		DiffHex string `json:"diff_hex"`
	}
	if err := json.Unmarshal(b, &vectors); err != nil {
		f.Fatal(err)
	}
	for _, v := range vectors {
		diff, _ := hex.DecodeString(v.DiffHex)
		f.Add(bytes.TrimPrefix(diff, header), uint16(300))
	}
	f.Fuzz(func(t *testing.T, diff []byte, size uint16) {
		base := testSave(int(size) + minSave)
		kept := bytes.Clone(base)
		diff = append(bytes.Clone(header), diff...)
		var p patch
		if err := p.decode(diff, len(base)); err != nil {
			return
		}
		if p.size > 1<<20 {
			return
		}
		want := plainApply(&p, base)
		if !bytes.Equal(base, kept) {
			t.Fatal("the base changed")
		}
		if got, _ := p.apply(base, nil); !bytes.Equal(got, want) {
			t.Fatalf("in place: %x, else %x", got, want)
		}
	})
}

// plainApply does what apply does, into a second buffer.
func plainApply(p *patch, base []byte) []byte {
	out := make([]byte, p.size)
	copy(out, base)
	for _, m := range p.moves {
		copy(out[m.dst:m.dst+m.n], base[m.src:])
	}
	for _, l := range p.literals {
		clear(out[l.dst : l.dst+l.n])
		if l.at != zeros {
			copy(out[l.dst:], p.diff[l.at:][:l.n])
		}
	}
	for _, a := range p.adjusts {
		out[a.dst] = base[a.src] + a.delta
	}
	return out
}

func FuzzBeta1(f *testing.F) { fuzzDiff(f, nil) }
func FuzzBeta2(f *testing.F) { fuzzDiff(f, []byte{0x01, 0x40}) }
func FuzzBeta3(f *testing.F) { fuzzDiff(f, []byte{0x01, 0x43}) }
