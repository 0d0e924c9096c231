package datafile

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"recfs/formats"
	"recfs/formats/views"
)

// TestNames writes and reads names made of ints.
func TestNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{3, 8}).Draw(t, "ints")
		s := strings.ReplaceAll(rapid.String().Draw(t, "name"), "\x00", "")
		for len(s) > 4*n-1 {
			_, k := utf8.DecodeLastRuneInString(s)
			s = s[:len(s)-k]
		}
		if got := intsToText(textInts(s, n)); got.Value != s || got.Raw != nil {
			t.Fatalf("%q is read as %q", s, got)
		}
	})
	if got := intsToText(make([]int32, 3)); got.Value != "" || string(got.Raw) != strings.Repeat("\x80", 11) {
		t.Errorf("zeros are read as %q", got)
	}
}

func TestTexts(t *testing.T) {
	for _, c := range []struct {
		stored, value string
		sound         bool
	}{
		{"tee\x00", "tee", true},
		{"\x00", "", true},
		{"", "", false},
		{"tee", "tee", false},
		{"te\x00e\x00", "te", false},
		{"t\xff\xfee\x00", "t\ufffd\ufffde", false},
	} {
		got, sound := bytesToText([]byte(c.stored))
		if got.Value != c.value || sound != c.sound || got.bytes() != untilNULString(c.stored) {
			t.Errorf("%q is read as %q, %v", c.stored, got, sound)
		}
	}
}

func untilNULString(s string) string { return string(untilNUL([]byte(s))) }

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		stored, file string
		commands     int
		sound        bool
	}{
		{"", "", 0, true},
		{"a\x00", "a\n", 1, true},
		{"a\x00\x00b c\x00", "a\n\nb c\n", 3, true},
		{"a\x00b", "a\nb\n", 2, false},
		{"a\n", "a\n\n", 1, false},
	} {
		list := commandsList([]byte(c.stored))
		var text []byte
		for piece := range list.N {
			var err error
			if text, err = list.Append(t.Context(), text, piece); err != nil {
				t.Fatal(err)
			}
		}
		var commands []string
		if err := json.Unmarshal(append(append([]byte{'['}, bytes.TrimPrefix(text, []byte(views.NextValue))...), ']'), &commands); err != nil ||
			len(commands) != c.commands || soundSettings([]byte(c.stored)) != c.sound {
			t.Errorf("%q gives %q, %v", c.stored, commands, err)
		}
		if got := string(settingsFile([]byte(c.stored))); got != c.file {
			t.Errorf("%q is shown as %q, want %q", c.stored, got, c.file)
		}
	}
}

// TestAssignLayers compares the groups of layers with a plain search.
func TestAssignLayers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &Map{Layers: make([]Layer, rapid.IntRange(0, 12).Draw(t, "layers"))}
		edge := rapid.SampledFrom([]int32{-1 << 31, -3, -1, 0, 1, 2, 5, 11, 12, 13, 1<<31 - 1})
		for range rapid.IntRange(0, 6).Draw(t, "groups") {
			m.Groups = append(m.Groups, Group{StartLayer: edge.Draw(t, "start"), NumLayers: edge.Draw(t, "num")})
		}
		m.assignLayers()
		claimed := make([]bool, len(m.Layers))
		for k, g := range m.Groups {
			start, end := int64(g.StartLayer), int64(g.StartLayer)+int64(g.NumLayers)
			bad := start < 0 || g.NumLayers < 0 || end > int64(len(m.Layers))
			for i := range m.Layers {
				if int64(i) < start || int64(i) >= end {
					continue
				}
				if claimed[i] {
					bad = true
				} else if l := m.Layers[i]; l.Group != k || int64(l.Pos) != int64(i)-start {
					t.Fatalf("layer %d is %d of group %d, want group %d", i, l.Pos, l.Group, k)
				}
				claimed[i] = true
			}
			if g.OutOfRange != bad {
				t.Fatalf("group %d (%d from %d): out of range is %v", k, g.NumLayers, g.StartLayer, g.OutOfRange)
			}
		}
		lost := 0
		for i, l := range m.Layers {
			if claimed[i] {
				continue
			}
			if l.Group != noGroup || l.Pos != lost {
				t.Fatalf("layer %d is %d of group %d, want none", i, l.Pos, l.Group)
			}
			lost++
		}
	})
}

// TestBuiltMapsOpen builds maps of any items and data and reads them back.
func TestBuiltMapsOpen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &mapWriter{version: rapid.SampledFrom([]int32{3, 4}).Draw(t, "version")}
		types := rapid.SampledFrom([]uint16{0, 1, 2, 3, 4, 5, 6, 7, 42, 0x8001, 0xfffe})
		for range rapid.IntRange(0, 12).Draw(t, "items") {
			w.item(types.Draw(t, "type"), rapid.SliceOfN(rapid.Int32(), 0, 30).Draw(t, "ints")...)
		}
		var contents [][]byte
		for range rapid.IntRange(0, 6).Draw(t, "data") {
			contents = append(contents, rapid.SliceOf(rapid.Byte()).Draw(t, "content"))
			w.content(contents[len(contents)-1])
		}
		b := w.bytes()
		r, err := NewReader(t.Context(), formats.BytesReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		if f, n := r.Header.sizeFields(), r.Header.dataSizesLen(); f[0].check(n) != sizeExact || f[1].check(n) != sizeExact || r.Header.Total() != int64(len(b)) {
			t.Fatalf("size %v, swaplen %v, total %d of %d", f[0], f[1], r.Header.Total(), len(b))
		}
		for i, it := range w.items {
			if got := r.Ints(i); r.Items[i].Type != it.typ || r.Items[i].ID != it.id || len(got) != len(it.ints) {
				t.Fatalf("item %d is %+v with %d ints, want %+v", i, r.Items[i], len(got), it)
			}
		}
		for i, want := range contents {
			if got, err := r.ReadData(t.Context(), i); err != nil || string(got) != string(want) {
				t.Fatalf("data %d: %q, %v, want %q", i, got, err, want)
			}
		}
	})
}
