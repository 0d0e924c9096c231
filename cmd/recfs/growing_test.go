package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"recfs/nodes/nodestest"
)

// A grown is a sample that is written piece by piece, and the files that follow.
type grown struct {
	sample, name string
	cut          int // bytes of the sample that count; 0: all
	follow       []string
}

var grownSamples = map[string]grown{
	"teehistorian": {"teehistorian/reload-20.1.teehistorian", "x.teehistorian", 0, []string{
		"raw", "lines/000000.jsonl", "export/events.txt", "players/*-*/*",
	}},
	"chunks": {"teehistorian/busy-20.1.teehistorian.xz", "y.teehistorian", 500_000, []string{
		"raw", "lines/000001.jsonl", "export/events.txt", "players/*-*/*",
	}},
	"nethack": {"nethack/beta1.nhgame", "x.nhgame", 0, []string{
		"raw", "lines/*", "export/*",
	}},
	"hcrp":   {"hcrp/run-short.hcrp", "x.hcrp", 0, []string{"raw", "tracks/*", "export/ghost.csv"}},
	"zstd":   {"butter/arena_private_bones_v3_zstd7.butter", "x.butter", 0, grownButter},
	"gzip":   {"butter/arena_v1_gzip.butter", "y.butter", 0, grownButter},
	"stored": {"butter/arena_v3early_none.butter", "z.butter", 0, grownButter},
	"text":   {"butter/first-24-frames.echoreplay", "x.txt", 0, grownButter},
	"zip":    {"butter/first-24-frames.echoreplay", "x.echoreplay", 0, []string{"raw"}},
	"milk":   {"butter/old.milk", "x.milk", 0, []string{"raw"}},
	"plain":  {"butter/README.md", "x.md", 0, []string{"."}},
	"packed": {"teehistorian/busy-20.1.teehistorian.xz", "x.teehistorian.xz", 0, nil},
}

var grownButter = []string{"raw", "lines/*", "events.jsonl", "export/*.csv", "export/*.txt"}

// unpackers are programs that print what is in a packed sample.
var unpackers = map[string][2]string{".xz": {"xz", "-dc"}, ".echoreplay": {"unzip", "-p"}}

// follows reports whether a file of the tree, by its path in it, is one that shows what is added.
func (g *grown) follows(rel string) bool {
	return slices.ContainsFunc(g.follow, func(pattern string) bool {
		ok, _ := path.Match(pattern, rel)
		return ok
	})
}

// bytes returns the sample; nil if the program that unpacks it is not there.
func (g *grown) bytes(t *testing.T) []byte {
	name := filepath.Join("..", "..", "testdata", "archive", filepath.FromSlash(g.sample))
	var b []byte
	var err error
	unpack, packed := unpackers[path.Ext(name)]
	if packed && path.Ext(g.name) != path.Ext(name) {
		b, err = exec.Command(unpack[0], unpack[1], name).Output()
	} else {
		b, err = os.ReadFile(name)
	}
	if errors.Is(err, exec.ErrNotFound) {
		t.Logf("without %s: %v", g.name, err)
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if g.cut > 0 {
		b = b[:g.cut]
	}
	return b
}

// A follower has a file of the mount open and reads on.
type follower struct {
	*os.File
	g    *grown
	rel  string
	seen []byte
}

// more reads what was added. The first look at a new size makes the kernel forget what it knew, and
// it asks again at the next one.
func (f *follower) more(t *testing.T) {
	for range 3 {
		b, err := io.ReadAll(f)
		if err != nil {
			t.Errorf("%s/%s at %d: %v", f.g.name, f.rel, len(f.seen), err)
		}
		f.seen = append(f.seen, b...)
	}
}

// openTree opens the files below rel of a tree, of long directories the first and the last few.
func openTree(t *testing.T, g *grown, root, rel string) (open []*follower) {
	list, err := os.ReadDir(filepath.Join(root, rel))
	if err != nil {
		name := filepath.Join(root, rel)
		f, err := os.Open(name)
		if err != nil {
			return nil // it is not there yet
		}
		w := &follower{f, g, rel, nil}
		if w.seen, err = io.ReadAll(f); err != nil {
			f.Close()
			return nil
		}
		return []*follower{w}
	}
	const few = 3
	for i, e := range list {
		if i < few || i >= len(list)-few {
			open = append(open, openTree(t, g, root, path.Join(rel, e.Name()))...)
		}
	}
	return open
}

// TestGrowing writes recordings of every format in pieces that end anywhere, while each of their
// files is open. Those that follow show what the whole recording has there, never anything else
// before; all others keep their bytes.
func TestGrowing(t *testing.T) {
	nodestest.Long(t)
	if !canMount() {
		t.Skip("needs /dev/fuse and root")
	}
	source, mnt := t.TempDir(), filepath.Join(t.TempDir(), "mnt")
	if err := os.Mkdir(filepath.Join(source, "whole"), 0o777); err != nil {
		t.Fatal(err)
	}
	serveLive(t, "--sniff", source, mnt)
	rest := map[string][]byte{}
	var open []*follower
	for _, g := range grownSamples {
		b := g.bytes(t)
		if b == nil {
			continue
		}
		add(t, filepath.Join(source, "whole", g.name), b, true)
		add(t, filepath.Join(source, g.name), b[:len(b)/2], false)
		rest[g.name] = b[len(b)/2:]
	}
	grow := func(n func(rest int) int) {
		for name, r := range rest {
			// What was seen to grow keeps its last lines back for an hour, else for a few seconds.
			if _, err := os.Stat(filepath.Join(mnt, name)); err != nil {
				t.Fatal(err)
			}
			k := n(len(r))
			add(t, filepath.Join(source, name), r[:k], k == len(r))
			rest[name] = r[k:]
		}
		time.Sleep(1100 * time.Millisecond) // attributes hold for a second
	}
	grow(func(int) int { return 1 })
	for _, g := range grownSamples {
		open = append(open, openTree(t, &g, filepath.Join(mnt, g.name), ".")...)
	}
	g := grownSamples["teehistorian"]
	for range nodestest.Times(50, 10) { // readers of one file
		open = append(open, openTree(t, &g, filepath.Join(mnt, g.name), g.follow[1])...)
	}
	first := map[*follower][]byte{}
	for _, f := range open {
		defer f.Close()
		first[f] = bytes.Clone(f.seen)
	}
	const steps = 4
	for step := range steps {
		grow(func(n int) int { return n / (steps - step) })
		var all sync.WaitGroup
		for _, f := range open {
			all.Go(func() { f.more(t) })
		}
		all.Wait()
	}
	for _, f := range open {
		want := first[f]
		if f.g.follows(f.rel) {
			var err error
			if want, err = os.ReadFile(filepath.Join(mnt, "whole", f.g.name, f.rel)); err != nil {
				t.Error(err)
			}
		}
		if !bytes.Equal(f.seen, want) {
			at := 0
			for at < min(len(want), len(f.seen)) && want[at] == f.seen[at] {
				at++
			}
			t.Errorf("%s/%s has %d bytes, not the %d expected, from %d on %.40q, not %.40q",
				f.g.name, f.rel, len(f.seen), len(want), at, f.seen[at:], want[at:])
		}
	}
}

// add adds to a file as its writer does, who after the last of it is at rest since long ago.
func add(t *testing.T, name string, b []byte, last bool) {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err == nil {
		_, err = f.Write(b)
		f.Close()
	}
	if err == nil && last {
		err = os.Chtimes(name, time.Time{}, time.Now().Add(-2*time.Hour))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// serveLive mounts until the end of the test. The last argument is the mount point.
func serveLive(t *testing.T, args ...string) {
	t.Helper()
	server := recfs(t, append([]string{"mount", "-f"}, args...)...)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	})
	nodestest.Eventually(t, "a mount", func() bool { return exists(filepath.Join(args[len(args)-1], controlName)) })
}

// Who has a file of a recording open that is cut hears of it, and a new look finds what there is.
func TestCut(t *testing.T) {
	if !canMount() {
		t.Skip("needs /dev/fuse and root")
	}
	source, mnt := t.TempDir(), filepath.Join(t.TempDir(), "mnt")
	g := grownSamples["teehistorian"]
	name, shown := filepath.Join(source, g.name), filepath.Join(mnt, g.name)
	add(t, name, g.bytes(t), true)
	serveLive(t, source, mnt)
	var open []*os.File
	for _, rel := range []string{"raw", "lines/000000.jsonl", "players/00-alice/inputs.csv", "chunks/000000"} {
		f, err := os.Open(filepath.Join(shown, rel))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		open = append(open, f)
	}
	if err := os.Truncate(name, 9000); err != nil {
		t.Fatal(err)
	}
	for _, f := range open {
		if _, err := io.ReadAll(f); !errors.Is(err, syscall.ESTALE) {
			t.Errorf("%s: %v", f.Name(), err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(shown, "raw")); len(b) != 9000 {
		t.Errorf("raw has %d bytes then, %v", len(b), err)
	}
}

// tail -F goes on with each file that is renamed over the one it follows, and with what is added to
// it.
func TestTailReplaced(t *testing.T) {
	nodestest.Long(t)
	tail, err := exec.LookPath("tail")
	if !canMount() || err != nil {
		t.Skip("needs /dev/fuse, root and tail")
	}
	source, mnt, shown := t.TempDir(), filepath.Join(t.TempDir(), "mnt"), t.TempDir()
	g := grownSamples["teehistorian"]
	b, notes := g.bytes(t), filepath.Join(source, "notes.txt")
	replace := func(name string, b []byte) {
		t.Helper()
		add(t, name+".new", b, true)
		if err := os.Rename(name+".new", name); err != nil {
			t.Fatal(err)
		}
	}
	write := func(n int, text string) {
		t.Helper()
		replace(filepath.Join(source, g.name), b[:n])
		replace(notes, []byte(text))
	}
	write(len(b)/2, "first\n")
	serveLive(t, source, mnt)
	want := map[string]string{filepath.Join(mnt, "notes.txt"): "", filepath.Join(mnt, g.name, "lines", "000000.jsonl"): ""}
	for name := range want {
		out, err := os.Create(filepath.Join(shown, filepath.Base(name)))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		cmd := exec.Command(tail, "-F", "-n", "+1", "-s", "0.1", "--max-unchanged-stats=1", name)
		cmd.Stdout = out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}()
	}
	check := func() {
		t.Helper()
		for name := range want {
			now, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want[name] += string(now)
			nodestest.Eventually(t, "all of "+name, func() bool {
				got, err := os.ReadFile(filepath.Join(shown, filepath.Base(name)))
				return err == nil && string(got) == want[name]
			})
		}
	}
	check()
	write(len(b)*2/3, "another\n")
	check()
	write(len(b)/2, "a third one\n")
	check()
	delete(want, filepath.Join(mnt, g.name, "lines", "000000.jsonl"))
	want[filepath.Join(mnt, "notes.txt")] = "first\nanother\n"
	add(t, notes, []byte("goes on\n"), true)
	check()
}
