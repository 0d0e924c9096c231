package export_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/export"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/internal/testing/parquettest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// dated is the format rec with recordings that began in a month, and on a map, that their first
// bytes tell. The second half of what begins with "bad" cannot be read.
func dated() formats.Format {
	f := rec("", func(_ context.Context, w whole, group int) error {
		if group == 1 && strings.HasPrefix(string(w), "bad") {
			return errors.New("no rows")
		}
		return nil
	})
	f.Summary = func(_ context.Context, r formats.Recording, _ formats.Index) (formats.Summary, error) {
		w := string(r.Head.(whole))
		s := formats.Summary{Complete: true}
		if len(w) > 1 && w[0] != 'x' {
			s.Start = new(time.Date(2026, time.Month(w[0]%3+1), 1, 0, 0, 0, 0, time.UTC))
			s.Map = new(w[:1] + "/%=")
		}
		return s, nil
	}
	return f
}

// A lake is a source and a merged export of it, with what is known of both.
type lake struct {
	*testing.T
	rand    *rand.Rand
	source  string
	dir     string
	by      string
	size    int64
	cache   *cache.Cache
	root    nodes.Dir
	files   map[string]string // what the source has
	rows    map[string]string // what the export has of each recording
	lost    map[string]bool   // of these it may have none: somebody damaged the part
	failed  bool              // a recording could not be read, so that a row group may be small
	history []string
}

func newLake(t *testing.T, seed uint64, by string, size int64) *lake {
	t.Helper()
	l := &lake{
		T: t, rand: rand.New(rand.NewPCG(seed, 1)), source: t.TempDir(), dir: t.TempDir(), by: by, size: size, cache: formatstest.NewCache(t),
		files: map[string]string{}, rows: map[string]string{}, lost: map[string]bool{},
	}
	l.root = archive.New(formatstest.OpenLocal(t, l.source), []formats.Format{dated()}, l.cache, archive.Options{})
	return l
}

func (l *lake) say(format string, args ...any) {
	l.history = append(l.history, fmt.Sprintf(format, args...))
}

func (l *lake) put() {
	name := fmt.Sprintf("%c%d.rec", 'a'+l.rand.IntN(3), l.rand.IntN(12))
	content := []string{"", "bad", "x", "a", "b", "c", "d"}[l.rand.IntN(7)] + strings.Repeat(string(rune(null+l.rand.IntN(5))), l.rand.IntN([]int{60, 60, 60, 300}[l.rand.IntN(4)]))
	l.say("put %s %.5s %d", name, content, len(content))
	l.files[name] = content
	put(l.T, filepath.Join(l.source, name), content)
}

func (l *lake) remove() {
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		if l.rand.IntN(6) == 0 {
			l.say("remove %s", name)
			delete(l.files, name)
			_ = os.Remove(filepath.Join(l.source, name))
		}
	}
}

// parts returns the parts of the table.
func (l *lake) parts() (list []string) {
	_ = filepath.WalkDir(filepath.Join(l.dir, "rec", "bytes"), func(name string, d os.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), "part-") {
			list = append(list, name)
		}
		return nil
	})
	return list
}

// sabotage damages a part, puts a copy beside it or at its place, or takes rights away.
func (l *lake) sabotage() {
	list := l.parts()
	if len(list) == 0 {
		return
	}
	name, other := list[l.rand.IntN(len(list))], list[l.rand.IntN(len(list))]
	b, err := os.ReadFile(name)
	if err != nil {
		l.Fatal(err)
	}
	switch l.rand.IntN(5) {
	case 0:
		l.say("cut %s", name)
		l.overwrite(name, b[:l.rand.IntN(max(1, len(b)))])
	case 1:
		to := filepath.Join(filepath.Dir(name), fmt.Sprintf("part-%06d.parquet", 50+l.rand.IntN(9)))
		l.say("copy %s to %s", name, to)
		l.overwrite(to, b)
	case 2:
		l.say("%s in place of %s", name, other)
		l.overwrite(other, b)
	case 3:
		l.say("read-only %s", name)
		_ = os.Chmod(name, 0o400)
	default:
		l.say("a foreign file")
		put(l.T, filepath.Join(filepath.Dir(name), "mine.parquet"), "PAR1 mine PAR1")
	}
}

// overwrite writes a file, which may be a part that is there, and notes which recordings lose the
// rows that they had in it.
func (l *lake) overwrite(name string, b []byte) {
	before := l.read(name)
	put(l.T, name, string(b))
	after := l.read(name)
	for at, rows := range before {
		if now, ok := after[at]; !ok || now != rows {
			l.lost[at] = true
		}
	}
}

// read returns the rows of a part by recording, nil if it is none, and holds what it has to be.
func (l *lake) read(name string) map[string]string {
	b, err := os.ReadFile(name)
	if err != nil || len(b) < 20 || !bytes.HasSuffix(b, []byte("PAR1")) || !bytes.HasPrefix(b, []byte("PAR1")) || !bytes.Contains(b, []byte("recfs.manifest")) {
		return nil
	}
	t := parquettest.Read(l.T, b)
	var at, length int
	if _, err := fmt.Sscan(t.Metadata["recfs.manifest"], &at, &length); err != nil {
		l.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b[at : at+length]))
	if err != nil {
		l.Fatal(err)
	}
	rows, row, last := map[string]string{}, 0, ""
	for lines := json.NewDecoder(z); ; {
		var line struct {
			Recording string
			Rows      int
		}
		if err := lines.Decode(&line); err == io.EOF {
			break
		} else if err != nil {
			l.Fatal(err)
		}
		if line.Recording <= last {
			l.Errorf("%s: %q after %q", name, line.Recording, last)
		}
		last = line.Recording
		var content strings.Builder
		for range line.Rows {
			if t.Columns[0].Values[row] != line.Recording {
				l.Errorf("%s: row %d is of %v, not %s", name, row, t.Columns[0].Values[row], line.Recording)
			}
			content.WriteByte(byteOf(t.Columns[2].Values[row]))
			row++
		}
		rows[line.Recording] = content.String()
	}
	if row != len(t.Columns[0].Values) {
		l.Errorf("%s: %d rows of %d are in the manifest", name, row, len(t.Columns[0].Values))
	}
	for i := range len(t.Groups) - 1 {
		if !l.failed && t.Groups[i]+t.Groups[i+1] <= limitRows/2 {
			l.Errorf("%s: row groups %v", name, t.Groups)
		}
	}
	return rows
}

// byteOf returns the byte that a row is of.
func byteOf(value any) byte {
	if value == nil {
		return null
	}
	return byte(value.(int64))
}

const limitRows = 64

// merge exports a shard, with --prune or not, and ends in the middle if it is told so.
func (l *lake) merge(shard export.Shard, prune bool, stop int) error {
	x, err := export.New(l.dir, l.cache, 1)
	if err != nil {
		l.Fatal(err)
	}
	ctx, cancel := context.WithCancel(l.Context())
	defer cancel()
	var members []*export.Member
	for _, at := range slices.Sorted(maps.Keys(l.files)) {
		if !shard.Has(at) {
			continue
		}
		e, err := nodes.Lookup(ctx, l.root, at)
		if err != nil {
			l.Fatal(err)
		}
		r, _ := archive.RecordingOf(e.Dir)
		members = append(members, &export.Member{Recording: export.Recording{Recording: r, Path: at, Mode: 0o640}})
	}
	m := &export.Merge{
		Exporter: x, By: l.by, PartSize: l.size, Shard: shard,
		Timeless: func(string) bool { return false },
		Fail: func(m *export.Member, table string, err error) {
			if l.failed = true; !strings.HasPrefix(l.files[m.Path], "bad") {
				l.Errorf("%s %s: %v", m.Path, table, err)
			}
		},
		Alien: func(file string, err error) {
			if err.Error() != "not written by recfs, left as it is" {
				l.Errorf("%s: %v", file, err)
			}
		},
		Tell: func(*export.File) {
			if stop--; stop == 0 {
				cancel()
			}
		},
	}
	if prune {
		m.Gone = func(_, at string) (bool, error) { return l.files[at] == "" && !l.has(at), nil }
	}
	l.say("merge %v, prune %v, stop %d", shard, prune, stop)
	return m.Table(ctx, "rec", "bytes", members)
}

func (l *lake) has(at string) bool { _, ok := l.files[at]; return ok }

// export runs one or more exports, and holds what is there then.
func (l *lake) export() {
	prune, n := l.rand.IntN(3) == 0, []int{1, 1, 2}[l.rand.IntN(3)]
	ended := true
	for i := range n {
		stop := 0
		if l.rand.IntN(3) == 0 {
			stop = 1 + l.rand.IntN(4)
		}
		err := l.merge(export.Shard{I: i + 1, N: n}, prune, stop)
		if err != nil && !errors.Is(err, context.Canceled) {
			l.Errorf("%v", err)
		}
		ended = ended && err == nil
	}
	times, got := map[string]int{}, map[string]string{}
	for _, name := range l.parts() {
		for at, rows := range l.read(name) {
			times[at]++
			if old, ok := got[at]; !ok || old != l.files[at] {
				got[at] = rows
			}
		}
	}
	for at, n := range times {
		if n > 1 && ended {
			l.Errorf("%s is there %d times", at, n)
		}
	}
	l.compare(got, prune, ended)
	if ended {
		clear(l.lost)
	}
	for at, n := range times {
		if n > 1 {
			l.lost[at] = true // either of them may stay
		}
	}
	l.rows = got
}

// compare holds that each recording has the rows of before or of now.
func (l *lake) compare(got map[string]string, prune, ended bool) {
	for at, content := range l.files {
		rows, there := got[at]
		before, was := l.rows[at]
		isNow := there && rows == content
		isBefore := there == was && rows == before || l.lost[at]
		bad := strings.HasPrefix(content, "bad")
		switch {
		case isNow && !bad:
		case isBefore && (bad || !ended):
		default:
			l.Errorf("%s has %q, %v; before %q, %v, now %q", at, rows, there, before, was, content)
		}
	}
	for at, before := range l.rows {
		if rows, there := got[at]; !l.has(at) && !l.lost[at] && (!there && !prune || there && (rows != before || prune && ended)) {
			l.Errorf("%s is gone, and has %q, %v; before %q", at, rows, there, before)
		}
	}
}

// TestMerges plays histories of a source, its merged export, and of others who damage that.
func TestMerges(t *testing.T) {
	export.SetLimit(t, limitRows, 1<<20)
	playHistory(t, 17099829698026420958, 48) // a copy has the name of the part that new recordings went to
	playHistory(t, 6197559487864836412, 51)  // one without rows, before a large one, gets rows
	seed := rand.Uint64()
	for i := range nodestest.Times(20, 3) {
		playHistory(t, seed, i)
	}
}

// A large recording keeps its rows, whatever becomes of those without rows beside it.
func TestMergeBesideLarge(t *testing.T) {
	export.SetLimit(t, limitRows, 1<<20)
	large := strings.Repeat("l", 5*limitRows)
	for _, content := range []string{"", "few", "bad, which cannot be read"} {
		for _, beside := range []string{"a0.rec", "a2.rec"} {
			l := newLake(t, 1, export.ByNone, 1<<20)
			for name, content := range map[string]string{"a0.rec": "", "a1.rec": large, "a2.rec": ""} {
				l.files[name] = content
				put(t, filepath.Join(l.source, name), content)
			}
			for range 2 {
				if err := l.merge(export.Shard{I: 1, N: 1}, true, 0); err != nil {
					t.Fatal(err)
				}
				if got := l.read(l.parts()[0])["a1.rec"]; got != large {
					t.Errorf("with %q in %s: %q", content, beside, got)
				}
				l.files[beside] = content
				put(t, filepath.Join(l.source, beside), content)
				if content == "" {
					delete(l.files, beside) // so that the export takes it for gone
				}
			}
		}
	}
}

// Recordings that cannot be made are found in one go, so that those beside them are made twice at
// most.
func TestMergeBesideUnmade(t *testing.T) {
	l, tries := newLake(t, 1, export.ByNone, 1<<20), 0
	l.root = archive.New(formatstest.OpenLocal(t, l.source), []formats.Format{rec("", func(_ context.Context, w whole, group int) error {
		switch {
		case group == 0:
			tries++
		case strings.HasPrefix(string(w), "bad"):
			return errors.New("no rows")
		}
		return nil
	})}, l.cache, archive.Options{})
	const n = 40
	for round := range 3 {
		want := map[string]string{}
		for i := range n {
			name, content := fmt.Sprintf("a%02d.rec", i), fmt.Sprintf("%d, round %d", i, round)
			want[name] = content
			if round > 0 && i%2 == 0 {
				content, want[name] = "bad "+content, l.rows[name]
			}
			l.files[name] = content
			put(t, filepath.Join(l.source, name), content)
		}
		tries = 0
		if err := l.merge(export.Shard{I: 1, N: 1}, false, 0); err != nil {
			t.Fatal(err)
		}
		if l.rows = l.read(l.parts()[0]); !maps.Equal(l.rows, want) {
			t.Errorf("round %d: %q, want %q", round, l.rows, want)
		}
		if tries > 2*n {
			t.Errorf("round %d: %d recordings were made %d times", round, n, tries)
		}
	}
}

// playHistory plays one of the histories of a seed.
func playHistory(t *testing.T, seed uint64, i int) {
	t.Helper()
	by := []string{export.ByNone, export.ByMonth, export.ByMap}[i%3]
	l := newLake(t, seed+uint64(i), by, []int64{1, 3000, 1 << 20}[i/3%3])
	for range 40 {
		switch l.rand.IntN(8) {
		case 0, 1, 2:
			l.put()
		case 3:
			l.remove()
		case 4:
			if i%2 == 0 {
				l.sabotage()
			}
		default:
			l.export()
		}
		if t.Failed() {
			t.Fatalf("history %d of %d, by %s:\n%s", i, seed, by, strings.Join(l.history, "\n"))
		}
	}
}
