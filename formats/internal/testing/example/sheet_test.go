package example

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

const head = "scores 1 2026-11-22T10:00:00Z 50 dust\n"

// A document is what index.json says.
type document struct {
	Complete, Finished bool
	End                string
	Totals             struct{ Ticks, Players, Chunks int }
	Chunks             []struct{ Chunk, Offset, Stored, Lines int }
	Problems           []struct {
		Code, Message string
		Offset        int
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
		"": 0, "scores": 0, "scores 1 2026-11-22T10:00:00Z 50 dust": 0, strings.TrimSuffix(head, "\n") + strings.Repeat("x", maxLine) + "\n": 0,
		"points 1 2026-11-22T10:00:00Z 50 dust\n": 0, "scores 2 2026-11-22T10:00:00Z 50 dust\n": 0, "scores 1 2026-11-22T10:00:00Z 50\n": 0,
		"scores 1 2026-11-22T10:00:00Z 50 dust more\n": 0, "scores 1 yesterday 50 dust\n": 9, "scores 1 2026-02-30T10:00:00Z 50 dust\n": 9,
		"scores 1 2026-11-22T10:00:00Z 0 dust\n": 30, "scores 1 2026-11-22T10:00:00Z 1001 dust\n": 30, "scores 1 2026-11-22T10:00:00Z -1 d\n": 30,
	} {
		_, err := openBytes(t, []byte(log))
		var e *formats.Error
		if !errors.As(err, &e) || e.Offset != want {
			t.Errorf("%.60q: %v, want offset %d", log, err, want)
		}
		if whole := strings.HasSuffix(log, "\n") && len(log) <= maxLine; whole == errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%.60q: %v", log, err)
		}
	}
}

// Lines that are none are left out and told of with their offsets, whatever is wrong with them.
func TestLines(t *testing.T) {
	for line, reason := range map[string]string{
		"5 a 3": "", "5 a -2147483648": "", "2147483647 a 1": "", "5 \xff 1": "", "5 a 1\r": "not a tick", "": "not a tick", "x": "not a tick",
		"5 a": "not a tick", "5  3": "not a tick", "5 a 3 4": "not a tick", "-1 a 3": "not a tick", "2147483648 a 3": "not a tick",
		"5 a 2147483648": "not a tick", "5 a 1.5": "not a tick", "3 a 1": "before", "end 3": "not a tick", "end x": "not a tick",
		strings.Repeat("x", maxLine): "not a tick", "5 " + strings.Repeat("p", maxLine-5) + " 1": "",
		"5 " + strings.Repeat("p", maxLine-4) + " 1": "not a tick",
	} {
		before := head + "4 first 1\n"
		doc, root := documentOf(t, before+line+"\n2147483647 last 2\n")
		switch {
		case reason == "" && (len(doc.Problems) > 0 || doc.Chunks[0].Lines != 3 || !doc.Complete):
			t.Errorf("%.40q: %+v", line, doc)
		case reason != "" && (len(doc.Problems) != 1 || doc.Problems[0].Offset != len(before) || !strings.Contains(doc.Problems[0].Message, reason) || doc.Chunks[0].Lines != 2 || doc.Complete):
			t.Errorf("%.40q: %+v", line, doc)
		}
		for name, err := range nodestest.Check(t, root) {
			t.Errorf("%.40q: %s: %v", line, name, err)
		}
	}
}

// Wherever a log is cut, the lines before the cut are shown.
func TestCutAnywhere(t *testing.T) {
	log := head + "0 ann 3\n0 bob -1\n120 ann 5\nend 200\n"
	for n := len(head); n <= len(log); n++ {
		doc, root := documentOf(t, log[:n])
		lines := strings.Count(log[len(head):n], "\n")
		ended := n == len(log)
		if ended {
			lines--
		}
		got := 0
		if len(doc.Chunks) > 0 {
			got = doc.Chunks[0].Lines
		}
		if got != lines || doc.Finished != ended || (doc.End == endClean) != ended || !doc.Complete || len(doc.Problems) > 0 {
			t.Errorf("%d bytes: %+v, want %d lines", n, doc, lines)
		}
		for name, err := range nodestest.Check(t, root) {
			t.Errorf("%d bytes: %s: %v", n, name, err)
		}
	}
	// What follows the end belongs to nothing.
	if doc, _ := documentOf(t, log+"300 ann 9\nwhat\n"); !doc.Finished || len(doc.Problems) > 0 || doc.Chunks[0].Lines != 3 {
		t.Errorf("behind the end: %+v", doc)
	}
}

// A tick has the scores of all players then, in whatever chunk they were made, and chunks are the
// lines of the log.
func TestTicks(t *testing.T) {
	const lines = 2*chunkLines + 100
	log := longLog(lines)
	doc, root := documentOf(t, log)
	if len(doc.Chunks) != 3 || doc.Chunks[2].Lines != 100 || doc.Chunks[2].Offset+doc.Chunks[2].Stored != len(log) || doc.Totals.Players != 5 {
		t.Fatalf("%+v", doc)
	}
	for _, tick := range []int{0, 1, 340, 341, 342, 682, 683, (lines - 1) / 3} {
		scores := map[string]int{}
		for i := range min(3*tick+3, lines) {
			scores[fmt.Sprintf("player%d", i%5)] = i
		}
		var got struct {
			Tick   int
			Scores map[string]int
		}
		if err := json.Unmarshal([]byte(nodestest.Read(t, root, fmt.Sprintf("states/%08d.json", tick))), &got); err != nil {
			t.Fatal(err)
		}
		if got.Tick != tick || fmt.Sprint(got.Scores) != fmt.Sprint(scores) {
			t.Errorf("tick %d: %+v, want %v", tick, got, scores)
		}
	}
	for _, name := range []string{"states/750.json", "states/@09:59:59.json", "ticks/750.json", "ticks/@2026-11-22T10:01:00Z.json", "lines/3.jsonl"} {
		if _, err := nodes.Lookup(t.Context(), root, name); err == nil {
			t.Errorf("%s opens", name)
		}
	}
}

// A saved index that is cut is none, and one of a log that is shorter is of another.
func TestSavedCut(t *testing.T) {
	log := []byte(longLog(1500) + "bad\nend 600\n")
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
	for _, saved := range []string{"", head, "points\n", strings.Repeat("x", maxLine)} {
		if _, err := readHead(t.Context(), in, []byte(saved)); !errors.Is(err, formats.ErrOther) {
			t.Errorf("%.20q is a head: %v", saved, err)
		}
	}
}

// The scores of a tick are in its file whatever chunks they lie in, and a state opens at a tick
// without a score.
func TestTickInTwoChunks(t *testing.T) {
	_, root := documentOf(t, longLog(2*chunkLines)) // three lines a tick
	for _, tick := range []int{0, (chunkLines - 1) / 3, chunkLines / 3, (2*chunkLines - 1) / 3} {
		var got struct{ Scores []score }
		if err := json.Unmarshal([]byte(nodestest.Read(t, root, fmt.Sprintf("ticks/%d.json", tick))), &got); err != nil {
			t.Fatal(err)
		}
		if want := min(3, 2*chunkLines-3*tick); len(got.Scores) != want || got.Scores[0].Score != int32(3*tick) {
			t.Errorf("tick %d: %v, want %d scores", tick, got.Scores, want)
		}
	}
	_, root = documentOf(t, head+"2 ann 1\n9 bob 4\n")
	if got := nodestest.Read(t, root, "states/5.json"); !strings.Contains(got, `"ann": 1`) || strings.Contains(got, "bob") {
		t.Errorf("the state of tick 5 is %s", got)
	}
}
