package echo

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/internal/zipfile"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// lineOf returns the line of frame i, as a game might print it.
func lineOf(i int, bones bool) string {
	player := func(name string, id int) string {
		return fmt.Sprintf(`{"name":%q,"userid":%d,"playerid":%d,"number":7,"level":50,"ping":30,"stunned":%v,"possession":false,`+
			`"blocking":false,"invulnerable":false,"holding_left":"none","holding_right":"geo","velocity":[1.5,0.0,-2.25],`+
			`"head":{"position":[1.0,2.0,%d.5],"forward":[0.0,0.0,1.0],"left":[1.0,0.0,0.0],"up":[0.0,1.0,0.0]},`+
			`"lhand":{"pos":[4.0,5.0,6.0]},"rhand":{"pos":[7.0,8.0,9.0]},"stats":{"points":%d,"possession_time":0.25}}`, name, id, id%9, i%7 == 3, i, i/5)
	}
	s := time.UnixMilli(1_700_000_000_000+int64(i)*33).UTC().Format("2006/01/02 15:04:05.000") + "\t" +
		fmt.Sprintf(`{"sessionid":"S","err_code":0,"extra": {"b":1, "a":[[1],{}]},"match_type":"Echo_Arena","map_name":"mpl_arena_a","client_name":"Tess",`+
			`"game_status":"playing","game_clock":%d.50000001,"blue_points":%d,"orange_points":3.0,"last_score":{"team":"blue","goal_type":"%s"},`+
			`"disc":{"velocity":[0.5,0.0,0.0],"position":[1.0,2.0,3.0]},"teams":[{"team":"Custom","players":[%s,%s]},{"team":"ORANGE TEAM"},{"team":"SPECTATORS"}]}`,
			i, i/10*2, []string{"[NO GOAL]", "SLAM DUNK"}[min(i/10, 1)], player("Tess", 1000), player("Ann\u00e9", 1001))
	if bones {
		s += "\t " + `{"err_code":0,"user_bones":[{"playerid":1,"bone_t":[0.5],"bone_o":[1.0]}]}`
	}
	return s
}

func textOf(n int) []byte {
	var b strings.Builder
	for i := range n {
		b.WriteString(lineOf(i, i%2 == 0))
		b.WriteString("\r\n")
		if i%50 == 0 {
			b.WriteString("\r\n2023/01/01 00:00:00.000\t{\"err_code\":-6}\r\n")
		}
	}
	return []byte(b.String())
}

func zipOf(t testing.TB, text []byte, method uint16, entry string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateHeader(&zip.FileHeader{Name: entry, Method: method})
	if err != nil {
		t.Fatal(err)
	}
	w.Write(text)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func replayDir(t testing.TB, b []byte) nodes.Dir {
	t.Helper()
	c := cache.New(64<<20, nil)
	t.Cleanup(c.Close)
	dir, err := formatstest.Open(t.Context(), Replay, formatstest.BytesInput("x.echoreplay", b, time.Unix(1e9, 0)), c)
	if err != nil {
		return nil
	}
	return dir
}

// TestSame holds the trees of text, stored and deflated archives to each other.
func TestSame(t *testing.T) {
	nodestest.Long(t)
	text := textOf(700)
	plain := replayDir(t, text)
	for _, b := range [][]byte{zipOf(t, text, zip.Store, "x.echoreplay"), zipOf(t, text, zip.Deflate, "x")} {
		dir := replayDir(t, b)
		if bad := nodestest.Check(t, dir); len(bad) > 0 {
			t.Errorf("unreadable: %v", bad)
		}
		for _, name := range []string{
			"lines/000002.jsonl", "lines/000000.jsonl", "chunks/000001", "events.jsonl", "scores.json", "index.json",
			"export/x.echoreplay.txt", "export/players.csv", "export/disc.csv", "ticks/00000699.json", "ticks/12.json",
		} {
			if nodestest.Read(t, dir, name) != nodestest.Read(t, plain, name) {
				t.Errorf("%s differs", name)
			}
		}
	}
	if got := nodestest.Read(t, plain, "chunks/000000") + nodestest.Read(t, plain, "chunks/000001") + nodestest.Read(t, plain, "chunks/000002"); got != string(text) {
		t.Errorf("the chunks are %d bytes together, the text is %d", len(got), len(text))
	}
	again := replayDir(t, []byte(nodestest.Read(t, plain, "export/x.echoreplay")))
	if nodestest.Read(t, again, "lines/000001.jsonl") != nodestest.Read(t, plain, "lines/000001.jsonl") {
		t.Error("the exported archive does not read like the original")
	}
}

func TestReplayTree(t *testing.T) {
	dir := replayDir(t, textOf(25))
	line, _, _ := strings.Cut(nodestest.Read(t, dir, "lines/000000.jsonl"), "\n")
	for _, want := range []string{
		`{"tick":0,"chunk":0,"time":"2023-11-14T22:13:20.000Z","session":{"disc":{"position":[1.0,2.0,3.0],"velocity":[0.5,0.0,0.0]},"sessionid":"S","game_status"`,
		`"game_clock":0.50000001`, `"team":"Custom"`, `"err_code":0,"extra":{"b":1,"a":[[1],{}]}},"bones":{"user_bones":[{"bone_t":[0.5],"bone_o":[1.0],"playerid":1}],"err_code":0}}`,
		`{"name":"Tess","rhand":{"pos":[7.0,8.0,9.0]},"playerid":1,"stats":{"possession_time":0.25,"points":0},"userid":1000`,
	} {
		if !strings.Contains(line, want) {
			t.Errorf("the first line is\n%s\nand does not have\n%s", line, want)
		}
	}
	if got := nodestest.Read(t, dir, "export/players.csv"); !strings.Contains(got, "3,99,blue,Tess,1000,1,1.0,2.0,3.5,1.5,0.0,-2.25,,,,4.0,5.0,6.0,7.0,8.0,9.0,30,false,false,true,false,none,geo\n") {
		t.Errorf("players.csv is\n%.900s", got)
	}
	for _, want := range []string{`"event":"goal","team":"blue"`, `"event":"stun","name":"Tess"`, `"event":"join","name":"Anné"`} {
		if got := nodestest.Read(t, dir, "events.jsonl"); !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	var index struct {
		Totals struct{ Ticks, Bones_ticks int }
	}
	if err := json.Unmarshal([]byte(nodestest.Read(t, dir, "index.json")), &index); err != nil || index.Totals.Ticks != 25 || index.Totals.Bones_ticks != 13 {
		t.Errorf("%+v, %v", index, err)
	}
}

func TestDamage(t *testing.T) {
	text := textOf(400)
	for what, b := range map[string][]byte{
		"cut text":         text[:len(text)-500],
		"cut deflate":      zipOf(t, text, zip.Deflate, "x")[:5000],
		"cut store":        zipOf(t, text, zip.Store, "x")[:100000],
		"bad lines":        bytes.Replace(bytes.Clone(text), []byte(`"sessionid":"S",`), []byte(`"sessionid":"S,,`), 1),
		"bad utf-8":        bytes.ReplaceAll(text, []byte("Ann"), []byte("A\xffn")),
		"junk":             append([]byte(lineOf(0, true)+"\n"), bytes.Repeat([]byte("junk\t"), 1000)...),
		"no frame":         []byte("nothing\n"),
		"nothing":          nil,
		"empty entry":      zipOf(t, nil, zip.Store, "x.echoreplay"),
		"flipped deflate":  flip(zipOf(t, text, zip.Deflate, "x"), 3000),
		"flipped checksum": flip(zipOf(t, text, zip.Store, "x"), 3000),
		"broken header":    []byte("PK\x03\x04 short"),
	} {
		dir := replayDir(t, b)
		if dir == nil {
			continue
		}
		for name, err := range nodestest.Check(t, dir) {
			if !strings.HasPrefix(name, "lines/") {
				t.Errorf("%s: %s: %v", what, name, err)
			}
		}
	}
	stored := zipOf(t, text, zip.Store, "x")
	directory := bytes.LastIndex(stored, []byte("PK\x01\x02"))
	for what, c := range map[string]struct {
		b                  []byte
		complete, finished bool
		codes              []string
	}{
		"whole":        {stored, true, true, nil},
		"bad line":     {append(textOf(3), "2023/01/01 00:00:00.000\t{"+strings.Repeat(" ", 900)+"\n"...), false, true, []string{"line_damaged"}},
		"cut":          {zipOf(t, text, zip.Deflate, "x")[:5000], false, false, []string{"truncated"}},
		"no directory": {stored[:directory], false, false, []string{"truncated"}},
		"shifted":      {slices.Delete(slices.Clone(stored), directory-9, directory-2), false, false, []string{"truncated"}},
		"checksum":     {flip(stored, zipfile.LocalSize+len("x")+bytes.Index(text, []byte("Ann"))), false, true, []string{"checksum"}},
	} {
		var got struct {
			Complete, Finished bool
			Problems           []formats.Problem
		}
		if err := json.Unmarshal([]byte(nodestest.Read(t, replayDir(t, c.b), "index.json")), &got); err != nil {
			t.Fatal(err)
		}
		var codes []string
		for _, p := range got.Problems {
			codes = append(codes, p.Code)
		}
		if got.Complete != c.complete || got.Finished != c.finished || !slices.Equal(codes, c.codes) {
			t.Errorf("%s: complete %t, finished %t, %q", what, got.Complete, got.Finished, codes)
		}
	}
}

func flip(b []byte, i int) []byte {
	b = bytes.Clone(b)
	b[i] ^= 0x11
	return b
}

func TestStamps(t *testing.T) {
	for s, want := range map[string]string{
		"2022/05/01 20:15:30.123": "2022-05-01T20:15:30.123Z",
		"2022.05.01 20.15.30.123": "2022-05-01T20:15:30.123Z",
		"2022-05-01 20-15-30,123": "2022-05-01T20:15:30.123Z",
		"2022/13/01 20:15:30.123": "",
		"2022/05/01 20:15:30":     "",
		"2022/05/01 2x:15:30.123": "",
	} {
		ms, ok := parseStamp([]byte(s))
		got := ""
		if ok {
			got = time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", s, got, want)
		}
	}
}

func TestMatchReplay(t *testing.T) {
	text := textOf(3)
	for what, c := range map[string]struct {
		b    []byte
		want bool
	}{
		"text": {text, true}, "blank lines": {append([]byte("\r\n\n"), text...), true}, "marked text": {append([]byte("\ufeff"), text...), true}, "prose": {[]byte("2022 was a good year"), false},
		"the end of a line before": {append([]byte(`"err_code":0}`+"\r\n"), text...), true}, "no line before": {append([]byte("x"), text[:100]...), false},
		"stored": {zipOf(t, text, zip.Store, "x"), true}, "deflated": {zipOf(t, text, zip.Deflate, "x"), true},
		"by name": {zipOf(t, nil, zip.Store, "x.echoreplay"), true}, "other zip": {zipOf(t, []byte("hello"), zip.Deflate, "x.txt"), false},
		"nothing": {nil, false}, "cut zip": {[]byte("PK\x03\x04"), false},
	} {
		if got := matchReplay(c.b[:min(len(c.b), formats.HeadSize)]); got != c.want {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
}

// TestSamples walks the trees of real recordings: those in testdata and, if it is there, in the
// folder shared next to the repository.
func TestReplaySamples(t *testing.T) {
	files, err := filepath.Glob("../../testdata/archive/butter/*.echoreplay")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	more, err := filepath.Glob("../../../shared/recordings/butter/*.echoreplay")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, more...) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, err := range nodestest.Check(t, replayDir(t, b)) {
			t.Errorf("%s: %s: %v", file, name, err)
		}
	}
}

func TestNumbers(t *testing.T) {
	for in, want := range map[string]string{
		`1.5`: "1.5 -", `-7`: "-7 -7", `3.0`: "3 3", `"NaN"`: "NaN -", `"Infinity"`: "+Inf -", `"-Infinity"`: "-Inf -",
		`1e30`: "1e+30 -", `1e39`: "- -", `"1.5"`: "- -", `true`: "- -", `"inf"`: "- -", `9223372036854775807`: "9.223372e+18 9223372036854775807",
		`9223372036854775808`: "9.223372e+18 -", `null`: "- -", `[1]`: "- -", `16777217.0`: "1.6777216e+07 16777217",
	} {
		show := func(v any, ok bool) any {
			if !ok {
				return "-"
			}
			return v
		}
		x, isFloat := ParseFloat([]byte(in))
		n, isInt := ParseInt([]byte(in))
		if got := fmt.Sprint(show(x, isFloat), " ", show(n, isInt)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestSavedReplay(t *testing.T) {
	nodestest.Saved(t, "../../testdata/butter/saved-echoreplay.sums", indexfile.Layout, func(b []byte) []byte {
		r, err := newReplayReader(t.Context(), formats.BytesReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		x, err := r.Scan(t.Context(), r.size, nil)
		if err != nil {
			t.Fatal(err)
		}
		return x.Append(r.Append(nil))
	}, "../../testdata/archive/butter/*.echoreplay")
}

// FuzzOrder holds what is shown of a document to the document.
func FuzzOrder(f *testing.F) {
	f.Add([]byte(`{"err_code":0,"teams":[{"x":[[{"a":1}]],"players":[{"name":"a\"b","stats":{ }}]},[[]],3],"err_code":1}`))
	f.Add([]byte(`{"err_code":{` + strings.Repeat(`"x":[1, 2],`, quickMembers) + `"disc":{}},"teams":[{"team":"x","players":[{"level":1,"name":2}]}],"disc":1}`))
	f.Add([]byte(`{"err_code":"` + strings.Repeat("x", quickBytes) + `","err_code":2,"disc":{"up":[0],"position":3}}`))
	f.Add([]byte(`{"teams":[{` + strings.Repeat(`"players":[{"level":1,"name":2}],`, quickMembers) + `"x":0}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		(&lineParser{lean: true}).read(&replayFrame{session: b}) // whether it is JSON or not
		if !isObject(b) {
			return
		}
		b = bytes.TrimLeft(b, spaces)
		out := appendOrdered(nil, b, &sessionObject.shape)
		w := jsonenc.Walk(b)
		if looked := sessionObject.appendNext(nil, &w, false); !bytes.Equal(out, looked) {
			t.Fatalf("%s becomes %s, %s where keys are looked for first", b, out, looked)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, out); err != nil || compact.Len() != len(out) {
			t.Fatalf("%s becomes %s, %v", b, out, err)
		}
		compact.Reset()
		if err := json.Compact(&compact, b); err != nil || compact.Len() != len(out) {
			t.Fatalf("%s becomes %s of another length", compact.String(), out)
		}
		fr := replayFrame{session: b}
		new(lineParser).read(&fr)
	})
}

// withoutStats returns what tables have of a frame.
func withoutStats(f *Frame) string {
	g := Frame{Time: f.Time, Kind: f.Kind, Teams: f.Teams}
	for i := range g.Teams {
		g.Teams[i].Players = slices.Clone(g.Teams[i].Players)
		for p := range g.Teams[i].Players {
			g.Teams[i].Players[p].Stats = Stats{}
		}
	}
	return fmt.Sprintf("%+v", g) // in which NaN is itself
}

// sameVisit holds what tables are given of a chunk to the chunk.
func sameVisit(t *testing.T, r *replayReader, n int, info *ChunkInfo, c *Chunk) {
	t.Helper()
	i := 0
	ok, err := r.visit(t.Context(), n, info, func(f *Frame) error {
		if got, want := withoutStats(f), withoutStats(&c.Frames[i]); got != want {
			t.Errorf("frame %d is %s, want %s", i, got, want)
		}
		i++
		return nil
	})
	if err != nil || !ok || i != len(c.Frames) {
		t.Errorf("%d of %d frames, %t, %v", i, len(c.Frames), ok, err)
	}
}

// Frames of which the index does not know, or too many of it, make no tables.
func TestVisitMore(t *testing.T) {
	text := textOf(3)
	r, err := newReplayReader(t.Context(), formats.BytesReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	info := &ChunkInfo{Stored: int64(len(text)), Ticks: 2}
	n := 0
	ok, err := r.visit(t.Context(), 0, info, func(*Frame) error {
		n++
		return nil
	})
	if err != nil || ok || n != 2 {
		t.Errorf("%d frames, %t, %v", n, ok, err)
	}
}

// FuzzScan holds the chunks that are read by themselves to the pass over the whole text.
func FuzzReplayScan(f *testing.F) {
	f.Add(textOf(2))
	f.Add(zipOf(f, textOf(2), zip.Deflate, "x"))
	f.Add(zipOf(f, textOf(1), zip.Store, "x"))
	f.Add([]byte(stamp + "\t" + long(`"teams":[{"players":[{"lhand":[1,2,3],"name":"{","name":"a","stats":{"goals":1}}],"players":7},[]],"disc":7`) + "\t{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		matchReplay(b)
		r, err := newReplayReader(t.Context(), formats.BytesReader(b), int64(len(b)))
		if err != nil {
			return
		}
		x, err := r.Scan(t.Context(), r.size, nil)
		if err != nil {
			t.Fatal(err)
		}
		for n := range x.Chunks {
			c, _, err := r.Chunk(t.Context(), n, &x.Chunks[n])
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Frames) != x.Chunks[n].Ticks {
				t.Fatalf("chunk %d has %d frames by itself, %d in the pass", n, len(c.Frames), x.Chunks[n].Ticks)
			}
			sameVisit(t, r, n, &x.Chunks[n], c)
			lines := int64(0)
			for _, p := range piecesOf(&x.Chunks[n]) {
				lines += p.Sizes[viewLines.number]
			}
			if got := viewLines.render(c, nil, 0); int64(len(got)) != lines {
				t.Fatalf("the lines of chunk %d have %d bytes, %d in the pass", n, len(got), lines)
			}
			for i := range c.Frames {
				if tick := c.Tick(i); !json.Valid(tick) {
					t.Fatalf("tick %d: %s", i, tick)
				}
			}
		}
		formatstest.Try(t.Context(), replayDir(t, b))
	})
}

func TestGrowingReplay(t *testing.T) {
	text := textOf(chunkFrames + 50)
	formatstest.Growing(t, Replay, text, len(text)/50, len(text)/nodestest.Times(23, 4),
		"events.jsonl", "export/disc.csv", "export/players.csv", "export/sample.echoreplay.txt", "lines/000000.jsonl", "lines/000001.jsonl")
	formatstest.Growing(t, Replay, zipOf(t, text[:9000], zip.Deflate, "x.echoreplay"), 400, nodestest.Times(100, 1000))
}
