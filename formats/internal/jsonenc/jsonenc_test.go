package jsonenc

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// std returns what encoding/json writes for v.
func std(t *testing.T, v any) string {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(buf.String(), "\n")
}

func FuzzString(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c\n\t\r\b\f\x00\x1f\x7f", "\xff\xfe", "é\u2028\u2029€😀", "\xf0\x9f\x98", "<&>", "\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := std(t, s)
		if got := string(AppendString(nil, s)); got != want {
			t.Errorf("AppendString(%q) = %s, encoding/json writes %s", s, got, want)
		}
		if got := string(AppendString(nil, []byte(s))); got != want {
			t.Errorf("String of bytes %q = %s, want %s", s, got, want)
		}
	})
}

func FuzzNumbers(f *testing.F) {
	for _, n := range []int64{0, -1, 1 << 53, math.MinInt64, math.MaxInt64} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, n int64) {
		if got, want := string(AppendInt(nil, n)), std(t, n); got != want {
			t.Errorf("Int(%d) = %s, want %s", n, got, want)
		}
		if got, want := string(AppendUint(nil, uint64(n))), std(t, uint64(n)); got != want {
			t.Errorf("Uint(%d) = %s, want %s", uint64(n), got, want)
		}
		x := math.Float64frombits(uint64(n))
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return
		}
		var back float64
		if err := json.Unmarshal(AppendFloat64(nil, x), &back); err != nil || back != x {
			t.Errorf("Float64(%v) = %s, read back as %v, %v", x, AppendFloat64(nil, x), back, err)
		}
		if got, want := string(AppendFloat64(nil, x)), std(t, x); got != want && !strings.ContainsAny(want, "e") {
			t.Errorf("Float64(%v) = %s, want %s", x, got, want)
		}
	})
}

func TestSpecialValues(t *testing.T) {
	for _, c := range []struct {
		got  []byte
		want string
	}{
		{AppendFloat64(nil, math.NaN()), `"NaN"`},
		{AppendFloat64(nil, math.Inf(1)), `"Infinity"`},
		{AppendFloat64(nil, math.Inf(-1)), `"-Infinity"`},
		{AppendInt64(nil, 1<<53), "9007199254740992"},
		{AppendInt64(nil, 1<<53+1), `"9007199254740993"`},
		{AppendInt64(nil, -1<<53-1), `"-9007199254740993"`},
		{AppendHex(nil, []byte{0, 0xaf}), `"00af"`},
		{AppendHex(nil, nil), `""`},
		{AppendBool(nil, true), "true"},
	} {
		if string(c.got) != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

func TestText(t *testing.T) {
	for s, want := range map[string]string{
		"":        `,"name":""`,
		"J\"k":    `,"name":"J\"k"`,
		"a\xffb":  `,"name":"a\ufffdb","name_hex":"61ff62"`,
		"\u00fc2": `,"name":"ü2"`,
	} {
		if got := string(AppendText(nil, "name", []byte(s))); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	for members, want := range map[string]string{
		``:                              ``,
		`,"a":1`:                        `a 1`,
		`,"a":"b c","d":["e"],"f":null`: `a b c, d [e], f null`,
		`,"\u0061":"\"q\" \u00e9"`:      `a "q" é`,
		`,"long":"0123456789012345678901234567890123456789é901"`: `long "0123456789012345678901`,
		`,"a":{"b":[1,2],"c":{}},"d":1.50`:                       `a (b [1, 2], c ()), d 1.50`,
		`,"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7`:             `1 1, 2 2, 3 3, 4 4, 5 5, 6 6`,
		`,"a":"é","b"`: `a é, b `,
	} {
		if got := string(AppendWords([]byte("kept "), []byte(members), 28)); got != "kept "+want {
			t.Errorf("%s: %q, want %q", members, got, want)
		}
	}
}

// A text keeps the bytes that are not UTF-8, beside escapes too.
func TestUnquote(t *testing.T) {
	for quoted, want := range map[string]string{
		`""`: "", "\"\xff\"": "\xff", "\"\\t\xffé\xc3\\u00e9\\ud83d\\ude00\xf0\"": "\t\xffé\xc3é😀\xf0", `"\\"`: `\`,
	} {
		if got, err := Unquote([]byte(quoted)); string(got) != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", quoted, got, err, want)
		}
	}
	for _, quoted := range []string{"\"\\\xff\"", `"\x"`, `"\u12"`} {
		if got, err := Unquote([]byte(quoted)); err == nil {
			t.Errorf("%q: %q", quoted, got)
		}
	}
}
