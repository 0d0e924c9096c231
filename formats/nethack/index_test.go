package nethack

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// sampleGame writes a game with three backups whose diffs mix the formats.
func sampleGame(saveSize int) *gameWriter {
	w := newGame("Agnes")
	w.backup(testSave(saveSize), 1)
	turn := int32(1)
	kinds := []diffFormat{beta3, beta1, beta3, beta2}
	for i := range 24 {
		w.line("move D4", 1000)
		if i%5 == 2 {
			w.line("K97,-1", 7)
		}
		turn += int32(i % 3 / 2 * 3)
		switch i {
		case 9, 17:
			w.backup(append(testSave(saveSize+i), 1, 2, 3), turn)
			continue
		}
		ops := []op{{cmd: cmdCopy, n: 8 + i%4}, {cmd: cmdEdit, data: []byte{byte(i), 'x'}}}
		at := 24 + 8 + i%4 + 2
		if i%4 == 3 {
			ops = append(ops, op{cmd: cmdEdit, data: []byte("new")}, op{cmd: cmdSeek, n: 3})
		}
		w.diff(kinds[i%4], turn, append(ops, w.rest(at))...)
	}
	return w
}

func mustIndex(t testing.TB, log []byte) *index {
	t.Helper()
	h, err := readHeader(t.Context(), bytes.NewReader(log), int64(len(log)))
	if err != nil {
		t.Fatal(err)
	}
	x, err := scan(t.Context(), logSource(log), h, nil)
	if err != nil {
		t.Fatal(err)
	}
	return x.(*index)
}

// resume goes on from a saved index, as if the log began with the bytes of that.
func resume(ctx context.Context, log []byte, h *header, saved []byte) (*index, error) {
	x, err := readIndex(logSource(log), h, saved)
	if err == nil {
		x, err = scan(ctx, logSource(log), h, x)
	}
	if err != nil {
		return nil, err
	}
	return x.(*index), nil
}

// saveSums rebuilds every save and returns the sums by offset of their lines.
func saveSums(t testing.TB, x *index, log []byte) map[int64]string {
	t.Helper()
	sums := map[int64]string{}
	var re rebuilder
	for n := range x.ticks.len() {
		if x.ticks.lost(n) {
			continue
		}
		from := n - 1
		if x.ticks.backup(n) {
			from, re.save = n, nil
		}
		if err := x.rebuild(t.Context(), bytes.NewReader(log), &re, from, n); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(re.save)
		sums[x.ticks.off(n)] = hex.EncodeToString(sum[:])
	}
	return sums
}

func codes(x *index) (list []string) {
	for _, p := range slices.SortedStableFunc(slices.Values(x.problems), func(a, b formats.Problem) int { return cmp.Compare(a.Offset, b.Offset) }) {
		chunk := -1
		if p.Chunk != nil {
			chunk = *p.Chunk
		}
		list = append(list, fmt.Sprintf("%s@%d/%d", p.Code, x.lineOf(p.Offset), chunk))
	}
	return list
}

// lineOf returns the tick at or after an offset.
func (x *index) lineOf(off int64) int {
	return slices.IndexFunc(x.ticks.all(), func(t tick) bool { return t.off >= off })
}

func TestIndex(t *testing.T) {
	w := sampleGame(300)
	w.line("search L20", 5)
	x := mustIndex(t, w.Bytes())
	if len(x.problems) > 0 {
		t.Errorf("problems %v", codes(x))
	}
	if x.ticks.len() != 25 || !slices.Equal(x.chunks.open, []uint64{0, 10, 18}) {
		t.Errorf("%d ticks in chunks %v", x.ticks.len(), x.chunks.open)
	}
	if x.now.commands != 25 || x.now.lines != strings.Count(w.String(), "\n") {
		t.Errorf("%d commands, %d lines", x.now.commands, x.now.lines)
	}
	formats := map[diffFormat]int{}
	for _, k := range x.ticks.all() {
		formats[k.format]++
	}
	if want := map[diffFormat]int{noDiff: 3, beta1: 4, beta2: 6, beta3: 12}; !reflect.DeepEqual(formats, want) {
		t.Errorf("formats %v, want %v", formats, want)
	}
	last := x.ticks.at(24)
	if last.clock != w.clock-5 || int(last.size) != len(w.save) {
		t.Errorf("last tick %+v", last)
	}
}

// TestComplete tells damage from the ways in which a whole log may end.
func TestComplete(t *testing.T) {
	game := sampleGame(300).String()
	save := strings.LastIndexByte(game[:len(game)-1], '\n') + 1
	before := strings.LastIndexByte(game[:save-1], '\n') + 1
	for name, c := range map[string]struct {
		log, end string
		complete bool
	}{
		"running":       {game, "save", true},
		"under way":     {game + "search L20\n", "action", true},
		"partial":       {game + "go D", "partial_line", true},
		"over":          {game + "Q\n", "game_over", true},
		"other clock":   {game[:before] + "+1\n" + game[save:], "save", true},
		"bad line":      {game + "what?\nQ\n", "game_over", false},
		"lost save":     {game + "~" + encodeBlob([]byte{1, 0x43}, plain) + "\n", "save", false},
		"many problems": {game + strings.Repeat("?\n", maxProblems+1) + "Q\n", "game_over", false},
	} {
		x := mustIndex(t, []byte(c.log))
		if x.ending() != c.end || x.whole() != c.complete {
			t.Errorf("%s: ends %s, complete %t, %d problems", name, x.ending(), x.whole(), len(x.problems))
		}
	}
}

// TestBrokenLines damages a game in several places and holds the index to the rules of the tree.
func TestBrokenLines(t *testing.T) {
	lines := strings.SplitAfter(sampleGame(300).String(), "\n")
	var saves []int
	for i, l := range lines {
		if i > 2 && l != "" && isSaveLine([]byte(l)) {
			saves = append(saves, i)
		}
	}
	for name, c := range map[string]struct {
		damage func(lines []string)
		want   []string
		lost   []int
	}{
		"diff": {
			func(l []string) { l[saves[3]] = "~AUM*\n" },
			[]string{"bad_save@3/0", "lost_saves@4/0"},
			[]int{3, 4, 5, 6, 7, 8, 9},
		},
		"backup": {
			func(l []string) { l[saves[10]] = l[saves[10]][:60] + "\n" },
			[]string{"bad_save@10/1", "lost_saves@11/1"},
			[]int{10, 11, 12, 13, 14, 15, 16, 17},
		},
		"last diff": {
			func(l []string) { l[saves[24]] = "~" + encodeBlob([]byte{1, 0x43}, plain) + "\n" },
			[]string{"bad_save@24/2"},
			[]int{24},
		},
		"location": {
			func(l []string) { l[saves[10]] = "*zzzzzzzz " + l[saves[10]][10:] }, nil, nil,
		},
		"space behind": {
			func(l []string) {
				l[saves[10]] = strings.TrimSpace(l[saves[10]]) + " more\n"
				l[saves[13]] = strings.TrimSpace(l[saves[13]]) + " \n"
			}, nil, nil,
		},
		"no first backup": {
			func(l []string) { l[saves[0]] = "gone\n" },
			[]string{"lost_saves@0/0"},
			[]int{0, 1, 2, 3, 4, 5, 6, 7, 8},
		},
		"save without a turn": {
			func(l []string) { l[saves[0]] = "*00000000 " + encodeBlob(make([]byte, 35), plain) + "\n" },
			[]string{"bad_save@0/0", "lost_saves@1/0"},
			[]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
		},
		"event": {
			func(l []string) { l[saves[10]-1] = "+xyz\n" },
			[]string{"bad_line@10/1", "clock_mismatch@10/1"},
			nil,
		},
		"pending": {
			func(l []string) { l[len(l)-1] = "what?\n" }, []string{"bad_line@-1/2"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			damaged := slices.Clone(lines)
			c.damage(damaged)
			x := mustIndex(t, []byte(strings.Join(damaged, "")))
			if got := codes(x); !slices.Equal(got, c.want) {
				t.Errorf("problems %v, want %v", got, c.want)
			}
			var lost []int
			for i := range x.ticks.len() {
				if x.ticks.lost(i) {
					lost = append(lost, i)
				}
			}
			if !slices.Equal(lost, c.lost) {
				t.Errorf("lost %v, want %v", lost, c.lost)
			}
		})
	}
}

// TestTruth compares real logs with what the games held in memory when they wrote them.
func TestTruth(t *testing.T) {
	logs, _ := filepath.Glob("../../testdata/archive/nethack/*.nhgame")
	if more, _ := filepath.Glob("../../../shared/recordings/nethack/*.nhgame"); more != nil {
		logs = more
	}
	if len(logs) < 5 {
		t.Fatalf("only %d logs", len(logs))
	}
	for _, file := range logs {
		t.Run(filepath.Base(file), func(t *testing.T) {
			log, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			truth := readTruth(t, file)
			x := mustIndex(t, log)
			sums := saveSums(t, x, log)
			if len(sums) != len(truth) {
				t.Errorf("%d saves, want %d", len(sums), len(truth))
			}
			for _, k := range x.ticks.all() {
				row, ok := truth[k.off]
				if k.lost() == ok {
					t.Errorf("tick at %d: lost %t", k.off, k.lost())
				}
				if !ok {
					continue
				}
				if sums[k.off] != row["save_sha256"] {
					t.Errorf("tick at %d: another save", k.off)
				}
				got := []string{
					strconv.Itoa(k.line), strconv.Itoa(int(k.turn)), strconv.FormatUint(k.clock, 10),
					strconv.Itoa(int(k.size)), k.comp.String(),
				}
				want := []string{row["line"], row["turn"], row["turntime_us"], row["save_len"], row["compression"]}
				if !slices.Equal(got, want) {
					t.Errorf("tick at %d: %v, want %v", k.off, got, want)
				}
			}
		})
	}
}

// readTruth returns the rows of the table beside a log, by offset.
func readTruth(t testing.TB, file string) map[int64]map[string]string {
	t.Helper()
	base := strings.TrimSuffix(file, ".nhgame") + ".truth.csv"
	if _, err := os.Stat(base); err != nil {
		base = filepath.Join("../../testdata/nethack", filepath.Base(base))
	}
	f, err := os.Open(base)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	truth := map[int64]map[string]string{}
	for _, row := range rows[1:] {
		r := map[string]string{}
		for i, key := range rows[0] {
			r[key] = row[i]
		}
		off, err := strconv.ParseInt(r["offset"], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		truth[off] = r
	}
	return truth
}

func logSource(log []byte) formats.Input { return formatstest.BytesInput("x.nhgame", log, time.Time{}) }

// forgetRows lets the counters of an index forget the last row, which spares them work if the next
// one is like it.
func forgetRows(x *index) {
	for _, c := range []*rowcount.Counter{x.heroes, x.commands} {
		counts := make([]columnar.Counts, len(c.Columns))
		for i := range counts {
			counts[i] = c.Columns[i].Counts
		}
		c.Reset(c.Rows(), counts)
	}
}

// TestResume continues indexes from every length of a log to every longer one; the result must be
// what a pass over the longer one gives.
func TestResume(t *testing.T) {
	w := sampleGame(60)
	damaged := bytes.Replace(w.Bytes(), []byte("\nmove D4\n"), []byte("\nmoVe D4\n"), 7)
	for _, log := range [][]byte{w.Bytes(), bytes.Replace(damaged, []byte("\n~"), []byte("\n~A"), 15)} {
		rapid.Check(t, func(rt *rapid.T) {
			from := rapid.IntRange(200, len(log)).Draw(rt, "from")
			to := rapid.IntRange(from, len(log)).Draw(rt, "to")
			stored := mustIndex(t, log[:from]).Append(nil)
			want := mustIndex(t, log[:to])
			got, err := resume(t.Context(), log[:to], want.header, stored)
			if err != nil {
				rt.Fatal(err)
			}
			forgetRows(got)
			forgetRows(want)
			if !reflect.DeepEqual(got, want) {
				rt.Fatalf("resumed\n%+v\nanew\n%+v", got, want)
			}
		})
	}
}

// TestResumeRewritten holds that what the game rewrites in place keeps an index, and all else ends
// it.
func TestResumeRewritten(t *testing.T) {
	log := sampleGame(60).Bytes()
	x := mustIndex(t, log)
	stored := x.Append(nil)
	seal, err := formats.NewTally(steady(x.header, formats.BytesReader(log))).Seal(t.Context(), formats.Stamp{}, x.reach())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		at      int64
		resumes bool
	}{
		"status": {statusAt, true}, "version": {versionAt, true}, "description": {descriptionAt + 70, true},
		"hint": {x.header.size + 3, true}, "recovery count": {countAt + 7, false}, "third line": {line3At + 20, false},
		"first save": {x.header.size + 20, false}, "last save": {x.reach() - 5, false},
	} {
		t.Run(name, func(t *testing.T) {
			changed := bytes.Clone(log)
			changed[c.at] = '3'
			h, err := readHeader(t.Context(), bytes.NewReader(changed), int64(len(log)))
			if err != nil {
				h = x.header // the status is no word any more
			}
			_, err = readIndex(logSource(changed), h, stored)
			in := logSource(changed)
			in.ReaderAt = steady(h, in.ReaderAt)
			fit, _, fitErr := seal.Fit(t.Context(), in)
			if fitErr != nil {
				t.Fatal(fitErr)
			}
			if (err == nil && fit != formats.Other) != c.resumes {
				t.Errorf("resuming: %v, fit %v", err, fit)
			}
		})
	}
	if _, err := readIndex(logSource(log[:x.reach()-1]), x.header, stored); err == nil {
		t.Error("an index of a log that is shorter now resumes")
	}
}

// TestSaved holds the bytes of saved indexes to the number of their layout.
func TestSaved(t *testing.T) {
	nodestest.Saved(t, "../../testdata/nethack/saved.sums", indexfile.Layout,
		func(log []byte) []byte {
			x := mustIndex(t, log)
			return x.Append(x.header.Append(nil))
		},
		"../../testdata/nethack/*.txtar", "../../testdata/archive/nethack/*.nhgame")
}

// TestSavedIndexDamaged holds that no saved bytes make a panic.
func TestSavedIndexDamaged(t *testing.T) {
	log := sampleGame(60).Bytes()
	x := mustIndex(t, log)
	stored := x.Append(nil)
	for i := range stored {
		resume(t.Context(), log, x.header, stored[:i])
		for _, bit := range []byte{1, 0x10, 0x80} {
			damaged := bytes.Clone(stored)
			damaged[i] ^= bit
			resume(t.Context(), log, x.header, damaged)
		}
	}
}

// TestProblemsAreBounded holds that endless damage does not fill the memory.
func TestProblemsAreBounded(t *testing.T) {
	w := newGame("Agnes")
	w.backup(testSave(60), 1)
	w.WriteString(strings.Repeat("?\n", maxProblems+10))
	x := mustIndex(t, w.Bytes())
	if len(x.problems) != maxProblems || x.now.unlisted != 10 {
		t.Errorf("%d problems and %d more", len(x.problems), x.now.unlisted)
	}
}

// Problems of a log without a chunk are in none.
func TestProblemsWithoutChunk(t *testing.T) {
	w := newGame("Agnes")
	w.WriteString("?\n")
	if list := mustIndex(t, w.Bytes()).problemList(); len(list) != 1 || list[0].Chunk != nil {
		t.Errorf("%+v", list)
	}
}

// TestIndexStops holds that a pass ends with its context.
func TestIndexStops(t *testing.T) {
	log := sampleGame(60).Bytes()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h, _ := readHeader(t.Context(), bytes.NewReader(log), int64(len(log)))
	if _, err := buildIndex(ctx, bytes.NewReader(log), int64(len(log)), h); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// kept opens a log whose head and index may be on a shelf, and counts what is read of it.
func kept(t *testing.T, shelf cache.Store, log []byte, r *countingReader) (*recording, nodes.Dir) {
	t.Helper()
	c := cache.New(16<<20, shelf)
	t.Cleanup(c.Close)
	r.r = formats.BytesReader(log)
	r.reset()
	in := logSource(log)
	in.ReaderAt, in.Stamp = r, formats.Stamp{Size: in.Size, Changed: 1}
	formatstest.Keep(&in, shelf)
	rec, root, err := openRecording(t.Context(), in, c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rec.Index(t.Context()); err != nil {
		t.Fatal(err)
	}
	return rec, root
}

// TestIndexReadsOnce holds that the pass that makes an index, or continues one, reads each byte of
// the log once. What it continues from is read to be compared and to rebuild the last save, and
// once more by the attempt that asks for memory.
func TestIndexReadsOnce(t *testing.T) {
	nodestest.Long(t)
	log := longGame(20_000, 3000)
	const more = readAhead + 1<<10 // by such an attempt, and the header
	r := &countingReader{}
	kept(t, nil, log, r)
	if n := r.bytes.Load(); n > int64(len(log))+more {
		t.Errorf("%d bytes read of a log of %d", n, len(log))
	}
	shelf := &mapStore{}
	half := len(log) / 2
	kept(t, shelf, log[:half], r)
	kept(t, shelf, log, r)
	if n, most := r.bytes.Load(), int64(4*half+half+more); n > most {
		t.Errorf("%d bytes read to continue from the middle of a log of %d, more than %d", n, len(log), most)
	}
}

// TestKeptIndexReadsNothing holds that a log whose head and index are kept shows both, and its
// directories, without a byte being read, also where a command is under way and the last line has
// no end.
func TestKeptIndexReadsNothing(t *testing.T) {
	w := sampleGame(60)
	w.line("kick D3", 1000)
	w.WriteString("?\nK97,-1\n+12\nK9")
	shelf, r := &mapStore{}, &countingReader{}
	names := []string{"header.json", "metadata", "index.json"}
	_, root := kept(t, shelf, w.Bytes(), r)
	want := map[string]string{}
	for _, name := range names {
		want[name] = nodestest.Read(t, root, name)
	}
	_, root = kept(t, shelf, w.Bytes(), r)
	for _, name := range names {
		if got := nodestest.Read(t, root, name); got != want[name] {
			t.Errorf("%s is\n%s\nand was\n%s", name, got, want[name])
		}
	}
	for _, name := range []string{"ticks", "states", "lines", "chunks", "saves", "tables", "export"} {
		e, err := find(t, root, name)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := e.Dir.Len(t.Context()); err != nil || n == 0 {
			t.Errorf("%s: %d entries, %v", name, n, err)
		}
	}
	if n := r.bytes.Load(); n != 0 {
		t.Errorf("%d bytes read", n)
	}
}

// TestLongTail holds that lines without end after the last save are read again, not kept.
func TestLongTail(t *testing.T) {
	w := sampleGame(60)
	w.line("chat"+strings.Repeat(" ", maxEventText), 20)
	x := mustIndex(t, w.Bytes())
	if _, err := readIndex(logSource(w.Bytes()), x.header, x.Append(nil)); !errors.Is(err, errIndex) {
		t.Errorf("error %v, want %v", err, errIndex)
	}
}

// TestForgedTail holds that what a saved index says to follow the last save is no save itself, and
// whole lines within the log.
func TestForgedTail(t *testing.T) {
	w := sampleGame(60)
	w.line("kick D3", 1000)
	x := mustIndex(t, w.Bytes())
	in := logSource(w.Bytes())
	for tail, want := range map[string]bool{
		string(x.tail): true, "": true, "Q\n": true, "Q": false, "*00000000 \n": false, "~AA==\n": false, "kick\n+1\nQ\n": true,
		strings.Repeat("Q\n", 100): false,
	} {
		x.tail = []byte(tail)
		if _, err := readIndex(in, x.header, x.Append(nil)); (err == nil) != want {
			t.Errorf("%q: %v", tail, err)
		}
	}
}

// TestSummary holds what a person is told of a log, without and with an index.
func TestSummary(t *testing.T) {
	w := newGame("Ag\xffnes")
	w.backup(testSave(60), 1)
	w.line("move D4", 2_500_000)
	w.diff(beta3, 2, w.rest(24))
	w.line("Q", -1)
	x := mustIndex(t, w.Bytes())
	rec := formats.Recording{Input: logSource(w.Bytes()), Head: x.header}
	head, err := summary(t.Context(), rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	start, length, ticks := time.UnixMicro(testStart).UTC(), 2500*time.Millisecond, int64(2)
	want := formats.Summary{
		Version: "4.003.000", Start: &start, Players: []string{"Ag\ufffdnes"},
		Details: formats.Details{
			{Key: "description", Value: "(new game)", Text: "(new game)"},
			{Key: "mode", Value: "normal", Text: "normal"},
			{Key: "hero", Text: "Val hum fem neu", Value: formats.Details{
				{Key: "role", Value: "Val", Text: "Val"},
				{Key: "race", Value: "hum", Text: "hum"},
				{Key: "gender", Value: "fem", Text: "fem"},
				{Key: "alignment", Value: "neu", Text: "neu"},
			}},
		},
	}
	if !reflect.DeepEqual(head, want) {
		t.Errorf("head\n%+v\nwant\n%+v", head, want)
	}
	all, err := summary(t.Context(), rec, x)
	if err != nil {
		t.Fatal(err)
	}
	want.Details = append(want.Details, formats.Detail{Key: "turn", Value: int32(2), Text: "2"})
	want.Result = "turn 2"
	want.Duration, want.Ticks, want.Chunks, want.Complete, want.Finished, want.End = &length, &ticks, 1, true, true, endGameOver
	if problems := slices.Collect(all.Problems); len(problems) > 0 {
		t.Errorf("problems %v", problems)
	}
	all.Problems = nil
	if !reflect.DeepEqual(all, want) {
		t.Errorf("all\n%+v\nwant\n%+v", all, want)
	}
}

// TestLongLines keeps no more of a line that is no save than is shown, however long it is, and all
// of one that is.
func TestLongLines(t *testing.T) {
	lines := strings.SplitAfter(sampleGame(300).String(), "\n")
	long := string(make([]byte, 40<<20)) + "\n"
	log := []byte(strings.Join(lines[:5], "") + long + strings.Join(lines[5:], ""))
	c := newCache(t, 1<<20)
	err := c.Do(t.Context(), 0, func(ctx context.Context) error {
		h, err := readHeader(ctx, bytes.NewReader(log), int64(len(log)))
		if err != nil {
			return err
		}
		_, err = buildIndex(ctx, bytes.NewReader(log), int64(len(log)), h)
		return err
	})
	if _, peak := c.Work(); err != nil || peak > 4*maxEventText {
		t.Errorf("%v, %d bytes at most", err, peak)
	}
}

// TestLongSaveIsCharged takes the memory for a long save line before it reads the line, and not for
// several such lines.
func TestLongSaveIsCharged(t *testing.T) {
	lines := strings.SplitAfter(sampleGame(300).String(), "\n")
	log := []byte(strings.Join(lines[:3], "") + "*00000000 " + strings.Repeat("A", 4<<20) + "\n")
	c := newCache(t, 1<<20)
	attempts := 0
	err := c.Do(t.Context(), 0, func(ctx context.Context) error {
		attempts++
		s := newScanner(bytes.NewReader(log), int64(len(strings.Join(lines[:3], ""))), int64(len(log)))
		defer s.close()
		l, err := s.next(ctx)
		if err == nil && l.long() {
			t.Error("it is cut")
		}
		return err
	})
	if now, peak := c.Work(); err != nil || now != 0 || peak < 4<<20 || peak > 7<<20 || attempts < 2 {
		t.Errorf("%v after %d attempts, %d bytes, %d at most", err, attempts, now, peak)
	}
}

// TestNamesAreCharged takes the memory for all names when it goes on from a saved index, which
// makes them again.
func TestNamesAreCharged(t *testing.T) {
	nodestest.Long(t)
	const ticks = 40_000
	log := usualGame(ticks)
	x := mustIndex(t, log)
	c := newCache(t, 1<<20)
	err := c.Do(t.Context(), 0, func(ctx context.Context) error {
		_, err := resume(ctx, append(slices.Clip(log), "move D3\n"...), x.header, x.Append(nil))
		return err
	})
	made := x.names.memory() + x.ticks.nth.memory() + 4*ticks // with the list on the way
	if now, peak := c.Work(); err != nil || now != 0 || peak < made || peak > 2*nameCost*ticks+2*readAhead {
		t.Errorf("%v, %d bytes, %d at most, of names %d", err, now, peak, made)
	}
}

// TestLongLineIsLeft ends with its context, in a line that does not.
func TestLongLineIsLeft(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	endless := readerAtFunc(func(p []byte, off int64) (int, error) {
		if off > 4<<20 {
			cancel()
		}
		if off > 64<<20 {
			t.Error("it goes on")
			return 0, io.EOF
		}
		clear(p)
		return len(p), nil
	})
	if _, err := readOutline(ctx, endless, 0, 1<<40); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the end of the context", err)
	}
}

type readerAtFunc func(p []byte, off int64) (int, error)

func (f readerAtFunc) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// TestBombsOfSaves makes the index of a log whose saves, diffs and texts are zeros without end.
func TestBombsOfSaves(t *testing.T) {
	nodestest.Long(t)
	for _, size := range []int{maxBlob, 60 << 20}[:nodestest.Times(2, 1)] {
		zeros := encodeBlob(make([]byte, size), zlibStream)
		w := newGame("Bomb")
		w.backup(testSave(300), 1)
		for i := range 3 {
			fmt.Fprintf(w, "L%s\n~%s\n", zeros, zeros)
			fmt.Fprintf(w, "*%08x %s\n", i, zeros)
		}
		c := newCache(t, 1<<20)
		var x *index
		err := c.Do(t.Context(), 0, func(ctx context.Context) error {
			h, err := readHeader(ctx, bytes.NewReader(w.Bytes()), int64(w.Len()))
			if err == nil {
				x, err = buildIndex(ctx, bytes.NewReader(w.Bytes()), int64(w.Len()), h)
			}
			return err
		})
		if _, peak := c.Work(); err != nil || peak > 64<<20 {
			t.Errorf("%d zeros: %v, %d bytes at most", size, err, peak)
		}
		if err == nil && (x.ticks.len() != 7 || x.ticks.lost(0) || len(x.problems) < 3) {
			t.Errorf("%d zeros: %d ticks, %v", size, x.ticks.len(), x.problems)
		}
	}
}

// TestLargeTexts takes no text from a line that is very much shorter.
func TestLargeTexts(t *testing.T) {
	for size, want := range map[int]string{200: "text", 1 << 20: ""} {
		e := parseText1("L" + encodeBlob(bytes.Repeat([]byte("a"), size), zlibStream))
		if e.kind != want && (want != "" || e.kind != kindUnknown) {
			t.Errorf("%d bytes: %q", size, e.kind)
		}
	}
}
