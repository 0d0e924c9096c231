package container

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes/nodestest"
)

// The processor time for hard links that are one with nothing grows with their number.
func TestDanglingHardLinks(t *testing.T) {
	nodestest.Long(t)
	c := cache.New(1<<20, nil)
	t.Cleanup(c.Close)
	l := newBuilder(time.Time{}, Work{Limit: 1 << 30})
	for range 200_000 {
		if err := l.addHardLink("a", "a"); err != nil {
			t.Fatal(err)
		}
	}
	start := formatstest.CPU()
	if m := l.finish(); len(m.order) != 0 {
		t.Errorf("%d files, want none", len(m.order))
	}
	if took := formatstest.CPU() - start; took > time.Minute {
		t.Errorf("took %v", took)
	}
}

func TestMembersEncoding(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	l := newBuilder(time.Unix(-5, 7), Work{Limit: 1 << 30})
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
	saved := Encode(m, formats.Stamp{Changed: 1})
	got := Decode(saved, formats.Stamp{Changed: 1}, 1<<20)
	if got == nil {
		t.Fatal("not decoded")
	}
	if diff := cmp.Diff(walked(m, 0), walked(got, 0)); diff != "" {
		t.Error(diff)
	}
	if Decode(saved, formats.Stamp{Changed: 1}, 500<<10) != nil {
		t.Error("decoded though it takes more than there is room for")
	}
}

// walked returns what a directory holds, a line each.
func walked(m *Members, dir uint32) (lines []string) {
	for _, i := range m.in(dir) {
		f := *m.at(i)
		switch f.kind {
		case dirMember:
			lines = append(lines, fmt.Sprintf("%q %d %d", m.name(i), f.sec, f.nsec))
			lines = append(lines, walked(m, i)...)
			continue
		case linkMember:
			f.at = 0
			lines = append(lines, m.target(i))
		}
		f.end = 0
		lines = append(lines, fmt.Sprintf("%q %+v", m.name(i), f))
	}
	return lines
}

// Whatever a saved list claims, it takes no more memory than its bytes
// justify, and what is made of it can be walked.
func TestSavedListDamaged(t *testing.T) {
	l := newBuilder(time.Unix(1, 2), Work{Limit: 1 << 30})
	for i := range 100 {
		if err := l.addFile(fmt.Sprintf("%d/%d", i%7, i), member{kind: fileMember}, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if err := l.addLink(fmt.Sprintf("%d/link%d", i%7, i), "target", time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	saved := Encode(l.finish(), formats.Stamp{Changed: 1})
	huge := binary.AppendUvarint(indexfile.NewWriter(formats.Seal{Stamp: formats.Stamp{Changed: 1}}, 0).Bytes(), 1<<40)
	if Decode(huge, formats.Stamp{Changed: 1}, 1<<50) != nil {
		t.Error("a list of nothing was decoded")
	}
	for i := range nodestest.Places(len(saved), 7) {
		if Decode(saved[:i], formats.Stamp{Changed: 1}, 1<<20) != nil {
			t.Errorf("cut at %d, and decoded", i)
		}
		for _, change := range []byte{1, 0x40, 0x80, 0xff} {
			b := bytes.Clone(saved)
			b[i] ^= change
			m := Decode(b, formats.Stamp{Changed: 1}, 1<<20)
			if m == nil {
				continue
			}
			if m.Cost() > 1<<20 {
				t.Errorf("%d bytes", m.Cost())
			}
			for n := range uint32(m.Len()) {
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

// A saved list in which a name is none is not used.
func TestSavedListHasNames(t *testing.T) {
	list := func(order []uint32, names ...string) *Members {
		m := new(Members)
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
		m     *Members
		sound bool
	}{
		{list([]uint32{1, 2}, "", "a", "b"), true},
		{list([]uint32{1, 2}, "", "a", ".."), false},
		{list([]uint32{1, 2}, "", "a/b", "c"), false},
		{list([]uint32{1, 2}, "", "a", ""), false},
	} {
		if got := Decode(Encode(test.m, formats.Stamp{Changed: 1}), formats.Stamp{Changed: 1}, 1<<20) != nil; got != test.sound {
			t.Errorf("%v %q: decoded is %v, want %v", test.m.order, test.m.blocks[0].text, got, test.sound)
		}
	}
}
