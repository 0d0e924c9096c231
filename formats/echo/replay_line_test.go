package echo

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

const stamp = "2022/05/01 20:15:30.123"

// long returns a session of these members that is long enough for a frame.
func long(members string) string {
	return `{"pad":"` + strings.Repeat("x", minSession) + `",` + members + `}`
}

// What a line is: a frame, nothing, or damaged (docs/formats/butter.md section 14).
func TestLines(t *testing.T) {
	session := long(`"a":1`)
	just := `{"pad":"` + strings.Repeat("x", minSession-len(`{"pad":""}`)) + `"}`
	for _, c := range []struct {
		name, text string
		want       lineKind
	}{
		{"blank", "", emptyLine},
		{"spaces", "   ", emptyLine},
		{"no tab", stamp + " " + session, emptyLine},
		{"an error of the API", stamp + "\t{\"err_code\":-6}", emptyLine},
		{"799 bytes", stamp + "\t" + just[:len(just)-3] + `"}`, emptyLine},
		{"800 bytes", stamp + "\t" + just, frameLine},
		{"session", stamp + "\t" + session, frameLine},
		{"session and bones", stamp + "\t" + session + "\t{}", frameLine},
		{"a space before the bones", stamp + "\t" + session + "\t {}", frameLine},
		{"no bones behind the tab", stamp + "\t" + session + "\t", frameLine},
		{"a space in place of the bones", stamp + "\t" + session + "\t \n", frameLine},
		{"a space behind which the text ends", stamp + "\t" + session + "\t ", badLine},
		{"spaces around the session", stamp + "\t " + session + " ", frameLine},
		{"a short stamp", stamp[1:] + "\t" + session, badLine},
		{"a bad stamp", "x" + stamp[1:] + "\t" + session, badLine},
		{"a list", stamp + "\t[" + session + "]", badLine},
		{"a session that is cut", stamp + "\t" + session[:len(session)-1], badLine},
		{"bones that are cut", stamp + "\t" + session + "\t{", badLine},
		{"bones that are a list", stamp + "\t" + session + "\t[]", badLine},
		{"more behind the session", stamp + "\t" + session + "}", badLine},
	} {
		if _, got := new(lineParser).line([]byte(c.text)); got != c.want {
			t.Errorf("%s: kind %d, want %d", c.name, got, c.want)
		}
	}
}

// A text keeps the bytes that are not UTF-8, beside escapes too.
func TestParseText(t *testing.T) {
	for value, want := range map[string]string{
		`"a"`: "a", "\"a\xffé\"": "a\xffé", "\"\\n\xff\\\"é\xc3\\u00e9\\ud83d\\ude00\"": "\n\xff\"é\xc3é😀", `"\\"`: `\`, "1": "",
	} {
		if got, ok := ParseText([]byte(value)); got != want || ok != (value[0] == '"') {
			t.Errorf("%q: %q, %v, want %q", value, got, ok, want)
		}
	}
}

// Texts that are not UTF-8 have their bytes in hex in what is made of a recording.
func TestReplayHex(t *testing.T) {
	session := long("\"client_name\":\"C\xff\",\"sessionid\":\"S\xff\",\"sessionip\":\"I\xff\",\"map_name\":\"M\xff\",\"match_type\":\"T\xff\"," +
		"\"teams\":[{\"players\":[{\"name\":\"N\xfe\\t\"}]}]")
	dir := replayDir(t, []byte(stamp+"\t"+session+"\n"))
	for name, want := range map[string][]string{
		"header.json": {
			`"client_name_hex": "43ff"`, `"session_id_hex": "53ff"`, `"session_ip_hex": "49ff"`, `"map_name_hex": "4dff"`, `"match_type_hex": "54ff"`,
		},
		"events.jsonl": {`"name_hex":"4efe09"`},
		"scores.json":  {`"name_hex":"4efe09"`, `"map_name_hex": "4dff"`, `"match_type_hex": "54ff"`},
	} {
		got := nodestest.Read(t, dir, name)
		for _, want := range want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %s in %s", name, want, got)
			}
		}
	}
}

// What a frame takes from its session, from values of the right kind and of others.
func TestReplayFrameValues(t *testing.T) {
	for _, c := range []struct {
		members string
		get     func(f *replayFrame) any
		want    any
	}{
		{`"map_name":"mpl_arena_a"`, func(f *replayFrame) any { return f.Kind }, Arena},
		{`"match_type":"Echo_Combat_Private"`, func(f *replayFrame) any { return f.Kind }, Combat},
		{`"map_name":"mpl_combat_dyson","match_type":"Echo_Arena"`, func(f *replayFrame) any { return f.Kind }, Combat},
		{`"match_type":"Echo_Combat","map_name":"mpl_arena_a"`, func(f *replayFrame) any { return f.Kind }, Combat},
		{`"map_name":"mpl_lobby_b2"`, func(f *replayFrame) any { return f.Kind }, Other},
		{`"match_type":"Echo_Combat","game_status":"x","rules_changed_at":1,"last_score":{"team":"a"},"last_throw":{"arm_speed":1}`, func(f *replayFrame) any { return f.Has }, HasThrow},
		{`"game_status":"","disc":{"x":1},"pause":{"x":1}`, func(f *replayFrame) any { return f.Has }, HasStatus | HasDisc},
		{`"disc":[],"pause":[],"last_throw":null`, func(f *replayFrame) any { return f.Has }, Has(0)},
		{`"game_status":"p\u00e9"`, func(f *replayFrame) any { return f.Status }, "pé"},
		{`"game\u005fstatus":"p","disc":{"bounce_coun\u0074":3}`, func(f *replayFrame) any { return [2]any{f.Status, f.Bounces} }, [2]any{"p", int64(3)}},
		{`"game_status":7`, func(f *replayFrame) any { return f.Status }, ""},
		{`"blue_points":1.5,"blue_points":2.5`, func(f *replayFrame) any { return f.Points[0] }, float32(2.5)},
		{`"blue_points":3.0,"orange_points":"4"`, func(f *replayFrame) any { return f.Points }, [2]float32{3, 0}},
		{`"blue_team_restart_request":1,"orange_team_restart_request":true`, func(f *replayFrame) any { return f.Restart }, [2]int64{1, 0}},
		{`"blue_team_restart_request":0,"orange_team_restart_request":false`, func(f *replayFrame) any { return f.Lacks.Of(LacksRestart, 2) }, Lacks(2)},
		{`"rules_changed_at":-9223372036854775808`, func(f *replayFrame) any { return f.Rules.At }, int64(-1 << 63)},
		{`"last_throw":{"throw_move_penalty":1,"arm_speed":2}`, func(f *replayFrame) any { return [2]float32{f.Throw[12], f.Throw[0]} }, [2]float32{1, 2}},
		{`"disc":{"position":[1,2,3,4],"velocity":[5]}`, func(f *replayFrame) any { return [2]Vec3{f.Disc.Position, f.Disc.Velocity} }, [2]Vec3{{1, 2, 3}, {5}}},
		{`"disc":{"position":{"x":1},"velocity":7}`, func(f *replayFrame) any { return f.Disc }, Disc{}},
		{`"teams":[{"players":[{"name":"a"},{"name":"b"}]},7,null,{"players":[{}]}]`, func(f *replayFrame) any { return len(f.Teams[0].Players) + len(f.Teams[1].Players) }, 2},
		{`"teams":[{"players":[{}]},{"players":[{}]}],"teams":[{"players":[{}]}]`, func(f *replayFrame) any { return len(f.Teams[0].Players) + len(f.Teams[1].Players) }, 1},
		{`"teams":{"players":[]}`, func(f *replayFrame) any { return len(f.Teams[0].Players) }, 0},
		{`"teams":[{"players":[` + strings.Repeat(`{},`, 299) + `{}]}]`, func(f *replayFrame) any { return len(f.Teams[0].Players) }, maxPlayers},
		{`"teams":[{"players":[{"lhand":[1,2,3],"rhand":{"pos":[4,5,6]},"head":{"position":[7,8,9]},"body":"x"}]}]`, func(f *replayFrame) any {
			p := f.Teams[0].Players[0].Poses
			return [4]Vec3{p[LeftHand].Position, p[RightHand].Position, p[Head].Position, p[Body].Position}
		}, [4]Vec3{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}},
		{`"teams":[{"players":[{"stats":{"saves":2,"possession_time":0.5,"x":1}}]}]`, func(f *replayFrame) any {
			p := f.Teams[0].Players[0]
			return fmt.Sprint(p.HasStats, p.Stats.Counts[1], p.Stats.PossessionTime)
		}, "true 2 0.5"},
	} {
		f, kind := new(lineParser).line([]byte(stamp + "\t" + long(c.members)))
		if kind != frameLine {
			t.Fatalf("%s is no frame", c.members)
		}
		if got := c.get(&f); got != c.want {
			t.Errorf("%.80s: %v, want %v", c.members, got, c.want)
		}
	}
	for bones, want := range map[string]bool{`{"user_bones":[{}]}`: true, `{"user_bones":[]}`: false, `{"user_bones":{}}`: false, `{}`: false} {
		f, _ := new(lineParser).line([]byte(stamp + "\t" + long(`"a":1`) + "\t" + bones))
		if got := f.Has&HasBones != 0; got != want {
			t.Errorf("%s: bones %t, want %t", bones, got, want)
		}
	}
}

// Known keys come in the order of docs/tree/butter.md section 4, the others behind them as they
// stood.
func TestOrder(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                `{}`,
		`{"z":1,"a":[ 1 ]}`: `{"z":1,"a":[1]}`,
		`{"err_code":0,"new":{"up":1,"position":2},"sessionid":"s"}`:                             `{"sessionid":"s","err_code":0,"new":{"up":1,"position":2}}`,
		`{"disc":{"up":[0],"x":1,"position":[1.50,2e3]}}`:                                        `{"disc":{"position":[1.50,2e3],"up":[0],"x":1}}`,
		`{"teams":[{"team":"a","players":[{"level":1,"name":"n"}]},5,[{"team":1,"players":2}]]}`: `{"teams":[{"players":[{"name":"n","level":1}],"team":"a"},5,[{"team":1,"players":2}]]}`,
		`{"err_code":1,"err_code":2,"sessionid":"s"}`:                                            `{"sessionid":"s","err_code":1,"err_code":2}`,
		`{"disc":"no object","pause":null}`:                                                      `{"disc":"no object","pause":null}`,
		`{"\u0064isc":{"up":1,"position":2}}`:                                                    `{"\u0064isc":{"up":1,"position":2}}`,
	} {
		if got := string(appendOrdered(nil, []byte(in), &sessionObject.shape)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
	}
}

// Reading a deflated entry anywhere gives the bytes that reading it whole does.
func TestReadAnywhere(t *testing.T) {
	text := textOf(60)
	b := zipOf(t, text, zip.Deflate, "x")
	r, err := newReplayReader(t.Context(), formats.BytesReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		off := random.IntN(len(text))
		p := make([]byte, 1+random.IntN(5000))
		n, err := r.ReadAt(t.Context(), p, int64(off))
		if want := text[off:min(off+len(p), len(text))]; !bytes.Equal(p[:n], want) || (err != nil) != (n < len(p)) {
			t.Fatalf("%d bytes at %d: %d, %v", len(p), off, n, err)
		}
	}
	if n, err := r.ReadAt(t.Context(), make([]byte, 1), int64(len(text))); n != 0 || err == nil {
		t.Errorf("at the end: %d bytes, %v", n, err)
	}
}

// Wherever a file is cut, it opens or says where it ends, and what is whole is shown.
func TestCutAnywhere(t *testing.T) {
	text := textOf(3)
	for name, b := range map[string][]byte{"text": text, "deflated": zipOf(t, text, zip.Deflate, "x.echoreplay"), "stored": zipOf(t, text, zip.Store, "x.echoreplay")} {
		ticks := int64(0)
		for n := range b {
			if n%nodestest.Times(7, 101) != 0 && n > 100 && n < len(b)-nodestest.Times(100, 10) {
				continue
			}
			r, err := newReplayReader(t.Context(), formats.BytesReader(b[:n]), int64(n))
			var e *formats.Error
			if err != nil {
				if !errors.As(err, &e) || e.Offset > int64(n) || !errors.Is(err, io.ErrUnexpectedEOF) || n > 60 {
					t.Errorf("%s of %d bytes: %v", name, n, err)
				}
				continue
			}
			x, err := r.Scan(t.Context(), r.size, nil)
			if err != nil {
				t.Fatalf("%s of %d bytes: %v", name, n, err)
			}
			if x.Ticks < ticks-1 { // a line that ended here goes on with bones
				t.Errorf("%s of %d bytes: %d frames, %d of fewer bytes", name, n, x.Ticks, ticks)
			}
			ticks = max(ticks, x.Ticks)
			if cut := r.layout == layoutZip; cut != (x.End == EndTruncated) {
				t.Errorf("%s of %d bytes ends %s", name, n, x.End)
			}
		}
		if ticks < 2 {
			t.Errorf("%s: %d frames before the last byte", name, ticks)
		}
	}
}

// What does not open, and where it says so.
func TestRefused(t *testing.T) {
	encrypted := zipOf(t, textOf(1), zip.Store, "x")
	encrypted[bytes.Index(encrypted, []byte("PK\x01\x02"))+8] |= 1
	unknown := zipOf(t, textOf(1), zip.Store, "x")
	unknown[8], unknown[bytes.Index(unknown, []byte("PK\x01\x02"))+10] = 99, 99
	for _, c := range []struct {
		name   string
		b      []byte
		offset int64
		kind   error
	}{
		{"encrypted", encrypted, 6, errors.ErrUnsupported},
		{"an unknown method", unknown, 8, errors.ErrUnsupported},
		{"half a local header", encrypted[:20], 20, io.ErrUnexpectedEOF},
		{"a header without its name", encrypted[:30], 30, io.ErrUnexpectedEOF},
	} {
		_, err := newReplayReader(t.Context(), formats.BytesReader(c.b), int64(len(c.b)))
		var e *formats.Error
		if !errors.As(err, &e) || e.Offset != c.offset || !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %v at %d", c.name, err, c.kind, c.offset)
		}
	}
}

// The header tells of the first frame, wherever that is, and of the archive.
func TestHeader(t *testing.T) {
	text := []byte("\ufeff\r\n" + stamp + "\t{\"err_code\":-6}\n" + stamp + "\t" +
		long(`"sessionid":"id","sessionip":"1.2.3.4","match_type":"Echo_Arena","map_name":"m","client_name":"\u00e9","private_match":true,"total_round_count":3,"blue_round_score":1.0,"orange_round_score":"x"`) + "\n")
	const match = `"chunk_frames":300,"client_name":"é","session_id":"id","session_ip":"1.2.3.4","total_round_count":3,"blue_round_score":1,"orange_round_score":null,"map_name":"m","private_match":true,"match_type":"Echo_Arena"`
	for _, c := range []struct {
		b            []byte
		layout, want string
	}{
		{text, "text", `{"compression":"stored",` + match + "}"},
		{zipOf(t, text, zip.Store, "a.echoreplay"), "zip", `{"entry":"a.echoreplay","compression":"stored",` + match + "}"},
		{zipOf(t, text, zip.Deflate, "b"), "zip", `{"entry":"b","compression":"deflate",` + match + "}"},
		{[]byte("nothing"), "text", `{"compression":"stored","chunk_frames":300,"client_name":null,"session_id":null,"session_ip":null,"total_round_count":null,"blue_round_score":null,"orange_round_score":null,"map_name":null,"private_match":null,"match_type":null}`},
	} {
		var doc struct {
			Version string `json:"format_version"`
			Layout  string
			Header  json.RawMessage
		}
		if err := json.Unmarshal([]byte(nodestest.Read(t, replayDir(t, c.b), "header.json")), &doc); err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := json.Compact(&got, doc.Header); err != nil {
			t.Fatal(err)
		}
		if doc.Version != "1" || doc.Layout != c.layout || got.String() != c.want {
			t.Errorf("version %s, layout %s\n%s\nwant %s\n%s", doc.Version, doc.Layout, got.String(), c.layout, c.want)
		}
	}
}

// Damaged lines are one problem for a chunk, where the first of them begins.
func TestDamagedLines(t *testing.T) {
	good, bad := lineOf(0, false)+"\n", stamp+"\t"+long(`"a":`)+"\n"
	text := strings.Repeat(good, 2) + bad + good + bad + strings.Repeat(good, chunkFrames) + bad + "\n\n"
	r, err := newReplayReader(t.Context(), formats.BytesReader([]byte(text)), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	x, err := r.Scan(t.Context(), r.size, nil)
	if err != nil {
		t.Fatal(err)
	}
	last := int64(len(text) - len(bad) - 2)
	if len(x.Problems) != 2 || x.Problems[0].Offset != int64(2*len(good)) || x.Problems[1].Offset != last || *x.Problems[1].Chunk != 1 {
		t.Errorf("%+v, want %d and %d", x.Problems, 2*len(good), last)
	}
	if x.Ticks != chunkFrames+3 || len(x.Chunks) != 2 || x.Chunks[0].Ticks != chunkFrames || !x.Chunks[0].Damaged || x.Chunks[1].Offset+x.Chunks[1].Stored != int64(len(text)) {
		t.Errorf("%d frames in %d chunks, the last %+v", x.Ticks, len(x.Chunks), x.Chunks[len(x.Chunks)-1])
	}
}

// Long lines and what is rendered of them count before they are made, for the head, the index and a
// file.
func TestLongLinesAreCharged(t *testing.T) {
	nodestest.Long(t)
	const size = 3 << 20
	line := stamp + "\t{\"pad\":\"" + strings.Repeat("x", size) + "\"}\r\n"
	src := formatstest.BytesInput("long", []byte(strings.Repeat(line, 4)), time.Unix(1e9, 0))
	peakOf := func(what string, least int64, do func(context.Context) error) {
		t.Helper()
		of := cache.New(256<<20, nil)
		defer of.Close()
		err := of.Do(t.Context(), 1, do)
		if _, peak := of.Work(); err != nil || peak < least {
			t.Errorf("%s: %d bytes counted, want %d: %v", what, peak, least, err)
		}
	}
	peakOf("head", size, func(ctx context.Context) error {
		_, err := newReplayReader(ctx, src, src.Size)
		return err
	})
	r, err := newReplayReader(t.Context(), src, src.Size)
	if err != nil {
		t.Fatal(err)
	}
	var x *Index
	peakOf("index", 4*size+size, func(ctx context.Context) (err error) {
		x, err = r.Scan(ctx, r.size, nil)
		return err
	})
	if x == nil || x.Ticks != 4 {
		t.Fatalf("index %+v", x)
	}
	peakOf("chunk", 4*size, func(ctx context.Context) error {
		_, _, err := r.Chunk(ctx, 0, &x.Chunks[0])
		return err
	})
	for _, name := range []string{"lines/000000.jsonl", "ticks/00000002.json", "export/long.echoreplay.txt"} {
		c := cache.New(256<<20, nil)
		dir, err := formatstest.Open(t.Context(), Replay, src, c)
		if err != nil {
			t.Fatal(err)
		}
		e, err := nodes.Lookup(t.Context(), dir, name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := nodes.ReadAll(t.Context(), e.File)
		if _, peak := c.Work(); err != nil || len(b) < size || peak < int64(len(b)) {
			t.Errorf("%s: %d bytes counted for %d: %v", name, peak, len(b), err)
		}
		c.Close()
	}
}

// Damaged lines are not kept, and count no longer than they are looked at.
func TestDamagedLinesAreFreed(t *testing.T) {
	nodestest.Long(t)
	line := strings.Repeat("x", 1<<20) + "\t{\"pad\":\"" + strings.Repeat("x", minSession) + "\n"
	b := []byte(strings.Repeat(line, 3*chunkText>>20))
	c := cache.New(256<<20, nil)
	defer c.Close()
	err := c.Do(t.Context(), 1, func(ctx context.Context) error {
		r, err := newReplayReader(ctx, formats.BytesReader(b), int64(len(b)))
		if err != nil {
			return err
		}
		x, err := r.Scan(ctx, r.size, nil)
		if err == nil && (len(x.Chunks) < 3 || x.Ticks != 0) {
			t.Errorf("%d chunks, %d frames", len(x.Chunks), x.Ticks)
		}
		return err
	})
	if _, peak := c.Work(); err != nil || peak > partText {
		t.Errorf("%d bytes counted, %v", peak, err)
	}
}

// A tick of a chunk of long lines is made of its part of the chunk alone.
func TestParts(t *testing.T) {
	nodestest.Long(t)
	const size, lines = 1 << 20, 18
	text := []byte(strings.Repeat("\r\n", 100) + strings.Repeat(stamp+"\t{\"pad\":\""+strings.Repeat("x", size)+"\"}\r\n", lines))
	read := int64(0)
	in := formatstest.BytesInput("x", text, time.Unix(1e9, 0))
	in.ReaderAt = countingReader{in.ReaderAt, &read}
	dir, err := formatstest.Open(t.Context(), Replay, in, formatstest.NewCache(t))
	if err != nil {
		t.Fatal(err)
	}
	first := nodestest.Read(t, dir, "ticks/0.json")
	for _, n := range []int{10, lines - 1} {
		read = 0
		if got := nodestest.Read(t, dir, fmt.Sprintf("ticks/%d.json", n)); len(got) != len(first)+1 || !strings.Contains(got, fmt.Sprint(n)) {
			t.Errorf("tick %d has %d bytes, the first one %d", n, len(got), len(first))
		}
		if read == 0 || read > partText+2*size {
			t.Errorf("tick %d takes %d bytes of the text, a part has %d", n, read, partText)
		}
	}
	if got := nodestest.Read(t, dir, "chunks/000000"); got != string(text) {
		t.Errorf("the chunk has %d bytes, want %d", len(got), len(text))
	}
}

// A countingReader counts the bytes that are read.
type countingReader struct {
	formats.ReaderAt
	n *int64
}

func (r countingReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(ctx, p, off)
	*r.n += int64(n)
	return n, err
}

// However long nothing is a frame, those behind it are shown.
func TestFramesBehindBlankLines(t *testing.T) {
	nodestest.Long(t)
	blank := strings.Repeat(" ", 64<<10-1) + "\n"
	text := strings.Repeat(lineOf(0, false)+"\n", chunkFrames) + strings.Repeat(blank, chunkText/len(blank)+1) + lineOf(1, true) + "\n"
	r, err := newReplayReader(t.Context(), formats.BytesReader([]byte(text)), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	x, err := r.Scan(t.Context(), r.size, nil)
	if err != nil || x.Ticks != chunkFrames+1 || len(x.Chunks) != 2 || len(x.Problems) > 0 {
		t.Fatalf("%d frames in %d chunks, %v, %v", x.Ticks, len(x.Chunks), x.Problems, err)
	}
}

// A session of very many members takes no memory beside its text, and no shape has more keys than
// there is room for.
func TestManyMembers(t *testing.T) {
	session := []byte(`{"z":0` + strings.Repeat(`,"disc":{"up":1},"":0`, 10_000) + "}")
	dst := make([]byte, 0, 2*len(session))
	if n := testing.AllocsPerRun(5, func() { dst = appendOrdered(dst[:0], session, &sessionObject.shape) }); n > 10 {
		t.Errorf("%v allocations", n)
	}
	if !json.Valid(dst) || len(dst) != len(session) {
		t.Errorf("%d bytes of %d", len(dst), len(session))
	}
	for _, s := range []*shape{&sessionObject.shape, bonesShape, &playerObject.shape, &teamObject.shape} {
		if len(s.keys) > maxKeys {
			t.Errorf("%d keys", len(s.keys))
		}
	}
}
