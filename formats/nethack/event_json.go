package nethack

import (
	"slices"
	"strconv"
	"time"

	"recfs/formats/internal/jsonenc"
)

// appendEvent appends an event as a JSON object. Times are shown as UTC of a player in timezone tz.
func appendEvent(dst []byte, e *event, tz int32) []byte {
	start := len(dst)
	dst = appendNumber(appendName(dst, "event", e.kind), "offset", e.off)
	dst = appendFields(appendEventTime(dst, e, tz), e.fields)
	return closeObject(dst, start)
}

func appendEventTime(dst []byte, e *event, tz int32) []byte {
	if !e.timed {
		return dst
	}
	return appendUTC(jsonenc.AppendKey(dst, "time"), e.clock, tz)
}

// appendEvents appends the events as a list.
func appendEvents(dst []byte, ev *events, tz int32) []byte {
	return jsonenc.AppendList(dst, ev.all(), func(dst []byte, e *event) []byte { return appendEvent(dst, e, tz) })
}

func appendFields(dst []byte, fields []field) []byte {
	for i := range fields {
		dst = appendField(dst, &fields[i])
	}
	return dst
}

func appendField(dst []byte, f *field) []byte {
	if f.text != nil {
		return jsonenc.AppendText(dst, f.key, f.text)
	}
	dst = jsonenc.AppendKey(dst, f.key)
	switch {
	case f.items != nil:
		return appendItems(dst, f.items)
	case f.flag:
		return jsonenc.AppendBool(dst, true)
	}
	return jsonenc.AppendInt64(dst, f.number)
}

func appendItems(dst []byte, items []item) []byte {
	return jsonenc.AppendList(dst, slices.Values(items), func(dst []byte, it item) []byte {
		if !it.object {
			return jsonenc.AppendInt(dst, it.id)
		}
		dst = jsonenc.AppendInt(append(dst, `{"id":`...), it.id)
		if it.counted {
			dst = jsonenc.AppendInt64(jsonenc.AppendKey(dst, "count"), it.count)
		}
		return append(dst, '}')
	})
}

// utcLayout is RFC 3339 with the six decimals that are stored.
const utcLayout = "2006-01-02T15:04:05.000000Z"

// utc returns the time of a clock that is tz seconds ahead of UTC. ok is false outside the years 1
// to 9999.
func utc(clock uint64, tz int32) (t time.Time, ok bool) {
	micros, ok := utcMicros(clock, tz)
	return time.UnixMicro(micros).UTC(), ok
}

// utcMicros is utc in microseconds since 1970.
func utcMicros(clock uint64, tz int32) (micros int64, ok bool) {
	micros = int64(clock - uint64(int64(tz)*1e6))
	return micros, firstMicro <= micros && micros < endMicro
}

// The years 1 to 9999.
var (
	firstMicro = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	endMicro   = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
)

// appendUTC appends the time as a JSON string, or null.
func appendUTC(dst []byte, clock uint64, tz int32) []byte {
	t, ok := utc(clock, tz)
	if !ok {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = t.AppendFormat(dst, time.RFC3339) // many times faster than with decimals
	z := len(dst) - 1
	dst = strconv.AppendInt(dst[:z], int64(1e6+t.Nanosecond()/1e3), 10)
	dst[z] = '.' // in place of the 1
	return append(dst, `Z"`...)
}

// timeOf returns the time of a clock as text, nil outside the years that utc has.
func timeOf(clock uint64, tz int32) *string {
	t, ok := utc(clock, tz)
	if !ok {
		return nil
	}
	return new(t.Format(utcLayout))
}
