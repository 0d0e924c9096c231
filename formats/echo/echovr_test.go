package echo

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"recfs/formats"
	"recfs/formats/internal/rowcount"
)

// TestFloat holds numbers to the shortest decimal that gives them again, always with a point or an
// exponent.
func TestFloat(t *testing.T) {
	for x, want := range map[float32]string{
		0: "0.0", 600: "600.0", -21.515625: "-21.515625", 0.1: "0.1", 1e-6: "0.000001", 9.5e-7: "9.5e-07", 1e20: "100000000000000000000.0",
		1e21: "1e+21", 16777216: "16777216.0", math.MaxFloat32: "3.4028235e+38",
		float32(math.Inf(-1)): `"-Infinity"`, float32(math.Inf(1)): `"Infinity"`,
	} {
		if got := string(appendFloat(nil, x)); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
	if got := string(appendFloat(nil, float32(math.NaN()))); got != `"NaN"` {
		t.Errorf("NaN: %s", got)
	}
	if got := string(appendFloat(nil, float32(math.Copysign(0, -1)))); got != "-0.0" {
		t.Errorf("-0: %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		x := math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
		if x-x != 0 {
			return
		}
		s := string(appendFloat(nil, x))
		back, err := strconv.ParseFloat(s, 32)
		if err != nil || float32(back) != x || !strings.ContainsAny(s, ".e") {
			t.Fatalf("%v: %s, read back as %v", x, s, back)
		}
		std, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		// encoding/json leaves out ".0", and the zero of a small exponent
		if want := string(std); s != want && s != want+".0" && strings.Replace(s, "e-0", "e-", 1) != want {
			t.Fatalf("%v: %s, encoding/json has %s", x, s, want)
		}
	})
}

// TestIndent holds the layout of ticks to the value that it lays out.
func TestIndent(t *testing.T) {
	for src, want := range map[string]string{
		`{"a":1,"b":[1.0,"x,]",null],"c":{"d":[{"e":[]},{}]}}`: `{
  "a": 1,
  "b": [1.0, "x,]", null],
  "c": {
    "d": [
      {
        "e": []
      },
      {}
    ]
  }
}`,
		`[[1,2],[3]]`: "[\n  [1, 2],\n  [3]\n]",
		`[1,{}]`:      "[\n  1,\n  {}\n]",
		`"\"{,"`:      `"\"{,"`,
	} {
		if got := string(AppendIndented(nil, []byte(src))); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", src, got, want)
		}
	}
}

func FuzzIndent(f *testing.F) {
	f.Add([]byte(`{"a":[1,[2,{"b":"\\"}],[]]}`))
	f.Add([]byte("[\"\x8c\"]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var compact bytes.Buffer
		if json.Compact(&compact, b) != nil {
			return
		}
		var again bytes.Buffer
		want := string(showText(compact.Bytes(), 0))
		if err := json.Compact(&again, AppendIndented(nil, []byte(want))); err != nil || again.String() != want {
			t.Errorf("%s becomes %s, want %s, %v", compact.String(), again.String(), want, err)
		}
	})
}

func TestTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(-62135596800000, 253402300799999).Draw(t, "ms")
		want := time.UnixMilli(ms).UTC()
		if got := string(AppendTime(nil, ms)); got != want.Format(`"2006-01-02T15:04:05.000Z"`) {
			t.Fatalf("%d: %s", ms, got)
		}
		if got := string(AppendStamp(nil, ms)); got != want.Format("2006/01/02 15:04:05.000") {
			t.Fatalf("%d: %s", ms, got)
		}
	})
	for _, ms := range []int64{math.MinInt64, -62135596800001, 253402300800000, math.MaxInt64} {
		if got := string(AppendTime(nil, ms)) + string(AppendStamp(nil, ms)); got != "null-" {
			t.Errorf("%d: %s", ms, got)
		}
	}
	for clock, want := range map[float32]string{
		600: "10:00.00", 599.99: "09:59.98", 0: "00:00.00", -1: "00:00.00", 6000: "100:00.00",
		float32(math.Inf(1)): "00:00.00", math.MaxFloat32: "00:00.00",
	} {
		if got := string(Display(nil, clock)); got != want {
			t.Errorf("%v: %s, want %s", clock, got, want)
		}
	}
}

// TestSavedIndex reads what was saved, and refuses all that ends before its end.
func TestSavedIndex(t *testing.T) {
	chunk := 1
	x := &Index{
		End: "clean", Bytes: 11, Results: Results{Ticks: 5, First: -1, Last: 1 << 60, Points: [2][]byte{{1}, {2}}, Played: []playerResult{{Team: 1}}}, CRC: 0xdeadbeef, Events: []Event{{Tick: 3, Time: -4, Kind: "k", Rest: []byte(`,"a":1`)}, {Kind: "j", Player: &PlayerKey{5, "n", 1}}},
		Problems: []formats.Problem{{Code: "checksum", Offset: 9, Message: "m"}, {Code: "c", Chunk: &chunk, Path: "p"}},
		Chunks: []ChunkInfo{
			{Offset: 3, Stored: 4, Size: Unreadable, Damaged: true, State: []byte{1}},
			{FirstTick: 7, Ticks: 2, Size: 5, Parts: []Part{{0, 1, 1, 8, []Piece{{1, [...]int64{7, 1, 2, 3}}}}, {3, 1, 1, 9, []Piece{{1, [...]int64{8, 4, 5, 6}}}}}},
		},
	}
	x.Frames, x.Players = rowcount.New(framesColumns), rowcount.New(textPlayers)
	x.place()
	b := x.Append(nil)
	got, err := DecodeIndex("test", true, b)
	if err != nil || !reflect.DeepEqual(got, x) {
		t.Errorf("%+v, %v, want %+v", got, err, x)
	}
	for n := range b {
		if _, err := DecodeIndex("test", true, b[:n]); err == nil {
			t.Errorf("%d of %d bytes are an index", n, len(b))
		}
	}
}

// eventLines returns events.jsonl.
func eventLines(list []Event) string {
	var b []byte
	for i := range list {
		b = list[i].appendLine(b)
	}
	return string(b)
}

func TestExportName(t *testing.T) {
	for name, want := range map[string]string{
		"a.butter": "a", "a.butter.xz": "a", "a.butter.gz": "a", "a.b": "a.b", "a.b.gz": "a.b.gz", "butter": "butter",
	} {
		if got := ExportName(name, ".butter"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestEvents holds the order and content of the events of one tick to docs/tree/butter.md section
// 5.
func TestEvents(t *testing.T) {
	all := HasStatus | HasScore | HasThrow | HasPause | HasRestart | HasRules
	p := func(name string, stunned bool) Player {
		return Player{Name: name, UserID: 1 << 60, ID: 3, Number: 5, Level: 6, Stunned: stunned}
	}
	a := &Frame{Has: all, Status: "playing", Score: Score{GoalType: NoGoal}}
	a.Teams[0].Players = []Player{p("a", false), p("b", false), p("gone", true)}
	b := &Frame{Has: all, Status: "score", Score: Score{GoalType: "SLAM DUNK", Team: "blue", Points: 2}, Points: [2]float32{2, 0}}
	b.Throw[0] = 1
	b.Pause.State = "paused"
	b.Restart[1] = 1
	b.Rules = Rules{1 << 60, "b"}
	b.Teams[0].Players = []Player{p("new", true), p("a", true)}
	b.Teams[1].Players = []Player{p("b", false), p("b", true)}
	var s Summary
	for i, f := range []*Frame{a, a, b, b} {
		s.Add(int64(i), f)
	}
	var kinds []string
	for line := range strings.Lines(eventLines(s.events)) {
		var e struct {
			Tick  int
			Event string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(line, err)
		}
		kinds = append(kinds, strconv.Itoa(e.Tick)+e.Event)
	}
	want := "0status 0join 0join 0join 2status 2leave 2join 2team 2stun 2goal 2throw 2pause 2restart 2rules"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestNames has a player whose name is not UTF-8 in every event and document that names it.
func TestNames(t *testing.T) {
	const name = "a\xffb"
	a := &Frame{Has: HasScore | HasRules, Score: Score{GoalType: NoGoal}}
	b := &Frame{
		Has: HasScore | HasRules, Rules: Rules{At: 1, By: name},
		Score: Score{GoalType: "SLAM DUNK", Scorer: name, Assist: name},
	}
	b.Teams[0].Players = []Player{{Name: name}}
	var s Summary
	s.Add(0, a)
	s.Add(1, b)
	scores, err := (&Builder{summary: s}).Finish().scores(&Match{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		doc, key string
		want     int
	}{
		{eventLines(s.events), "name", 1},
		{eventLines(s.events), "person_scored", 1},
		{eventLines(s.events), "assist_scored", 1},
		{eventLines(s.events), "rules_changed_by", 1},
		{string(scores), "name", 1},
		{string(scores), "assist_scored", 1},
	} {
		if n := strings.Count(c.doc, `"`+c.key+`":"a\ufffdb","`+c.key+`_hex":"61ff62"`); n != c.want {
			t.Errorf("%d times the bytes of %s, want %d, in %s", n, c.key, c.want, c.doc)
		}
	}
	if got := string(appendText(nil, name)); got != ",a\ufffdb" {
		t.Errorf("field %q", got)
	}
}

// TestSession has encoding/json read sessions with awkward values in every place that has a value
// from the recording.
func TestSession(t *testing.T) {
	text := rapid.StringOf(rapid.Rune())
	float := rapid.Custom(func(t *rapid.T) float32 { return math.Float32frombits(rapid.Uint32().Draw(t, "float")) })
	rapid.Check(t, func(t *rapid.T) {
		m := matchOf(text.Draw(t, "id"), text.Draw(t, "client"), 0, 0)
		m.Emotes = rapid.Bool().Draw(t, "emotes")
		f := Frame{
			Kind: Kind(rapid.IntRange(0, 2).Draw(t, "kind")), Has: Has(rapid.Uint16().Draw(t, "has")), Clock: float.Draw(t, "clock"),
			Status: text.Draw(t, "status"), Rules: Rules{rapid.Int64().Draw(t, "at"), text.Draw(t, "by")},
		}
		f.Throw[3], f.VR.Position[1], f.Disc.Velocity[2] = float.Draw(t, "throw"), float.Draw(t, "vr"), float.Draw(t, "disc")
		for i := range rapid.IntRange(0, 3).Draw(t, "players") {
			f.Teams[i].Players = append(f.Teams[i].Players, Player{
				Name: text.Draw(t, "name"), UserID: rapid.Int64().Draw(t, "user"), Loss: float.Draw(t, "loss"),
				HasStats: rapid.Bool().Draw(t, "stats"), Loadout: &Loadout{Weapon: "scout"},
				Holding: [2]string{text.Draw(t, "left"), "none"},
			})
		}
		b := NewEncoder(m).Session(nil, &f)
		var compact bytes.Buffer
		if err := json.Compact(&compact, b); err != nil || compact.String() != string(b) {
			t.Fatalf("%v: %s", err, b)
		}
		var got struct {
			ID     string `json:"sessionid"`
			Client string `json:"client_name"`
			At     *int64 `json:"rules_changed_at"`
			Teams  []struct {
				Players []struct {
					Name   string
					UserID int64
				}
			}
		}
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		if got.ID != *m.SessionID || got.Client != *m.ClientName || len(got.Teams) != 3 || (got.At == nil) != (f.Kind == Combat) {
			t.Fatalf("%+v of %s", got, b)
		}
		for i := range f.Teams {
			for j, p := range f.Teams[i].Players {
				if g := got.Teams[i].Players[j]; g.Name != p.Name || g.UserID != p.UserID {
					t.Fatalf("%+v, want %q %d", g, p.Name, p.UserID)
				}
			}
		}
	})
}

// A byte that is not UTF-8 is shown as one U+FFFD, as many as there are.
func TestText(t *testing.T) {
	for _, raw := range []string{
		"", "a\xff\xfeb\xc3", strings.Repeat("\xff", 1000), strings.Repeat("é", 1000), strings.Repeat("é\xe2\x82", 1000) + "\xf0\x9f\x98\x80",
	} {
		if got, want := string(showText([]byte("\xff"+raw), 1)), "\xff"+string([]rune(raw)); got != want {
			t.Errorf("%.10q is shown as %.40q, want %.40q", raw, got, want)
		}
	}
}

// A document that is laid out as it is read is the same, and no deeper indented than a line of it
// may be.
func TestIndenter(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, 5000) + `{},{},["` + strings.Repeat(`x\"`, 50_000) + `",1]` + strings.Repeat(`]}`, 5000)
	for _, src := range []string{`{}`, `[]`, `{"a":[1,"],[",2],"b":[{},[],[[3]]]}`, deep} {
		want := string(AppendIndented(nil, []byte(src))) + "\n"
		got, err := io.ReadAll(iotest.OneByteReader(&indenter{src: []byte(src)}))
		if err != nil || string(got) != want {
			t.Errorf("%.40s: %d bytes, %v, want %d", src, len(got), err, len(want))
		}
		if most := len(src) + 4*5000*(2*maxIndented+2) + 2; len(got) > most {
			t.Errorf("%.40s: %d bytes, want at most %d", src, len(got), most)
		}
	}
}
