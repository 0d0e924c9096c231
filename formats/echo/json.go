package echo

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

// An Encoder appends the frames of one recording as JSON, with the keys of the game's API in its
// order.
type Encoder struct {
	has     Has // what all frames have
	session *object[Frame]
}

// NewEncoder returns an Encoder for the frames of m.
func NewEncoder(m *Match) *Encoder {
	e := &Encoder{session: &object[Frame]{sessionObject.shape, slices.Clone(sessionObject.members)}}
	for i := range e.session.members {
		if at := matchObject.place([]byte(e.session.keys[i]), 0); at >= 0 {
			text := matchObject.members[at].put(nil, m, frameContext{})
			e.session.members[i].put = func(b []byte, _ *Frame, _ frameContext) []byte { return append(b, text...) }
		}
	}
	if m.Emotes {
		e.has = hasEmotes
	}
	return e
}

// Session appends the document /session of a frame.
func (e *Encoder) Session(b []byte, f *Frame) []byte {
	has := e.has | f.Has&(inArena-1)
	if f.Kind == Combat {
		has |= inCombat
	} else {
		has |= inArena
	}
	if f.Kind != Combat || f.Clock != 0 {
		has |= hasClock
	}
	return e.session.append(b, f, frameContext{has: has})
}

// AppendBones appends the document /player_bones.
func AppendBones(b []byte, bones []Bones) []byte {
	b = append(b, `{"user_bones":[`...)
	for i := range bones {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"bone_t":[`...)
		for j := range bones[i].Positions {
			b = appendMore(b, bones[i].Positions[j][:])
		}
		b[len(b)-1] = ']'
		b = append(b, `,"bone_o":[`...)
		for j := range bones[i].Rotations {
			b = appendMore(b, bones[i].Rotations[j][:])
		}
		b[len(b)-1] = ']'
		b = append(b, '}')
	}
	return append(b, `],"err_code":0}`...)
}

// appendMore appends numbers with a comma after each.
func appendMore(b []byte, v []float32) []byte {
	for _, x := range v {
		b = append(appendFloat(b, x), ',')
	}
	return b
}

// appendPoints appends the points of a team: a float on combat maps, elsewhere an integer.
func appendPoints(b []byte, f *Frame, team int) []byte {
	x := f.Points[team]
	whole := x == float32(math.Trunc(float64(x))) && x < 1<<53 && x > -1<<53
	switch {
	case f.Lacks.At(LacksPoints + team):
		return append(b, null...)
	case f.Kind == Combat || !whole:
		return appendFloat(b, x)
	}
	return strconv.AppendInt(b, int64(x), 10)
}

const null = "null"

// appendFloat appends a float32 as JSON.
func appendFloat(b []byte, x float32) []byte {
	if x-x != 0 {
		return append(appendNumber(append(b, '"'), x), '"')
	}
	return appendNumber(b, x)
}

// appendFloats appends a list of numbers.
func appendFloats(b []byte, v []float32) []byte {
	b = appendMore(append(b, '['), v)
	b[len(b)-1] = ']'
	return b
}

// putInt appends a small integer behind its key.
func putInt(b []byte, key string, lacks bool, n int64) []byte {
	if b = append(b, key...); lacks {
		return append(b, null...)
	}
	return strconv.AppendInt(b, n, 10)
}

// putLong appends an integer behind its key, a large one as a string.
func putLong(b []byte, key string, lacks bool, n int64) []byte {
	if b = append(b, key...); lacks {
		return append(b, null...)
	}
	return jsonenc.AppendInt64(b, n)
}

// appendMember appends a member with a string.
func appendMember(b []byte, key string, lacks bool, s string) []byte {
	if lacks {
		return append(jsonenc.AppendKey(b, key), null...)
	}
	return jsonenc.AppendText(b, key, s)
}

// appendNumber appends the shortest decimal that gives the same float32 again, always with a point
// or an exponent.
func appendNumber(b []byte, x float32) []byte {
	switch {
	case x == 0 && !math.Signbit(float64(x)):
		return append(b, `0.0`...)
	case x != x:
		return append(b, `NaN`...)
	case math.IsInf(float64(x), 1):
		return append(b, `Infinity`...)
	case math.IsInf(float64(x), -1):
		return append(b, `-Infinity`...)
	}
	return appendFinite(b, x)
}

// AppendTime appends a time as JSON, in RFC 3339 with three decimals.
func AppendTime(b []byte, ms int64) []byte {
	if !dated(ms) {
		return append(b, null...)
	}
	return time.UnixMilli(ms).UTC().AppendFormat(b, `"2006-01-02T15:04:05.000Z"`)
}

// AppendStamp appends a time as .echoreplay has it.
func AppendStamp(b []byte, ms int64) []byte {
	if !dated(ms) {
		return append(b, '-')
	}
	return time.UnixMilli(ms).UTC().AppendFormat(b, "2006/01/02 15:04:05.000")
}

// dated reports whether a time lies in the years 1 to 9999.
func dated(ms int64) bool { return formats.HasDate(time.UnixMilli(ms).UTC()) }

// A frame has hundreds of numbers, and formatting them is nearly all of the work on a frame. Nearly
// all of them lie between 2^-15 and 2^23. There the shortest decimal can be found with exact 64-bit
// integers in under half the time of strconv, which handles numbers of any size (BenchmarkFinite:
// 45 ns, 110 ns). With it BenchmarkScan of .butter goes through 32,000 frames in a second of
// processor time instead of 26,000, and BenchmarkLines through 45,000 instead of 34,000.

const (
	mantissaBits = 23
	exponentBias = 127 + mantissaBits
	maxShift     = 39 // 2^24 * 10^12 < 2^64
)

var powersOfTen = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12}

// decimals has for each shift how many decimals make steps of at most 2^-shift.
var decimals = func() (t [maxShift + 1]int) {
	for shift := range t {
		for powersOfTen[t[shift]] < 1<<shift {
			t[shift]++
		}
	}
	return t
}()

// appendFinite appends the shortest decimal that gives the same float32 again, with a point or an
// exponent.
func appendFinite(b []byte, x float32) []byte {
	raw := math.Float32bits(x)
	fraction := uint64(raw & (1<<mantissaBits - 1))
	shift := exponentBias - int(raw>>mantissaBits&0xff)
	if fraction == 0 || shift < 1 || shift > maxShift {
		return appendAny(b, x)
	}
	if raw>>31 != 0 {
		b = append(b, '-')
	}
	m := fraction | 1<<mantissaBits // x = m / 2^shift
	if zeros := bits.TrailingZeros64(m); zeros >= shift {
		return append(strconv.AppendUint(b, m>>shift, 10), '.', '0')
	}
	// With one decimal less than always suffices, at most one number is near enough; without its
	// zeros it is the shortest.
	n := decimals[shift] - 1
	if d, ok := nearest(m, shift, n); ok {
		for d%10 == 0 {
			d /= 10
			n--
		}
		return appendDecimal(b, d, n)
	}
	d, _ := nearest(m, shift, n+1)
	return appendDecimal(b, d, n+1)
}

// nearest returns the number with n decimals that is nearest to m / 2^shift, times 10^n (of two the
// even one), and whether it is nearer to that than to any other float32.
func nearest(m uint64, shift, n int) (uint64, bool) {
	scaled, half := m*powersOfTen[n], uint64(1)<<(shift-1)
	d, off := scaled>>shift, scaled&(2*half-1)
	if off > half || off == half && d&1 != 0 {
		d, off = d+1, 2*half-off
	}
	return d, 2*off < powersOfTen[n] || 2*off == powersOfTen[n] && m&1 == 0
}

// appendDecimal appends d / 10^n with n decimals. d has at most nine digits.
func appendDecimal(b []byte, d uint64, n int) []byte {
	whole, rest := d/powersOfTen[n], uint32(d%powersOfTen[n])
	if whole < 10 {
		b = append(b, byte('0'+whole))
	} else {
		b = strconv.AppendUint(b, whole, 10)
	}
	i := len(b) + 1 + n
	b = append(b, ".000000000000"...)[:i]
	for ; n > 1; n -= 2 {
		i -= 2
		pair := rest % 100 * 2
		rest /= 100
		b[i], b[i+1] = pairs[pair], pairs[pair+1]
	}
	if n > 0 {
		b[i-1] = byte('0' + rest)
	}
	return b
}

// pairs has the numbers from 00 to 99.
var pairs = func() (t [200]byte) {
	for i := range 100 {
		t[2*i], t[2*i+1] = byte('0'+i/10), byte('0'+i%10)
	}
	return t
}()

// appendAny is appendFinite for numbers of any size.
func appendAny(b []byte, x float32) []byte {
	if a := float32(math.Abs(float64(x))); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(b, float64(x), 'e', -1, 32)
	}
	start := len(b)
	b = strconv.AppendFloat(b, float64(x), 'f', -1, 32)
	for _, c := range b[start:] {
		if c == '.' {
			return b
		}
	}
	return append(b, `.0`...)
}
