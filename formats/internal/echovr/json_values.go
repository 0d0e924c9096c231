package echovr

import (
	"math"
	"strconv"
	"time"
)

func appendFloats(b []byte, v []float32) []byte {
	b = append(b, '[')
	b = appendMore(b, v)
	b[len(b)-1] = ']'
	return b
}

// appendMore appends numbers with a comma after each.
func appendMore(b []byte, v []float32) []byte {
	for _, x := range v {
		b = appendFloat(b, x)
		b = append(b, ',')
	}
	return b
}

func appendShoulder(b []byte, key string, pressed bool) []byte {
	b = append(b, key...)
	b = appendBit(b, pressed)
	return append(b, `.0`...)
}

func appendBit(b []byte, v bool) []byte {
	if v {
		return append(b, '1')
	}
	return append(b, '0')
}

// appendPoints appends points: an integer, or on combat maps a float.
func appendPoints(b []byte, x float32, combat bool) []byte {
	if combat {
		return appendFloat(b, x)
	}
	return strconv.AppendInt(b, int64(x), 10)
}

// appendFloat appends a float32 as JSON.
func appendFloat(b []byte, x float32) []byte {
	if x-x != 0 {
		b = append(b, '"')
		b = appendNumber(b, x)
		return append(b, '"')
	}
	return appendNumber(b, x)
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

// AppendTime appends a time as the tree shows it, in RFC 3339 with three decimals.
func AppendTime(b []byte, ms int64) []byte {
	b = appendDate(b, ms, '-', 'T')
	return append(b, 'Z')
}

// AppendStamp appends a time as it stands in .echoreplay.
func AppendStamp(b []byte, ms int64) []byte { return appendDate(b, ms, '/', ' ') }

func appendDate(b []byte, ms int64, separator, between byte) []byte {
	t := time.UnixMilli(ms).UTC()
	year, month, day := t.Date()
	if year < 0 {
		b = append(b, '-')
		year = -year
	}
	b = pad(b, int64(year), 4)
	b = append(b, separator)
	b = pad(b, int64(month), 2)
	b = append(b, separator)
	b = pad(b, int64(day), 2)
	b = append(b, between)
	hour, minute, second := t.Clock()
	b = pad(b, int64(hour), 2)
	b = append(b, ':')
	b = pad(b, int64(minute), 2)
	b = append(b, ':')
	b = pad(b, int64(second), 2)
	b = append(b, '.')
	return pad(b, int64(t.Nanosecond()/1e6), 3)
}

// pad appends n with at least width digits; n is not negative.
func pad(b []byte, n int64, width int) []byte {
	var digits [20]byte
	i := len(digits)
	for n > 0 || len(digits)-i < width {
		i--
		digits[i] = byte('0' + n%10)
		n /= 10
	}
	return append(b, digits[i:]...)
}
