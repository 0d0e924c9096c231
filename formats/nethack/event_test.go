package nethack

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func parseText1(s string) (e event) {
	e.parse([]byte(s))
	return e
}

func TestEvents(t *testing.T) {
	for in, want := range map[string]string{
		"chat":                    `"command","offset":0,"command":"chat"`,
		"kick D3":                 `"command","offset":0,"command":"kick","direction":"NE"`,
		"travel P78,20":           `"command","offset":0,"command":"travel","x":78,"y":20`,
		"drop L5 Ia":              `"command","offset":0,"command":"drop","item":"a","limit":5`,
		"drop I  D10":             `"command","offset":0,"command":"drop","direction":"self","item":" "`,
		"cast Sb K-3":             `"command","offset":0,"command":"cast","spell":"b","key_code":-3`,
		"name TRmlkbwA=":          `"command","offset":0,"command":"name","text":"Fido"`,
		"name I\xff":              `"command","offset":0,"command":"name","item":"\ufffd","item_hex":"ff"`,
		"P!":                      `"position","offset":0,"cancelled":true`,
		"P3,4;":                   `"position","offset":0,"x":3,"y":4,"key":";"`,
		"D4":                      `"direction","offset":0,"direction":"E"`,
		"D-1":                     `"direction","offset":0,"cancelled":true`,
		"K97,-1":                  `"key","offset":0,"key_code":97,"key":"a"`,
		"K27":                     `"key","offset":0,"key_code":27`,
		"K34,12":                  `"key","offset":0,"key_code":34,"key":"\"","count":12`,
		"Yy":                      `"yes_no","offset":0,"answer":"y"`,
		"Y\x1b":                   `"yes_no","offset":0,"answer":"\u001b"`,
		"M!":                      `"menu","offset":0,"cancelled":true`,
		"M":                       `"menu","offset":0,"items":[]`,
		"M5:104:fffffffe":         `"menu","offset":0,"items":[1,256,-6]`,
		"M0":                      `"menu","offset":0,"items":[-4]`,
		"O!":                      `"object_menu","offset":0,"cancelled":true`,
		"O":                       `"object_menu","offset":0,"items":[]`,
		"O5,3:6":                  `"object_menu","offset":0,"items":[{"id":1,"count":3},{"id":2}]`,
		"LGwA=":                   `"text","offset":0,"cancelled":true`,
		"LRmlkbwA=":               `"text","offset":0,"text":"Fido"`,
		"L":                       `"text","offset":0,"text":""`,
		"B!":                      `"bones","offset":0,"size":0`,
		"BRmlkbwA=":               `"bones","offset":0,"size":5`,
		"Q":                       `"game_over","offset":0`,
		"RabcQWduZXM=":            `"top_ten","offset":0,"text":"abcQWduZXM="`,
		"K123456789012345678":     `"key","offset":0,"key_code":"123456789012345678"`,
		"":                        `"unknown","offset":0,"size":0,"text":""`,
		"Qx":                      `"unknown","offset":0,"size":2,"text":"Qx"`,
		"kick D11":                `"unknown","offset":0,"size":8,"text":"kick D11"`,
		"kick X1":                 `"unknown","offset":0,"size":7,"text":"kick X1"`,
		"kick D1 D2":              `"unknown","offset":0,"size":10,"text":"kick D1 D2"`,
		"kick ":                   `"unknown","offset":0,"size":5,"text":"kick "`,
		"kick D":                  `"unknown","offset":0,"size":6,"text":"kick D"`,
		"kick  D1":                `"unknown","offset":0,"size":8,"text":"kick  D1"`,
		"Kick":                    `"unknown","offset":0,"size":4,"text":"Kick"`,
		"drop Iab":                `"unknown","offset":0,"size":8,"text":"drop Iab"`,
		"name T***":               `"unknown","offset":0,"size":9,"text":"name T***"`,
		"travel P1":               `"unknown","offset":0,"size":9,"text":"travel P1"`,
		"P1,2":                    `"unknown","offset":0,"size":4,"text":"P1,2"`,
		"Yno":                     `"unknown","offset":0,"size":3,"text":"Yno"`,
		"M5:":                     `"unknown","offset":0,"size":3,"text":"M5:"`,
		"M:5":                     `"unknown","offset":0,"size":3,"text":"M:5"`,
		"MA":                      `"unknown","offset":0,"size":2,"text":"MA"`,
		"M123456789":              `"unknown","offset":0,"size":10,"text":"M123456789"`,
		"K1234567890123456789":    `"unknown","offset":0,"size":20,"text":"K1234567890123456789"`,
		"LRmlkbwA":                `"unknown","offset":0,"size":8,"text":"LRmlkbwA"`,
		"L$5$RmlkbwA=":            `"unknown","offset":0,"size":12,"text":"L$5$RmlkbwA="`,
		strings.Repeat("\xff", 2): `"unknown","offset":0,"size":2,"text":"\ufffd\ufffd","text_hex":"ffff"`,
	} {
		e := parseText1(in)
		if got := string(appendEvent(nil, &e, 0)); got != `{"event":`+want+"}" {
			t.Errorf("%q:\n got %s\nwant {\"event\":%s}", in, got, want)
		}
	}
}

// TestSteps holds to the rules of the clock: steps wrap, and belong to the event right before them.
func TestSteps(t *testing.T) {
	ev := events{clock: 5}
	off := int64(0)
	for _, s := range []string{"+1", "chat", "+fffffffffffffffe", "+10", "D4", "+1234567890abcdef0", "+G", "+2"} {
		ev.add(line{off, off + int64(len(s)) + 1, []byte(s)})
		off += int64(len(s)) + 1
	}
	type step struct {
		kind  string
		timed bool
		clock uint64
	}
	var got []step
	for e := range ev.all() {
		got = append(got, step{e.kind, e.timed, e.clock})
	}
	want := []step{{"time", true, 6}, {"command", true, 4}, {"time", true, 20}, {"direction", false, 0}, {"unknown", false, 0}, {"unknown", true, 22}}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("event %d: got %v, want %v", i, got[i], want[i])
		}
	}
}

func TestUTC(t *testing.T) {
	for _, c := range []struct {
		clock uint64
		tz    int32
		want  string
	}{
		{testStart, 0, `"2026-11-21T00:39:58.141356Z"`},
		{testStart, 3600, `"2026-11-20T23:39:58.141356Z"`},
		{0, 0, `"1970-01-01T00:00:00.000000Z"`},
		{1<<64 - 1, 0, `"1969-12-31T23:59:59.999999Z"`},
		{253402300800*1e6 - 1, 0, `"9999-12-31T23:59:59.999999Z"`},
		{253402300800 * 1e6, 0, `null`},
		{1 << 63, 0, `null`},
	} {
		if got := string(appendUTC(nil, c.clock, c.tz)); got != c.want {
			t.Errorf("%d, timezone %d: %s, want %s", c.clock, c.tz, got, c.want)
		}
	}
}

// TestEventsAgain reads ticks into the memory of those before them.
func TestEventsAgain(t *testing.T) {
	texts := []string{"kick D3", "M5:fffffffe", "O5,3:6", "name TRmlkbwA=", "\xff", "+1", "drop L5 Ia", "K97,3", "P!", "R" + strings.Repeat("x", 2000)}
	rapid.Check(t, func(t *rapid.T) {
		var again events
		for range rapid.IntRange(1, 5).Draw(t, "ticks") {
			fresh := events{clock: again.clock}
			n := rapid.SampledFrom([]int{0, 3, 10, 300}).Draw(t, "events")
			for _, s := range rapid.SliceOfN(rapid.SampledFrom(texts), n, n).Draw(t, "texts") {
				l := line{end: int64(len(s)) + 1, text: []byte(s)}
				fresh.add(l)
				again.add(l)
				clear(l.text) // as the next line does
			}
			if got, want := appendEvents(nil, &again, 0), appendEvents(nil, &fresh, 0); !bytes.Equal(got, want) {
				t.Fatalf("%s, want %s", got, want)
			}
			again.forget(again.clock)
		}
	})
}

// FuzzLine parses one line and looks whether what is shown of it is JSON as encoding/json writes
// it.
func FuzzLine(f *testing.F) {
	for _, s := range []string{
		"kick D3", "K97,-1", "M5:fffffffe", "O5,3:6", "LGwA=", "name TRmlkbwA=", "travel P3,4", "B!", "Q", "P3,4;", "R\xffab", "+12",
		"L$5$eNpzycxLBQAEFAGF",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e := parseText1(string(text))
		got := appendEvent(nil, &e, 0)
		if !utf8.Valid(got) {
			t.Fatalf("%q is not UTF-8", got)
		}
		var v struct {
			Event string
			Size  *int64
		}
		if err := json.Unmarshal(got, &v); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if v.Event == kindUnknown && *v.Size != int64(len(text)) {
			t.Fatalf("%s: the line has %d bytes", got, len(text))
		}
		var same bytes.Buffer
		enc := json.NewEncoder(&same)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(json.RawMessage(got)); err != nil || same.String() != string(got)+"\n" {
			t.Fatalf("%s is not as encoding/json writes it: %s", got, same.Bytes())
		}
	})
}
