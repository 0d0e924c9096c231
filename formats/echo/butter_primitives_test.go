package echo

import (
	"math"
	"math/rand/v2"
	"testing"

	"recfs/formats/internal/wire"
)

// The vectors of docs/formats/butter.md section 17.

func TestQuat(t *testing.T) {
	for _, v := range []struct {
		bytes [4]byte
		want  Quat
	}{
		{[4]byte{0xff, 0xf7, 0xdf, 0x7f}, Quat{-0.00069120829, -0.00069120829, -0.00069120829, 0.99999928}},
		{[4]byte{0x02, 0xf8, 0xdf, 0x7f}, Quat{0.00069120829, -0.00069120829, 0.99999928, -0.00069120829}},
		{[4]byte{0x03, 0x00, 0xe8, 0x7f}, Quat{-0.70710677, 0.17764071, -0.00069120829, 0.68442917}},
		{[4]byte{}, Identity},
	} {
		if got := quat(wire.NewCursor(butterName, v.bytes[:], 0)); got != v.want {
			t.Errorf("% x: %v, want %v", v.bytes, got, v.want)
		}
	}
}

func TestButterVectors(t *testing.T) {
	near := func(a, b Vec3) bool {
		for i := range a {
			if math.Abs(float64(a[i]-b[i])) > 1e-7 {
				return false
			}
		}
		return true
	}
	forward, left, up := Quat{-0.70710677, 0.17764071, -0.00069120829, 0.68442917}.Vectors()
	if !near(forward, Vec3{0.24414247, 0.96768343, -0.06311238}) || !near(left, Vec3{0.93688655, -0.25216803, -0.2421874}) ||
		!near(up, Vec3{-0.25027573, -9.5e-7, -0.96817458}) {
		t.Errorf("got %v %v %v", forward, left, up)
	}
	forward, left, up = Identity.Vectors()
	if forward != (Vec3{0, 0, 1}) || left != (Vec3{1, 0, 0}) || up != (Vec3{0, 1, 0}) {
		t.Errorf("identity: %v %v %v", forward, left, up)
	}
}

// TestPassNumbers passes over numbers, and holds where they end to what reads them, also where they
// end behind the bytes.
func TestPassNumbers(t *testing.T) {
	firsts := []byte{0, 1, 127, 128, 239, 240, 241, 248, 249, 250, 255}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b := make([]byte, rnd.IntN(100))
		for i := range b {
			if b[i] = byte(rnd.IntN(241)); rnd.IntN(6) == 0 {
				b[i] = firsts[rnd.IntN(len(firsts))]
			}
		}
		n := rnd.IntN(70)
		c := wire.NewCursor(butterName, b, 0)
		for range n {
			uvarint(c)
		}
		if got := uvarintsLen(b, n); c.Err() == nil && got != c.Pos() || (c.Err() != nil) != (got > len(b)) {
			t.Fatalf("%d numbers of % x: %d bytes, want %d, %v", n, b, got, c.Pos(), c.Err())
		}
	}
}

func TestVarint(t *testing.T) {
	for _, v := range []struct {
		bytes []byte
		want  int64
		value float32
	}{
		{[]byte{0}, 0, 0},
		{[]byte{1}, -1, -0.000244140625},
		{[]byte{2}, 1, 0.000244140625},
		{[]byte{0xf0}, 120, 0.029296875},
		{[]byte{0xf1, 0}, 120, 0.029296875},
		{[]byte{0xf1, 0x0f}, -128, -0.03125},
		{[]byte{0xf8, 0xff}, -1144, -0.279296875},
		{[]byte{0xf9, 0, 0}, 1144, 0.279296875},
		{[]byte{0xfa, 1, 2, 3}, -0x18101, -24.0625 - 1.0/4096},
	} {
		c := wire.NewCursor(butterName, v.bytes, 0)
		if got := varint(c); got != v.want || c.Len() != 0 || c.Err() != nil {
			t.Errorf("% x: %d with %d bytes left, %v, want %d", v.bytes, got, c.Len(), c.Err(), v.want)
		}
		if got := fixed(wire.NewCursor(butterName, v.bytes, 0)); got != v.value {
			t.Errorf("% x: component %v, want %v", v.bytes, got, v.value)
		}
	}
	for n := int64(-8192); n < 8192; n++ {
		if got := varint(wire.NewCursor(butterName, appendVarint(nil, n), 0)); got != n {
			t.Fatalf("%d comes back as %d", n, got)
		}
	}
}

func TestHalf(t *testing.T) {
	for _, v := range []struct {
		bits uint16
		want float64
	}{
		{0, 0},
		{1, math.Pow(2, -24)},
		{0x3ff, 1023 * math.Pow(2, -24)},
		{0x400, math.Pow(2, -14)},
		{0x3c00, 1},
		{0xc000, -2},
		{0x7bff, 65504},
		{0x7c00, math.Inf(1)},
		{0xfc00, math.Inf(-1)},
		{0x8001, -math.Pow(2, -24)},
	} {
		if got := float64(fromHalf(v.bits)); got != v.want {
			t.Errorf("%#04x: %v, want %v", v.bits, got, v.want)
		}
	}
	for n := range 1 << 16 {
		x := fromHalf(uint16(n))
		if n&0x7fff > 0x7c00 {
			if x == x {
				t.Errorf("%#04x: %v, want NaN", n, x)
			}
		} else if toHalf(x) != uint16(n) {
			t.Errorf("%#04x: %v comes back as %#04x", n, x, toHalf(x))
		}
	}
}

// TestUsers holds the bases of differences to docs/formats/butter.md section 7.
func TestUsers(t *testing.T) {
	u := newUsers([]TableEntry{{"A", 7, 1, 2}, {"B", 0, 3, 4}, {"C", 7, 5, 6}})
	for ref, want := range []uint8{0, 1, 0, 1, 4, 5} {
		if u.same[ref] != want {
			t.Errorf("reference %d has the base of %d, want %d", ref, u.same[ref], want)
		}
	}
	if u.at(0).name != invalid || u.at(4).name != "Player 4" || u.at(3).name != "C" || u.at(4).level != -1 {
		t.Errorf("names %q %q %q", u.at(0).name, u.at(4).name, u.at(3).name)
	}
}

func TestMatchButter(t *testing.T) {
	b, _ := sample(layoutV3, 2, 3, 2, false, nil)
	for n, want := range map[int]bool{0: false, 3: false, 11: false, 40: true, 60: true, 200: true} {
		if got := matchButter(b[:n]); got != want {
			t.Errorf("%d bytes: %v, want %v", n, got, want)
		}
	}
	for _, s := range []string{"", "\x03", "\x1f\x8b\x08", "PK\x03\x04", "\x03\x2c\x01\x09name\x00", "\x01\x00\x00\x00name\x00"} {
		if matchButter([]byte(s)) {
			t.Errorf("%q matches", s)
		}
	}
}
