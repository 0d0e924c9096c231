package jsonenc_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"recfs/formats/internal/jsonenc"
)

// walked writes the value that w is before again, compact, from what the walk gives.
func walked(dst []byte, w *jsonenc.Walker) []byte {
	c := w.Peek()
	if c != '{' && c != '[' {
		return append(dst, w.Value()...)
	}
	dst = append(dst, c)
	first := true
	for w.Enter(); w.More(); first = false {
		if !first {
			dst = append(dst, ',')
		}
		if c == '{' {
			dst = append(append(dst, w.Value()...), ':')
		}
		dst = walked(dst, w)
	}
	return append(dst, c+2) // the closing bracket
}

// FuzzWalk holds a walk to encoding/json. Of what is not valid it only ends.
func FuzzWalk(f *testing.F) {
	for _, s := range []string{
		`{}`, ` [ ] `, `{"a" : [1, -2.5e+3, "x\"]}"], "b\\": {"": null}, "c":true}`, `[[[]], {"d": [{}]}]`, `"\\"`, "{\"\xff\": 1}",
		`{"a"}`, `[1`, `}`, `"`, `{]`, `"\`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<12 {
			return // as deep as it is long
		}
		w := jsonenc.Walk(b)
		got := walked(nil, &w)
		compact := jsonenc.AppendCompact(nil, b)
		if n := jsonenc.StringLen(b); n > len(b) {
			t.Errorf("a string of %d bytes in %d", n, len(b))
		}
		var want bytes.Buffer
		if json.Compact(&want, b) != nil {
			return
		}
		if !bytes.Equal(got, want.Bytes()) || !bytes.Equal(compact, want.Bytes()) {
			t.Errorf("%s\n%s\nwant %s", got, compact, want.Bytes())
		}
	})
}

// TestValue takes whole values, with the bytes as they are.
func TestValue(t *testing.T) {
	w := jsonenc.Walk([]byte(` {"a" : { "b" : [ 1 ] } ,"c":-1.0e5, "d": "x\u0041"} `))
	var got []string
	for w.Enter(); w.More(); {
		got = append(got, string(w.Value()), string(w.Value()))
	}
	want := []string{`"a"`, `{ "b" : [ 1 ] }`, `"c"`, `-1.0e5`, `"d"`, `"x\u0041"`}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s, want %s", got[i], want[i])
		}
	}
	if w.Peek() != 0 || w.More() {
		t.Error("goes on after the end")
	}
}

// TestParts goes through some of the parts of a value, and on behind it, also where there is
// another kind of value.
func TestParts(t *testing.T) {
	w := jsonenc.Walk([]byte(`{"a":[1,[2],{"]":3},4],"b" : {"x":"}","y":{"z":[]}},"c":[],"d":{},"e":"[","f":5,"g":[6]}`))
	var got []string
	for key := range w.Members() {
		got = append(got, string(key))
		switch string(key) {
		case `"a"`, `"c"`, `"d"`, `"g"`:
			for range w.Elements(2) {
				got = append(got, string(w.Value()))
			}
		default:
			for key := range w.Members() {
				got = append(got, string(key), string(w.Value()))
				w.Leave()
				break
			}
		}
	}
	want := []string{`"a"`, `1`, `[2]`, `"b"`, `"x"`, `"}"`, `"c"`, `"d"`, `"e"`, `"f"`, `"g"`, `6`}
	if !slices.Equal(got, want) || w.Peek() != 0 {
		t.Errorf("%q, want %q", got, want)
	}
}
