package demo_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"recfs/formats/internal/demo"
)

// page returns docs/formats/demo.md, whose tables the tests take at their word.
func page(t testing.TB) string {
	b, err := os.ReadFile("../../../docs/formats/demo.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// between returns what is in the page after one text and before the next. A space in them stands
// for any white space.
func between(t testing.TB, after, before string) string {
	t.Helper()
	pattern := func(s string) string { return strings.ReplaceAll(regexp.QuoteMeta(s), " ", `\s+`) }
	m := regexp.MustCompile("(?s)" + pattern(after) + "(.*?)" + pattern(before)).FindStringSubmatch(page(t))
	if m == nil {
		t.Fatalf("the page has no %q and then %q", after, before)
	}
	return m[1]
}

// pageTree is the Huffman tree of the page.
func pageTree(t testing.TB) *node {
	var frequencies []int
	for word := range strings.FieldsSeq(between(t, "(symbol 0 first): ```", "```")) {
		n, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		frequencies = append(frequencies, n)
	}
	if len(frequencies) != 257 {
		t.Fatalf("the page has %d frequencies", len(frequencies))
	}
	return huffmanTree(frequencies)
}

// rows returns the cells of all rows of tables in text that have so many, but for their heads.
func rows(text string, cells int) (list [][]string) {
	head := true
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			head = true
			continue
		}
		row := strings.Split(strings.Trim(line, "|"), "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		if !head && len(row) == cells && !strings.HasPrefix(row[0], "---") {
			list = append(list, row)
		}
		head = false
	}
	return list
}

// looks is docs/formats/demo.md section 5.4.
func looks(t *testing.T) string { return between(t, "### 5.4", "## 6.") }

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestHuffman(t *testing.T) {
	for plain, want := range map[string]string{"00 00 00": "57 dc 00", "01 02": "28 14 37", "": "8a 1b"} {
		if got := demo.AppendHuffman(nil, unhex(t, plain)); !bytes.Equal(got, unhex(t, want)) {
			t.Errorf("%q becomes % x, want %s", plain, got, want)
		}
	}
	sum := sha256.New()
	for symbol, code := range demo.Codes() {
		fmt.Fprintf(sum, "%d %s\n", symbol, code)
	}
	if want := between(t, "…) is `", "`"); hex.EncodeToString(sum.Sum(nil)) != want {
		t.Errorf("the codes are others than those of the page: %s", want)
	}
}

func FuzzHuffman(f *testing.F) {
	tree := pageTree(f)
	f.Add([]byte("\x00\x01\x02\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := unhuffman(tree, demo.AppendHuffman(nil, b))
		if err != nil || !bytes.Equal(got, b) {
			t.Errorf("% x came back as % x, %v", b, got, err)
		}
	})
}

func FuzzInt(f *testing.F) {
	for _, v := range []int32{0, 63, 64, -1, -64, -65, math.MaxInt32, math.MinInt32} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v int32) {
		b := demo.AppendInt(nil, v)
		got, rest, err := readInt(b)
		if err != nil || got != v || len(rest) > 0 {
			t.Errorf("%d as % x came back as %d, % x, %v", v, b, got, rest, err)
		}
	})
}

// TestAngle holds angles to the table of docs/formats/demo.md section 5.3.
func TestAngle(t *testing.T) {
	for _, row := range rows(between(t, "### 5.3", "### 5.4"), 4) {
		for i := 0; i < 4; i += 2 {
			want, err := strconv.Atoi(row[i+1])
			if err != nil {
				t.Fatal(row)
			}
			for target := range strings.SplitSeq(row[i], " and ") {
				var x, y int32
				if _, err := fmt.Sscanf(target, "%d, %d", &x, &y); err != nil {
					t.Fatal(row, err)
				}
				if got := demo.Angle(x, y); got != int32(want) {
					t.Errorf("the angle of %s is %d, want %d", target, got, want)
				}
			}
		}
	}
}

// optional returns the number in a cell, and whether there is one.
func optional(t *testing.T, cell string) (int32, bool) {
	if cell == "–" {
		return 0, false
	}
	n, err := strconv.ParseInt(cell, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return int32(n), true
}

// standardParts returns what a row of the table of standard skins asks for.
func standardParts(t *testing.T, row []string) (p demo.Parts) {
	names := []string{row[1], row[2], row[3], "standard", "standard", row[4]}
	for i, name := range names {
		p.Names[i] = strings.Trim(name, "–")
		color, on := optional(t, row[5+i])
		if p.Colors[i] = 77; on {
			p.Custom[i], p.Colors[i] = int32(i)-9, color
		}
	}
	return p
}

// TestStandardLooks holds all standard skins to the table of docs/formats/demo.md section 5.4.
func TestStandardLooks(t *testing.T) {
	list := rows(looks(t), 11)
	if len(list) != 17 {
		t.Fatalf("%d rows", len(list))
	}
	for _, row := range list {
		p := standardParts(t, row)
		if got, want := demo.Look7(&p), (demo.Look{Skin: row[0]}); got != want {
			t.Errorf("%v: %v", row, got)
		}
		for i := range p.Names {
			changed := p
			changed.Names[i] += "x"
			if !demo.Look7(&changed).Custom {
				t.Errorf("%v is also a skin with another part %d", row, i)
			}
			changed = p
			changed.Custom[i] = 1 - min(p.Custom[i]*p.Custom[i], 1)
			if !demo.Look7(&changed).Custom {
				t.Errorf("%v is also a skin with another switch %d", row, i)
			}
		}
	}
}

// TestLookExamples holds looks to the examples of docs/formats/demo.md section 5.4.
func TestLookExamples(t *testing.T) {
	list := rows(looks(t), 2)
	if len(list) != 5 {
		t.Fatalf("%d rows: %q", len(list), list)
	}
	number := regexp.MustCompile(`-?\d+`)
	var names, custom, colors string
	for _, row := range list {
		switch fields := strings.Split(row[0], "; "); {
		case strings.Contains(row[0], "the same with 8681145"):
			colors = strings.Replace(colors, "8681144", "8681145", 1)
		case fields[0] == "the same":
			custom, colors = fields[1], fields[2]
		default:
			names, custom, colors = fields[0], fields[1], fields[2]
		}
		var p demo.Parts
		for i, name := range strings.Fields(names) {
			p.Names[i] = strings.Trim(name, "`–")
		}
		for i, v := range strings.Fields(custom) {
			p.Custom[i], _ = optional(t, v)
		}
		for i, v := range number.FindAllString(colors, -1) {
			p.Colors[i], _ = optional(t, v)
		}
		look := demo.Look7(&p)
		got := fmt.Sprintf("%s %d %d %d", look.Skin, map[bool]int{true: 1}[look.Custom], look.Body, look.Feet)
		if want, _, _ := strings.Cut(row[1], " ("); got != want {
			t.Errorf("%q: %s, want %s", row[0], got, want)
		}
	}
}

// TestLightness has the numbers of docs/formats/demo.md section 5.4.
func TestLightness(t *testing.T) {
	for l, want := range map[int32]int32{0: 0, 87: 0, 88: 1, 116: 44, 200: 171, 255: 255} {
		p := demo.Parts{Custom: [6]int32{1}, Colors: [6]int32{-0x1000000 | 0x123400 | l}}
		if got := demo.Look7(&p).Body; got != 0x123400|want {
			t.Errorf("lightness %d becomes %x, want %x", l, got, 0x123400|want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"aä", 2, "a"}, {"ää", 3, "ä"}, {"a\xff", 9, "a\uFFFD"}, {"€", 2, ""}} {
		if got := demo.Cut(c.text, c.n); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

// exampleWorld is a tick of the worked example.
func exampleWorld(tick int32) *demo.World {
	tee := &demo.Tee{X: 402, Y: -46, Input: demo.Input{Direction: 1, TargetX: -100, TargetY: -50, Jump: 1, Flags: 1}}
	switch tick {
	case 1000:
		*tee = demo.Tee{X: 400, Y: -33, Input: demo.Input{TargetX: 100, Flags: 1}}
	case 1001:
		tee.VX, tee.VY = 2, -13
	}
	info := demo.NewInfo("ab", "", -1, demo.Look{Skin: "pinky"})
	return &demo.World{Players: []demo.Player{{Info: info, Tee: tee}}, Server: demo.Server{ManyTeams: true}}
}

// TestWorkedBytes writes the demo of docs/formats/demo.md section 9.
func TestWorkedBytes(t *testing.T) {
	want, err := os.ReadFile("testdata/example.demo")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 11, 21, 0, 45, 45, 0, time.UTC)
	h := demo.Header{
		Map: string(bytes.TrimRight(want[72:136], "\x00")), CRC: uint32(want[140])<<24 | uint32(want[141])<<16 | uint32(want[142])<<8 | uint32(want[143]),
		SHA256: want[452:484], First: 1000, Last: 1003, Markers: []int32{1003},
		Start: &start,
	}
	var w demo.Writer
	var old, now demo.Snapshot
	for tick := int32(1000); tick <= 1003; tick++ {
		now.Show(exampleWorld(tick))
		if tick == 1000 {
			w.Key(tick, &now)
			w.Teams(&[demo.MaxClients]int32{})
		} else {
			w.Next(&old, &now, tick == 1003)
		}
		old, now = now, old
	}
	w.Chat("ab finished in 0:00:05.00")
	w.Finish(0, 5000)
	got := append(h.Append(nil), w.Bytes()...)
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s, want\n%s", hex.Dump(got), hex.Dump(want))
	}
	sum := sha256.Sum256(got)
	if want := between(t, "SHA-256 of the whole demo: `", "`"); hex.EncodeToString(sum[:]) != want {
		t.Errorf("the page has another demo: %s", want)
	}
	if _, err := readChunks(pageTree(t), got[len(h.Append(nil)):]); err != nil {
		t.Error(err)
	}
}

// TestFullWorld writes the most that a tick can have, with values that need the most bytes.
func TestFullWorld(t *testing.T) {
	text := strings.Repeat("\u0091", 20)
	full := &demo.World{Race: true, Began: math.MinInt32}
	for id := range int32(demo.MaxClients) {
		full.Players = append(full.Players, demo.Player{
			ID: id, Info: demo.NewInfo(text, text, math.MinInt32, demo.Look{Skin: text, Custom: true, Body: math.MinInt32, Feet: math.MinInt32}),
			Tee: &demo.Tee{
				X: math.MinInt32, Y: math.MinInt32, VX: 1024, VY: -1024, Practice: true,
				Input: demo.Input{Direction: math.MinInt32, TargetX: math.MinInt32, TargetY: math.MinInt32, Jump: math.MaxInt32, Flags: -1},
			},
		})
	}
	var w demo.Writer
	var none, all demo.Snapshot
	none.Show(&demo.World{})
	all.Show(full)
	w.Key(1, &all)
	w.Next(&all, &none, false)
	w.Next(&none, &all, false)
	w.Idle()
	w.Next(&all, &all, true)
	w.Chat(strings.Repeat("\x01\u0091", 300))
	ticks, err := readChunks(pageTree(t), w.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var counts []int
	for _, tick := range ticks {
		counts = append(counts, len(tick.items))
	}
	if want := []int{516, 4, 516, 516, 516}; !slices.Equal(counts, want) {
		t.Errorf("items %v, want %v", counts, want)
	}
}
