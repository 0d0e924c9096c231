package nethack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
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
	h, err := readHeader(bytes.NewReader(log), int64(len(log)))
	if err != nil {
		t.Fatal(err)
	}
	x, err := buildIndex(t.Context(), formats.BytesReader(log), int64(len(log)), h)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// saveSums rebuilds every save and returns the sums by offset of their lines.
func saveSums(t testing.TB, x *index, log []byte) map[int64]string {
	t.Helper()
	sums := map[int64]string{}
	var re rebuilder
	for n := range x.ticks {
		if x.ticks[n].lost() {
			continue
		}
		from := n - 1
		if x.ticks[n].backup {
			from, re.save = n, nil
		}
		if err := x.rebuild(t.Context(), bytes.NewReader(log), &re, from, n); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(re.save)
		sums[x.ticks[n].off] = hex.EncodeToString(sum[:])
	}
	return sums
}

func codes(x *index) (list []string) {
	for i := range x.problems {
		p := &x.problems[i]
		list = append(list, fmt.Sprintf("%s@%d/%d", problemNames[p.code], x.lineOf(p.off), p.chunk))
	}
	return list
}

// lineOf returns the tick at or after an offset.
func (x *index) lineOf(off int64) int {
	return slices.IndexFunc(x.ticks, func(t tick) bool { return t.off >= off })
}

func TestIndex(t *testing.T) {
	w := sampleGame(300)
	w.line("search L20", 5)
	x := mustIndex(t, w.Bytes())
	if len(x.problems) > 0 {
		t.Errorf("problems %v", codes(x))
	}
	if len(x.ticks) != 25 || !slices.Equal(x.chunks, []int{0, 10, 18}) {
		t.Errorf("%d ticks in chunks %v", len(x.ticks), x.chunks)
	}
	if x.now.commands != 25 || x.now.lines != strings.Count(w.String(), "\n") {
		t.Errorf("%d commands, %d lines", x.now.commands, x.now.lines)
	}
	formats := map[diffFormat]int{}
	for _, k := range x.ticks {
		formats[k.format]++
	}
	if want := map[diffFormat]int{noDiff: 3, beta1: 4, beta2: 6, beta3: 12}; !reflect.DeepEqual(formats, want) {
		t.Errorf("formats %v, want %v", formats, want)
	}
	last := x.ticks[24]
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
			for i := range x.ticks {
				if x.ticks[i].lost() {
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
			for _, k := range x.ticks {
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

func logSource(log []byte) formats.Input { return formats.BytesInput("x.nhgame", log, time.Time{}) }

// TestResume continues indexes from every length of a log to every longer one; the result must be what a
// pass over the longer one gives.
func TestResume(t *testing.T) {
	w := sampleGame(60)
	damaged := bytes.Replace(w.Bytes(), []byte("\nmove D4\n"), []byte("\nmoVe D4\n"), 7)
	for _, log := range [][]byte{w.Bytes(), bytes.Replace(damaged, []byte("\n~"), []byte("\n~A"), 15)} {
		rapid.Check(t, func(rt *rapid.T) {
			from := rapid.IntRange(200, len(log)).Draw(rt, "from")
			to := rapid.IntRange(from, len(log)).Draw(rt, "to")
			stored := mustIndex(t, log[:from]).encode()
			want := mustIndex(t, log[:to])
			got, err := resumeIndex(t.Context(), logSource(log[:to]), want.header, stored)
			if err != nil {
				rt.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				rt.Fatalf("resumed\n%+v\nanew\n%+v", got, want)
			}
		})
	}
}

// TestResumeRewritten holds that what the game rewrites in place keeps an index, and all else ends it.
func TestResumeRewritten(t *testing.T) {
	log := sampleGame(60).Bytes()
	x := mustIndex(t, log)
	stored := x.encode()
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
			h, err := readHeader(bytes.NewReader(changed), int64(len(log)))
			if err != nil {
				h = x.header // the status is no word any more
			}
			_, err = resumeIndex(t.Context(), logSource(changed), h, stored)
			if (err == nil) != c.resumes {
				t.Errorf("resuming: %v", err)
			}
		})
	}
	if _, err := resumeIndex(t.Context(), logSource(log[:x.reach()-1]), x.header, stored); err == nil {
		t.Error("an index of a log that is shorter now resumes")
	}
}

// TestSaved holds the bytes of saved indexes to the number of their layout.
func TestSaved(t *testing.T) {
	nodestest.Saved(t, "../../testdata/nethack/saved.sums", indexfile.Layout,
		func(log []byte) []byte { return mustIndex(t, log).encode() },
		"../../testdata/nethack/*.txtar", "../../testdata/archive/nethack/*.nhgame")
}

// TestSavedIndexDamaged holds that no saved bytes make a panic.
func TestSavedIndexDamaged(t *testing.T) {
	log := sampleGame(60).Bytes()
	x := mustIndex(t, log)
	stored := x.encode()
	for i := range stored {
		resumeIndex(t.Context(), logSource(log), x.header, stored[:i])
		for _, bit := range []byte{1, 0x10, 0x80} {
			damaged := bytes.Clone(stored)
			damaged[i] ^= bit
			resumeIndex(t.Context(), logSource(log), x.header, damaged)
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

// TestIndexStops holds that a pass ends with its context.
func TestIndexStops(t *testing.T) {
	log := sampleGame(60).Bytes()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h, _ := readHeader(bytes.NewReader(log), int64(len(log)))
	if _, err := buildIndex(ctx, formats.BytesReader(log), int64(len(log)), h); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// TestStampedIndex holds that the log is not read again to compare it where its stamp is the same, and that it is read
// where only the stamp changed.
func TestStampedIndex(t *testing.T) {
	log := sampleGame(60).Bytes()
	x := mustIndex(t, log)
	x.seal.Stamp = formats.Stamp{Size: int64(len(log)), Changed: 1}
	for changed, want := range map[int64]bool{1: false, 2: true} {
		r := &firstRead{r: formats.BytesReader(log)}
		src := logSource(nil)
		src.ReaderAt, src.Size, src.Stamp = r, int64(len(log)), formats.Stamp{Size: int64(len(log)), Changed: changed}
		got, err := resumeIndex(t.Context(), src, x.header, x.encode())
		if err != nil {
			t.Fatal(err)
		}
		if r.start != want {
			t.Errorf("change time %d: compared is %t", changed, r.start)
		}
		if got.seal.Stamp != src.Stamp || len(got.ticks) != len(x.ticks) {
			t.Errorf("change time %d: %+v, %d ticks", changed, got.seal, len(got.ticks))
		}
	}
}

// A firstRead notes whether the start of a log was read.
type firstRead struct {
	r     formats.ReaderAt
	start bool
}

func (f *firstRead) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	f.start = f.start || off == 0
	return f.r.ReadAt(ctx, p, off)
}
