package archive

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zip"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// manyEntries are n files in directories of a thousand.
func manyEntries(n int) []entry {
	entries := make([]entry, n)
	for i := range entries {
		entries[i] = entry{fmt.Sprintf("dir%03d/%07d-name", i/1000, i), "x"}
	}
	return entries
}

func TestNestedCost(t *testing.T) {
	const n = 100_000
	dir := t.TempDir()
	entries := manyEntries(n)
	write(t, dir, "a.tar", string(packTar(t, entries...)))
	write(t, dir, "a.zip", string(packZip(t, zip.Store, entries...)))
	for _, name := range []string{"a.tar", "a.zip"} {
		root, c := newArchiveWith(t, dir, "", 0, 64<<20)
		held := heapSize()
		if got, err := read(t, root, name+"/dir099/0099999-name"); got != "x" || err != nil {
			t.Fatalf("%s: %q, %v", name, got, err)
		}
		held, counted := heapSize()-held, c.Stats().Bytes
		if counted > 80*n || held > counted+counted/2+1<<20 {
			t.Errorf("%s: the list of %d members takes %d bytes and counts as %d", name, n, held, counted)
		}
		runtime.KeepAlive(root)
	}
}

func heapSize() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Directories that are in use survive their container going from the cache.
func TestNestedEvicted(t *testing.T) {
	const n = 5000
	dir := t.TempDir()
	for i := range 8 {
		write(t, dir, fmt.Sprintf("%d.tar", i), string(packTar(t, manyEntries(n)...)))
	}
	root, c := newArchiveWith(t, dir, "", 0, 1<<20)
	var held []nodes.Dir
	for range 2 {
		for i := range 8 {
			e, err := nodes.Lookup(t.Context(), root, fmt.Sprintf("%d.tar/dir002", i))
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, e.Dir)
		}
	}
	for i, d := range held {
		e, err := nodes.Lookup(t.Context(), d, fmt.Sprintf("%07d-name", 2000+i))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := nodes.ReadAll(t.Context(), e.File); string(b) != "x" || err != nil {
			t.Errorf("%q, %v", b, err)
		}
	}
	if b := c.Stats().Bytes; b > 1<<20+64<<10 {
		t.Errorf("%d bytes in a cache of 1 MiB", b)
	}
}

func TestNestedLimit(t *testing.T) {
	dir := t.TempDir()
	entries := manyEntries(20_000)
	write(t, dir, "a.tar", string(packTar(t, entries...)))
	write(t, dir, "a.zip", string(packZip(t, zip.Store, entries...)))
	root, _ := newArchiveWith(t, dir, "", 0, 1<<20)
	for _, name := range []string{"a.tar", "a.zip"} {
		got, err := read(t, root, name+"/error.txt")
		if err != nil || !strings.Contains(got, "it holds too many files") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestNestedSaved(t *testing.T) {
	dir, disk := t.TempDir(), t.TempDir()
	write(t, dir, "a.tar", string(packTar(t, append(manyEntries(2000), nestedEntries...)...)))
	first, _ := newArchiveWith(t, dir, disk, 1<<30, 64<<20)
	want := show(t, first)
	a := first.(*top).a
	info, err := a.lstat("a.tar")
	if err != nil {
		t.Fatal(err)
	}
	k := nestedKey{recordingKey{path: "a.tar", name: "a.tar", v: source.VersionOf(info), format: noFormat}, tarContainer}
	if a.savedList(k) == nil {
		t.Fatal("the list was not saved")
	}
	second, _ := newArchiveWith(t, dir, disk, 1<<30, 64<<20)
	wantTree(t, show(t, second), want)
	k.v.Nanos++
	if a.savedList(k) != nil {
		t.Error("a list of another version was used")
	}
}

// A tar in a tar says less of its version than a file: its list is not kept.
func TestNestedSavedInside(t *testing.T) {
	dir, disk := t.TempDir(), t.TempDir()
	for _, name := range []string{"a", "b"} {
		entries := manyEntries(2000)
		entries[1999].name = name
		outer := packTar(t, entry{"inner.tar", string(packTar(t, entries...))})
		write(t, dir, name, string(outer))
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, "outer.tar")); err != nil {
			t.Fatal(err)
		}
		root, _ := newArchiveWith(t, dir, disk, 1<<30, 64<<20)
		if got, err := read(t, root, "outer.tar/inner.tar/"+name); got != "x" || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestNestedWithoutCache(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.tar", string(packTar(t, manyEntries(10)...)))
	root, _ := newArchiveWith(t, dir, "", 0, 0)
	if got, err := read(t, root, "a.tar/dir000/0000001-name"); got != "x" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// The time for hard links that are one with nothing grows with their number.
func TestDanglingHardLinks(t *testing.T) {
	_, c := newArchiveWith(t, t.TempDir(), "", 0, 1<<20)
	l := newLister(time.Time{}, 1<<30, c.Room())
	for range 200_000 {
		if err := l.addHardLink("a", "a"); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	if m := l.finish(); len(m.order) != 0 {
		t.Errorf("%d files, want none", len(m.order))
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

func TestMembersEncoding(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	l := newLister(time.Unix(-5, 7), 1<<30, cache.New(1<<30, nil).Room())
	for i := range 10_000 {
		name := fmt.Sprintf("%d/%d/%d", rnd.IntN(10), rnd.IntN(50), rnd.IntN(100))
		modified := time.Unix(rnd.Int64N(1<<40)-1<<39, rnd.Int64N(1e9))
		var err error
		switch i % 5 {
		case 0:
			err = l.addDir(name, modified)
		case 1:
			err = l.addLink(name, strings.Repeat("t", rnd.IntN(20)), modified)
		case 2:
			err = l.addHardLink(name, fmt.Sprintf("%d/%d/%d", rnd.IntN(10), rnd.IntN(50), rnd.IntN(100)))
		default:
			err = l.addFile(name, member{kind: fileMember, at: rnd.Int64(), size: rnd.Int64()}, modified)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	m := l.finish()
	saved := encodeList(m, formats.Stamp{Changed: 1})
	got := decodeList(saved, formats.Stamp{Changed: 1}, 1<<20)
	if got == nil {
		t.Fatal("not decoded")
	}
	for i := range uint32(m.len()) {
		if *m.at(i) != *got.at(i) || !bytes.Equal(m.words(i), got.words(i)) {
			t.Fatalf("member %d: %+v %q, want %+v %q", i, got.at(i), got.words(i), m.at(i), m.words(i))
		}
	}
	if !reflect.DeepEqual(m.order, got.order) {
		t.Error("another order")
	}
	if decodeList(saved, formats.Stamp{Changed: 1}, 500<<10) != nil {
		t.Error("decoded though it takes more than there is room for")
	}
}

// Whatever a saved list claims, it takes no more memory than its bytes
// justify, and what is made of it can be walked.
func TestSavedListDamaged(t *testing.T) {
	l := newLister(time.Unix(1, 2), 1<<30, cache.New(1<<30, nil).Room())
	for i := range 100 {
		if err := l.addFile(fmt.Sprintf("%d/%d", i%7, i), member{kind: fileMember}, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if err := l.addLink(fmt.Sprintf("%d/link%d", i%7, i), "target", time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	saved := encodeList(l.finish(), formats.Stamp{Changed: 1})
	huge := binary.AppendUvarint([]byte{savedListVersion, 1, 'v'}, 1<<40)
	if decodeList(huge, formats.Stamp{Changed: 1}, 1<<50) != nil {
		t.Error("a list of nothing was decoded")
	}
	for i := range saved {
		if decodeList(saved[:i], formats.Stamp{Changed: 1}, 1<<20) != nil {
			t.Errorf("cut at %d, and decoded", i)
		}
		for _, change := range []byte{1, 0x40, 0x80, 0xff} {
			b := bytes.Clone(saved)
			b[i] ^= change
			m := decodeList(b, formats.Stamp{Changed: 1}, 1<<20)
			if m == nil {
				continue
			}
			if m.cost() > 1<<20 {
				t.Errorf("%d bytes", m.cost())
			}
			for n := range uint32(m.len()) {
				if m.at(n).kind == dirMember {
					m.in(n)
				}
				if m.at(n).kind == linkMember {
					m.target(n)
				}
				m.name(n)
			}
		}
	}
}

// A saved list in which two directories hold one member, or a name is none, is not used: its tree would have twice as many
// paths at each level.
func TestSavedListIsATree(t *testing.T) {
	list := func(order []uint32, names ...string) *members {
		m := new(members)
		for i, name := range names {
			f := member{kind: dirMember}
			if i < 2 {
				f.at, f.size = int64(i), 1
			}
			m.append(f, name)
		}
		m.order = order
		return m
	}
	for _, test := range []struct {
		m     *members
		sound bool
	}{
		{list([]uint32{1, 2}, "", "a", "b"), true},
		{list([]uint32{2, 2}, "", "a", "b"), false},
		{list([]uint32{1, 2}, "", "a", ".."), false},
		{list([]uint32{1, 2}, "", "a/b", "c"), false},
		{list([]uint32{1, 2}, "", "a", ""), false},
	} {
		if got := decodeList(encodeList(test.m, formats.Stamp{Changed: 1}), formats.Stamp{Changed: 1}, 1<<20) != nil; got != test.sound {
			t.Errorf("%v %q: decoded is %v, want %v", test.m.order, test.m.blocks[0].text, got, test.sound)
		}
	}
}
