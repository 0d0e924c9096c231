//go:build unix

package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	iofs "io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"recfs/formats/export"
)

// TestPrune plays random histories of sources and destinations, with other users at work in both,
// and compares what an export with --prune removes with what a model of it allows, and what it has
// to.
func TestPrune(t *testing.T) {
	samples := readSamples(t)
	if !withoutRights(t) {
		return
	}
	histories, seed := 12, rand.Uint64() // others each time
	if os.Getenv("RECFS_LONG") != "" {
		histories = 100
	}
	if testing.Short() {
		histories = 1
	}
	for i := range histories {
		m := &pruneModel{T: t, samples: samples, rand: rand.New(rand.NewPCG(seed, uint64(i))), dir: t.TempDir(), made: map[string]madeTable{}}
		for range 100 {
			m.step()
		}
		m.open()
		if t.Failed() {
			t.Fatalf("history %d of %d:\n%s", i, seed, strings.Join(m.history, "\n"))
		}
	}
}

// readSamples returns small recordings: two maps, whose first bytes tell what they are, and
// another.
func readSamples(t *testing.T) (all [][]byte) {
	t.Helper()
	for _, name := range []string{"datafile/maps/old.map", "datafile/maps/new.map", "hcrp/tiny.hcrp"} {
		b, err := os.ReadFile(filepath.Join(samples, name))
		must(t, err)
		all = append(all, b)
	}
	return all
}

// A pruneModel is two sources and two destinations, and what is known of them.
type pruneModel struct {
	*testing.T
	samples [][]byte
	rand    *rand.Rand
	dir     string
	made    map[string]madeTable // what exports wrote, by where
	history []string
}

// A madeTable is what an export wrote. Through a link it was put among the tables of another
// source.
type madeTable struct {
	source, recording, format, table string
}

var (
	pruneFolders = []string{".", "a", "b", "a/c"}
	pruneNames   = []string{"1.map", "2.map", "3.map", "4.map", "5.hcrp", "6.hcrp", "7.dat", "8.map"}
	pruneTables  = []string{"datafile/items", "datafile/tiles", "datafile/layers", "hcrp/events"}
)

func pick[T any](m *pruneModel, list ...T) T { return list[m.rand.IntN(len(list))] }

func (m *pruneModel) say(format string, args ...any) {
	m.history = append(m.history, fmt.Sprintf(format, args...))
}

// wrong is an error at its place in the history.
func (m *pruneModel) wrong(format string, args ...any) {
	m.Fail()
	m.say("FAILURE: "+format, args...)
}

func (m *pruneModel) at(parts ...string) string {
	return filepath.Join(append([]string{m.dir}, parts...)...)
}

// place returns a path in a source.
func (m *pruneModel) place() string {
	return m.at(pick(m, "s1", "s1", "s2"), pick(m, pruneFolders...), pick(m, pruneNames...))
}

// step does something, which may fail as what is there does not allow it.
func (m *pruneModel) step() {
	do := pick(m, m.put, m.put, m.remove, m.remove, m.move, m.close, m.open, m.tar, m.link, m.text,
		m.alien, m.alien, m.linkTables, m.export, m.export, m.export, m.export, m.export, m.export)
	do()
}

func (m *pruneModel) put() {
	name := m.place()
	sample := m.samples[m.rand.IntN(2)]
	if strings.HasSuffix(name, ".hcrp") {
		sample = m.samples[2]
	}
	m.say("put %s", name)
	_ = os.MkdirAll(filepath.Dir(name), 0o777)
	_ = os.WriteFile(name, sample, 0o666)
}

func (m *pruneModel) remove() {
	name := pick(m, m.place(), m.place(), m.at(pick(m, "s1", "s2"), pick(m, "a", "b", "t.tar", "u.tar")))
	m.say("remove %s", name)
	_ = os.RemoveAll(name)
}

func (m *pruneModel) move() {
	from, to := m.place(), m.place()
	m.say("move %s %s", from, to)
	_ = os.MkdirAll(filepath.Dir(to), 0o777)
	_ = os.Rename(from, to)
}

func (m *pruneModel) close() {
	name := pick(m, m.place(), m.place(), m.at("s1", "a"), m.at("s1", "t.tar"))
	m.say("close %s", name)
	_ = os.Chmod(name, 0)
}

// open lets all be read again.
func (m *pruneModel) open() {
	m.say("open")
	for range 3 { // folders in folders
		_ = filepath.WalkDir(m.dir, func(name string, d iofs.DirEntry, err error) error {
			if d != nil && d.Type() != iofs.ModeSymlink {
				_ = os.Chmod(name, 0o777)
			}
			return nil
		})
	}
}

// tar writes a tar of some recordings, which may be cut.
func (m *pruneModel) tar() {
	var b bytes.Buffer
	var ends []int
	w := tar.NewWriter(&b)
	for _, name := range pruneNames[:1+m.rand.IntN(3)] {
		must(m.T, w.WriteHeader(&tar.Header{Name: name, Size: int64(len(m.samples[0])), Mode: 0o666}))
		_, err := w.Write(m.samples[0])
		must(m.T, err)
		must(m.T, w.Flush())
		ends = append(ends, b.Len())
	}
	must(m.T, w.Close())
	size := pick(m, b.Len(), b.Len(), ends[0], ends[len(ends)-1], m.rand.IntN(b.Len()))
	name := m.at(pick(m, "s1", "s2"), pick(m, "t.tar", "u.tar"))
	m.say("tar %s %d of %d", name, size, b.Len())
	_ = os.Remove(name)
	_ = os.WriteFile(name, b.Bytes()[:size], 0o666)
}

// link puts a link in the place of a recording or folder.
func (m *pruneModel) link() {
	name, to := pick(m, m.place(), m.at("s1", "b")), pick(m, "nothing", "1.map", m.at("s2"))
	m.say("link %s %s", name, to)
	_ = os.RemoveAll(name)
	_ = os.Symlink(to, name)
}

func (m *pruneModel) text() {
	name := m.place()
	m.say("text %s", name)
	_ = os.WriteFile(name, []byte("no recording\n"), 0o666)
}

// alien puts something of other users into the folder of a table: a copy, a link, a hard link or a
// fine file.
func (m *pruneModel) alien() {
	written := slices.Sorted(maps.Keys(m.made))
	if len(written) == 0 {
		return
	}
	from := pick(m, written...)
	to := m.at(pick(m, "d1", "d2"), pick(m, pruneTables...), pick(m, "mine.parquet", "x-00000000.parquet", filepath.Base(from)))
	own := strings.TrimPrefix(from, m.dir)[len("/d1"):] == strings.TrimPrefix(to, m.dir)[len("/d1"):] // what an export would write there
	if _, err := os.Lstat(to); err == nil || own {
		return
	}
	switch m.rand.IntN(4) {
	case 0:
		b, _ := os.ReadFile(from)
		m.say("copy %s %s", from, to)
		_ = os.WriteFile(to, b, 0o666)
	case 1:
		m.say("ln -s %s %s", from, to)
		_ = os.Symlink(from, to)
	case 2:
		m.say("ln %s %s", from, to)
		_ = os.Link(from, to)
	default:
		m.say("write %s", to)
		_ = os.WriteFile(to, []byte("mine"), 0o666)
	}
}

// linkTables puts a link to the folder of a table of one destination into the other.
func (m *pruneModel) linkTables() {
	table := pick(m, pruneTables...)
	to := m.at("d2", table)
	m.say("link tables %s", table)
	_ = os.MkdirAll(filepath.Dir(to), 0o777)
	_ = os.Symlink(m.at("d1", table), to)
}

// export exports one of the sources, and compares what is gone with what may be.
func (m *pruneModel) export() {
	source, to := pick(m, "s1", "s1", "s1", "s2"), pick(m, "d1", "d1", "d2")
	flags := pick(m, []string{}, []string{"--prune"}, []string{"--prune"}, []string{"--prune"}, []string{"--prune=force"}, []string{"--prune=force", "--table=items"}, []string{"--prune", "--format=datafile"},
		[]string{"--prune", "--table=items"}, []string{"--prune", "--sniff"}, []string{"--sniff"})
	_ = os.MkdirAll(m.at(source), 0o777)
	args := append(append([]string{"recfs", "export", "--json", "--cache-disk=0"}, flags...), "tables", m.at(source), m.at(to))
	m.say("%q", args)
	before := filesIn(m.dir)
	matter := []string{".tar", ".map", ".hcrp"}
	if slices.Contains(flags, "--format=datafile") {
		matter = matter[:2]
	}
	readable, whole := m.isReadable(m.at(source), matter)
	pruned := slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, "--prune") })
	force := slices.Contains(flags, "--prune=force")
	note, noted := os.ReadFile(m.at(to, "_recfs.json"))
	foreign := noted == nil && !strings.Contains(string(note), fmt.Sprintf("%q}", m.at(source)))

	var out, stderr bytes.Buffer
	code := run(&env{stdout: &out, stderr: &stderr}, args)
	m.say("%d %s", code, &stderr)
	m.take(m.at(source), &out)
	if strings.Contains(stderr.String(), "another export") {
		m.wrong("there is none")
	}

	after := filesIn(m.dir)
	removed := 0
	for name, mode := range before {
		if _, ok := after[name]; ok || strings.HasSuffix(name, ".parquet") == false {
			continue
		}
		if filepath.Dir(filepath.Dir(name)) == m.at(to) && pruned && readable && whole {
			continue // the rows of all recordings, of which none is left
		}
		removed++
		table, ours := m.made[name]
		switch {
		case !pruned || !readable || !whole || mode != 0 || !ours, !strings.HasPrefix(name, m.at(to)+"/"),
			foreign && !force, table.source != m.at(source) && !force,
			!m.isGone(m.at(source), table.recording),
			slices.Contains(flags, "--format=datafile") && table.format != "datafile", slices.Contains(flags, "--table=items") && table.table != "items":
			m.wrong("%s: removed, mode %v, ours %v, %+v, readable %v, whole %v, foreign %v", name, mode, ours, table, readable, whole, foreign)
		}
		delete(m.made, name)
	}
	all := 0
	for name := range before {
		if _, ours := m.made[name]; ours && strings.HasPrefix(name, m.at(to)+"/") {
			all++
		}
	}
	if all += removed; removed > 0 && !force && 2*removed > all+len(before) {
		m.wrong("%d of %d removed", removed, all)
	}
	if pruned && code == 0 {
		m.wantGone(m.at(source), m.at(to), flags)
	}
	if code == 0 && (!readable || pruned && !whole) {
		m.wrong("exit code 0 although not all could be read")
	}
}

// wantGone holds that nothing is left of recordings that are gone.
func (m *pruneModel) wantGone(source, to string, flags []string) {
	for name, table := range m.made {
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || !strings.HasPrefix(name, to+"/") || behindLink(name) || len(flags) > 1 {
			continue
		}
		if m.isGone(source, table.recording) {
			m.wrong("%s: left, though %s is gone", name, table.recording)
		}
	}
}

// take takes note of what an export wrote.
func (m *pruneModel) take(source string, out *bytes.Buffer) {
	for lines := json.NewDecoder(out); lines.More(); {
		var line export.File
		must(m.T, lines.Decode(&line))
		if line.File != "" && !line.Removed && line.Error == "" {
			real, err := filepath.EvalSymlinks(line.File)
			must(m.T, err)
			if real != line.File {
				m.wrong("%s is behind a link", line.File)
			}
			m.made[real] = madeTable{source, line.Path, line.Format, line.Table}
		}
	}
}

// behindLink reports whether a link leads to the directory of a file.
func behindLink(name string) bool {
	real, err := filepath.EvalSymlinks(name)
	return err != nil || real != name
}

// isGone reports whether there is nothing of a recording, in a tar or not, or a link that leads to
// what is found without.
func (m *pruneModel) isGone(source, recording string) bool {
	if info, err := os.Stat(source); err == nil && !info.IsDir() { // a link to a recording took its place
		return recording != filepath.Base(source)
	}
	for i := range recording + "/" {
		at := filepath.Join(source, recording[:i])
		if i < len(recording) && recording[i] != '/' {
			continue
		}
		if info, err := os.Lstat(at); err == nil && info.Mode().Type() == iofs.ModeSymlink {
			real, err := filepath.EvalSymlinks(at)
			return err == nil && contains(source, real)
		}
	}
	dir, member, inTar := strings.Cut(recording, ".tar/")
	if !inTar {
		_, err := os.Lstat(filepath.Join(source, recording))
		return err != nil
	}
	b, err := os.ReadFile(filepath.Join(source, dir+".tar"))
	if err != nil {
		return true
	}
	for r := tar.NewReader(bytes.NewReader(b)); ; {
		h, err := r.Next()
		if err != nil || h.Name == member {
			return err != nil
		}
	}
}

// isReadable reports whether all of a source that matters can be read, and whether no tar in it may
// have been cut.
func (m *pruneModel) isReadable(source string, matter []string) (readable, whole bool) {
	readable, whole = true, true
	_ = filepath.WalkDir(source, func(name string, d iofs.DirEntry, err error) error {
		if err != nil {
			readable = false
			return nil
		}
		if d.Type() != 0 || !slices.Contains(matter, filepath.Ext(name)) {
			return nil
		}
		b, err := os.ReadFile(name)
		readable = readable && err == nil
		whole = whole && (filepath.Ext(name) != ".tar" || bytes.HasSuffix(b, make([]byte, 512)))
		return nil
	})
	return readable, whole
}

// filesIn returns the types of all files below a directory.
func filesIn(dir string) map[string]iofs.FileMode {
	all := map[string]iofs.FileMode{}
	_ = filepath.WalkDir(dir, func(name string, d iofs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all[name] = d.Type()
		}
		return nil
	})
	return all
}
