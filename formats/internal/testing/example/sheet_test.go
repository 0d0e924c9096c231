package example

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// A document is what index.json says.
type document struct {
	Complete, Finished bool
	End                string
	Totals             struct{ Ticks, Players, Chunks int }
	Chunks             []struct{ Chunk, Offset, Stored, Ticks int }
	Problems           []struct {
		Code, Message string
		Chunk, Offset int
	}
}

func documentOf(t testing.TB, log string) (doc document, root nodes.Dir) {
	t.Helper()
	root, err := openBytes(t, []byte(log))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(nodestest.Read(t, root, "index.json")), &doc); err != nil {
		t.Fatal(err)
	}
	return doc, root
}

// What is no header says where it is not.
func TestRefused(t *testing.T) {
	for log, want := range map[string]int64{
		"": 0, "SCOR": 0, "POINTS": 0, "SCOR\x02" + head[5:]: 0, headerOf(0, 0): 7, headerOf(1001, 0): 7, head[:9]: 9, head[:len(head)-1]: 19,
	} {
		_, err := openBytes(t, []byte(log))
		if e, ok := errors.AsType[*formats.Error](err); !ok || e.Offset != want {
			t.Errorf("%.60q: %v, want offset %d", log, err, want)
		}
		if cut := strings.HasPrefix(head, log) && len(log) > len(magic); cut != errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%.60q: %v", log, err)
		}
	}
}

// What a chunk has before a fault is shown. What lies in it alone fails with the problem of the
// index, and so does a state that cannot be known. The chunks after it are whole.
func TestDamage(t *testing.T) {
	before, after := newChunk(1, 0, "a", "b").add(1, 0, 1).frame(), newChunk(20, 0, "a", "b").add(20, 1, 2).frame()
	sound := newChunk(5, 0, "a", "b").add(6, 0, 3).add(8, 1, 4)
	lost := []string{"chunks/000001", "lines/000001.jsonl"}
	for name, x := range map[string]struct {
		frame, code string
		ticks, fail []string
	}{
		"checksum": {broken(sound.frame()), codeChecksum, nil, lost},
		"no zlib":  {frameOf([]byte("what is this"), 12), codeZlib, nil, lost},
		"break":    {frameOf([]byte(cutStream(sound.b, len(sound.b)-2)), len(sound.b)), codeZlib, []string{"6"}, []string{"chunks/000001", "states/00000006.json"}},
		"size":     {frameOf([]byte(sound.frame())[frameHead:], len(sound.b)+1), codeZlib, []string{"6", "8"}, []string{"chunks/000001", "states/00000008.json"}},
		"trailing": {frameOf([]byte(sound.frame() + "x")[frameHead:], len(sound.b)), codeZlib, []string{"6", "8"}, []string{"chunks/000001", "states/00000008.json"}},
		"player":   {newChunk(5, 0, "a", "b").add(6, 0, 3).add(8, 1, 4).add(9, 2, 5).frame(), codeRecord, []string{"6", "8"}, []string{"states/00000008.json"}},
		"points":   {newChunk(5, 0, "a", "b").add(6, 0, 3).add(8, 1, 1<<31).frame(), codeRecord, []string{"6"}, []string{"states/00000006.json"}},
		"tick":     {newChunk(5, 0, "a", "b").add(6, 0, 3).add(1<<31, 1, 1).frame(), codeRecord, []string{"6"}, []string{"states/00000006.json"}},
		"order":    {newChunk(1, 0, "a", "b").add(6, 0, 3).frame(), codeRecord, nil, []string{"lines/000001.jsonl"}},
		"name":     {(&chunkText{b: []byte{5, 1, 9, 'a'}}).frame(), codeRecord, nil, []string{"lines/000001.jsonl"}},
	} {
		doc, root := documentOf(t, head+before+x.frame+after+ending)
		if len(doc.Problems) != 1 || doc.Problems[0].Code != x.code || doc.Problems[0].Chunk != 1 || doc.Problems[0].Offset != len(head+before) || doc.Complete || !doc.Finished {
			t.Errorf("%s: %+v", name, doc)
			continue
		}
		unreadable := nodestest.Check(t, root)
		if got := slices.Sorted(maps.Keys(unreadable)); !slices.Equal(got, x.fail) {
			t.Errorf("%s: %q fail, want %q", name, got, x.fail)
		}
		_, err := nodes.ReadFile(t.Context(), root, "states/00000010.json")
		for _, err := range append(slices.Collect(maps.Values(unreadable)), err) {
			if e, ok := formats.Coded(err); !ok || e.Problem().Message != doc.Problems[0].Message {
				t.Errorf("%s: fails with %v", name, err)
			}
		}
		want := "tick,player,score\n1,a,1\n"
		for i, tick := range x.ticks {
			want += fmt.Sprintf("%s,%c,%d\n", tick, 'a'+i, 3+i)
		}
		if got := nodestest.Read(t, root, "export/changes.csv"); got != want+"20,b,2\n" {
			t.Errorf("%s: changes.csv is %s", name, got)
		}
		for _, tick := range append(x.ticks, "1", "20") {
			nodestest.Read(t, root, "ticks/"+tick+".json")
		}
		for _, tick := range []string{"1", "20"} {
			nodestest.Read(t, root, "states/"+tick+".json")
		}
	}
}

// A frame that is impossible ends the pass, with its head, and one that is not whole does not.
func TestEndings(t *testing.T) {
	one := newChunk(5, 0, "a").add(6, 0, 3).frame()
	for name, x := range map[string]struct {
		log, end string
		chunks   int
		problems int
	}{
		"nothing": {"", endUnfinished, 0, 0}, "chunks": {one, endUnfinished, 1, 0}, "end": {one + ending, endFinished, 1, 0},
		"more": {one + ending + one, endFinished, 1, 0}, "cut": {one + one[:len(one)-1], endCut, 1, 0}, "head": {one + one[:frameHead-1], endCut, 1, 0},
		"long":   {one + frameOf(nil, 5) + one, endDamaged, 1, 1},
		"longer": {one + "\xff\xff\xff\x7f\x05\x00\x00\x00\x00\x00\x00\x00", endDamaged, 1, 1},
		"bomb":   {one + "\x05\x00\x00\x00\xff\xff\xff\x7f\x00\x00\x00\x00", endDamaged, 1, 1},
	} {
		doc, root := documentOf(t, head+x.log)
		if doc.End != x.end || doc.Totals.Chunks != x.chunks || len(doc.Problems) != x.problems || doc.Finished != (x.end == endFinished) || doc.Complete != (x.problems == 0) {
			t.Errorf("%s: %+v", name, doc)
		}
		for file, err := range nodestest.Check(t, root) {
			t.Errorf("%s: %s: %v", name, file, err)
		}
		h, index := scanBytes(t, []byte(head+x.log))
		s, err := summary(t.Context(), formats.Recording{Input: formatstest.BytesInput("x", []byte(head+x.log), time.Time{}), Head: h}, index)
		if err != nil || s.End != x.end || s.Chunks != x.chunks {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

// A read that fails, or gives too little, is no damage: there is no index.
func TestUnread(t *testing.T) {
	log := longLog(10)
	in := formatstest.BytesInput("x.scores", []byte(log), time.Unix(1e9, 0))
	h, err := open(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	in.Size += frameHead // the source is shorter than it says
	_, err = scan(t.Context(), in, h, nil)
	if _, damaged := formats.Coded(err); damaged || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a source that is too short: %v", err)
	}
}

// Bytes that change behind the index are none of the recording.
func TestStale(t *testing.T) {
	log := []byte(longLog(600) + ending)
	root, err := openBytes(t, log)
	if err != nil {
		t.Fatal(err)
	}
	nodestest.Read(t, root, "index.json")
	log[len(head)+frameHead+9] ^= 1
	for _, name := range []string{"chunks/0", "lines/0.jsonl", "ticks/0.json", "states/3.json", "export/changes.csv"} {
		if _, err := nodes.ReadFile(t.Context(), root, name); !errors.Is(err, nodes.ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
	}
	nodestest.Read(t, root, "states/150.json")
}

// Wherever a log is cut, the chunks before the cut are shown.
func TestCutAnywhere(t *testing.T) {
	log := longLog(900) + ending
	for n := len(head); n <= len(log); n += 1 + n%5 {
		_, x := scanBytes(t, []byte(log[:n]))
		got := x.(*index)
		if want := strings.HasPrefix(log, log[:got.reach]) && got.reach <= int64(n); !want || len(got.problems) > 0 || got.ended != (n == len(log)) {
			t.Errorf("%d bytes: %+v", n, got)
		}
	}
	_, root := documentOf(t, log[:len(log)-30])
	for name, err := range nodestest.Check(t, root) {
		t.Errorf("%s: %v", name, err)
	}
}

// A tick has its scores, and a state those of all players then.
func TestTicks(t *testing.T) {
	const n = 2*inChunk + 100
	doc, root := documentOf(t, longLog(n))
	if len(doc.Chunks) != 3 || doc.Chunks[2].Ticks != 34 || doc.Chunks[2].Offset+doc.Chunks[2].Stored != len(longLog(n)) || doc.Totals.Players != 5 {
		t.Fatalf("%+v", doc)
	}
	for _, tick := range []int{0, 1, 99, 100, 101, 199, 200, (n - 1) / inTick} {
		want := make([]standing, 5)
		for i := range want {
			want[i].Player = fmt.Sprintf("player%d", i)
		}
		for i := range min(inTick*tick+inTick, n) {
			want[i%5].Points = int32(i)
		}
		var state struct {
			Tick   int
			Scores []standing
		}
		if err := json.Unmarshal([]byte(nodestest.Read(t, root, fmt.Sprintf("states/%08d.json", tick))), &state); err != nil {
			t.Fatal(err)
		}
		if state.Tick != tick || !slices.Equal(state.Scores, want) {
			t.Errorf("tick %d: %+v, want %v", tick, state, want)
		}
		if got := strings.Count(nodestest.Read(t, root, fmt.Sprintf("ticks/%d.json", tick)), "score\":"); got != min(inTick, n-inTick*tick) {
			t.Errorf("tick %d: %d scores", tick, got)
		}
	}
	for _, name := range []string{"states/750.json", "states/@09:59:59.json", "ticks/750.json", "ticks/@2026-11-22T10:01:00Z.json", "lines/3.jsonl"} {
		if _, err := nodes.Lookup(t.Context(), root, name); err == nil {
			t.Errorf("%s opens", name)
		}
	}
	_, root = documentOf(t, head+newChunk(2, 0, "ann", "bob").add(2, 0, 1).add(9, 1, 4).frame())
	if got := nodestest.Read(t, root, "states/5.json"); !strings.Contains(got, `"ann","score":1`) || !strings.Contains(got, `"bob","score":1`) {
		t.Errorf("the state of tick 5 is %s", got)
	}
}

// The document of a tick with many scores is made in parts, and looks like any other.
func TestLongTick(t *testing.T) {
	const n = 3*longTick + 1
	c := newChunk(1, 0, "a", "b\xff").add(1, 0, 1)
	var want strings.Builder
	want.WriteString("{\n  \"tick\": 7,\n  \"scores\": [\n")
	for i := range n {
		c.add(7, byte(i%2), int64(i))
		player := `"a"`
		if i%2 == 1 {
			player = `"b\ufffd","player_hex":"62ff"`
		}
		fmt.Fprintf(&want, "    {\"tick\":7,\"player\":%s,\"score\":%d},\n", player, i)
	}
	_, root := documentOf(t, head+c.add(8, 1, 5).frame())
	if got := nodestest.Read(t, root, "ticks/7.json"); got != strings.TrimSuffix(want.String(), ",\n")+"\n  ]\n}\n" {
		t.Errorf("%d bytes: %.300s", len(got), got)
	}
	for name, err := range nodestest.Check(t, root) {
		t.Errorf("%s: %v", name, err)
	}
}

// Without a start there are no times.
func TestNoStart(t *testing.T) {
	doc, root := documentOf(t, headerOf(50, noDate)+newChunk(0, 0, "a").add(3, 0, 1).frame())
	if _, err := nodes.Lookup(t.Context(), root, "ticks/@10:00:00.json"); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("a time opens: %v", err)
	}
	if !doc.Complete || !strings.Contains(nodestest.Read(t, root, "header.json"), `"start": null`) {
		t.Errorf("%+v", doc)
	}
}

// What a chunk takes is charged: a request that has less begins again with as much.
func TestCharged(t *testing.T) {
	c := newChunk(0, 0, strings.Repeat("\xff", 255))
	for i := range maxRecords {
		c.add(int64(i), 0, 1)
	}
	log := head + c.frame()
	cache := cache.New(1<<20, nil)
	defer cache.Close()
	root, err := formatstest.Open(t.Context(), Format, formatstest.BytesInput("x.scores", []byte(log), time.Unix(1e9, 0)), cache)
	if err != nil {
		t.Fatal(err)
	}
	var lines []byte
	err = cache.Do(t.Context(), 0, func(ctx context.Context) (err error) {
		lines, err = nodes.ReadFile(ctx, root, "lines/0.jsonl")
		return err
	})
	if _, peak := cache.Work(); err != nil || peak < 2*int64(len(lines)) {
		t.Errorf("%d bytes are charged for %d of lines, %v", peak, len(lines), err)
	}
}

// A saved index that is cut is none, and one of a log that is shorter is of another.
func TestSavedCut(t *testing.T) {
	log := []byte(longLog(900) + broken(newChunk(500, 0, "a").frame()) + ending)
	h, x := scanBytes(t, log)
	saved := x.Append(nil)
	in := formatstest.BytesInput("x.scores", log, time.Unix(1e9, 0))
	if again, err := readIndex(in, h, saved); err != nil || string(again.Append(nil)) != string(saved) {
		t.Errorf("read back another index, %v", err)
	}
	for n := range saved {
		if _, err := readIndex(in, h, saved[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are an index", n, len(saved))
		}
	}
	in.Size = int64(len(log) - 1)
	if _, err := readIndex(in, h, saved); !errors.Is(err, formats.ErrOther) {
		t.Errorf("of a shorter log: %v", err)
	}
	for _, saved := range []string{"", head + "x", "POINTS", head[:len(head)-1]} {
		if _, err := readHead(t.Context(), in, []byte(saved)); !errors.Is(err, formats.ErrOther) {
			t.Errorf("%.20q is a head: %v", saved, err)
		}
	}
}

// Chunks that give many ticks for their bytes end the pass before the index has too many.
func TestManyTicks(t *testing.T) {
	nodestest.Long(t)
	log := []byte(head)
	const each = maxRecords
	for tick := int64(0); tick <= maxTicks+2*each; tick += each {
		c := newChunk(tick, 0, "a")
		for i := range int64(each) {
			c.add(tick+i, 0, 0)
		}
		log = append(log, c.frame()...)
	}
	_, x := scanBytes(t, log)
	if got := x.(*index); !got.broken || len(got.ticks) > maxTicks+each || len(got.problems) != 1 || got.problems[0].Code != codeMany {
		t.Errorf("%d ticks, %d chunks, %v", len(got.ticks), len(got.chunks), got.problems)
	}
}

// Of many problems the first are listed, the last of which says that there are more, and the one
// that ends the pass.
func TestManyProblems(t *testing.T) {
	bad := broken(newChunk(0, 0, "a").frame())
	doc, _ := documentOf(t, head+strings.Repeat(bad, maxProblems+9)+frameOf(nil, 5))
	if n := len(doc.Problems); n != maxProblems+1 || !strings.HasSuffix(doc.Problems[n-2].Message, "not listed)") || doc.Problems[n-1].Code != codeFrame {
		t.Errorf("%d problems, %+v", n, doc.Problems[max(n-2, 0):])
	}
}

// A record or a player beyond what a chunk may have is damage, and what comes before is shown.
func TestLargeChunk(t *testing.T) {
	c := newChunk(0, 0, "a")
	for i := range maxRecords + 1 {
		c.add(int64(i), 0, 1)
	}
	doc, _ := documentOf(t, head+c.frame()+newChunk(9999, 0, strings.Split(strings.Repeat("a", maxPlayers+1), "")...).add(9999, 0, 1).frame())
	if len(doc.Problems) != 2 || doc.Totals.Ticks != maxRecords || doc.Problems[0].Code != codeRecord || doc.Problems[1].Code != codeRecord {
		t.Errorf("%+v", doc)
	}
}

// A map that is not UTF-8 is a problem of header.json and of index.json, and takes nothing away.
func TestHeaderProblem(t *testing.T) {
	log := strings.Replace(head, "dust", "d\xffst", 1)
	doc, root := documentOf(t, log+ending)
	if len(doc.Problems) != 1 || doc.Problems[0].Offset != len(log)-4 || !doc.Complete || !strings.Contains(nodestest.Read(t, root, "header.json"), `"code":"bad_utf8"`) {
		t.Errorf("%+v", doc)
	}
}
