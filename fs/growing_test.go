//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"recfs/nodes"
)

// A grownDir is the directory of a recording that grows: its file log has the first n bytes of
// text.
type grownDir struct {
	nodes.Dir
	text string
	n    int
}

func newGrownDir(text string, n int) *grownDir {
	return &grownDir{nodes.List(
		nodes.Entry{Name: "doc", File: nodes.Bytes([]byte(text[:n]))},
		nodes.Entry{Name: "sub", Dir: nodes.List(nodes.Entry{Name: "log", Grows: true, File: nodes.Bytes([]byte(text[:n]))})},
	), text, n}
}

func (d *grownDir) Since(earlier nodes.Grower) nodes.Change {
	e, ok := earlier.(*grownDir)
	switch {
	case ok && e.text != d.text:
		return nodes.Replaced
	case ok && e.n <= d.n:
		return nodes.Grown
	}
	return nodes.Unknown
}

// A grownFile is a file that grows in a volatile directory.
type grownFile struct {
	nodes.File
	text string
	n    int
}

func newGrownFile(text string, n int) *grownFile {
	return &grownFile{nodes.Bytes([]byte(text[:n])), text, n}
}

func (f *grownFile) Since(earlier nodes.Grower) nodes.Change {
	e, ok := earlier.(*grownFile)
	switch {
	case ok && e.text != f.text:
		return nodes.Replaced
	case ok && e.n <= f.n:
		return nodes.Grown
	}
	return nodes.Unknown
}

// followed reads a file that is open as a program does that follows it: it asks for the size, then
// reads.
func followed(t *testing.T, k *kernel, id uint64) string {
	t.Helper()
	attr, status := k.getattr(id)
	if status != fuse.OK {
		t.Fatalf("getattr: %v", status)
	}
	got, status := k.readFile(id)
	if status != fuse.OK || uint64(len(got)) != attr.Size {
		t.Fatalf("%d bytes, %v, the size is %d", len(got), status, attr.Size)
	}
	return got
}

func TestGrowingRecording(t *testing.T) {
	const text = "first, second, third"
	live := newLiveDir(nodes.Entry{Name: "r", Dir: newGrownDir(text, 5)})
	k := newKernel(t, live, Options{})
	log, doc := k.walk("r/sub/log"), k.walk("r/doc")
	if log.AttrTimeout() != volatile || doc.AttrTimeout() == volatile {
		t.Errorf("attributes are kept for %v of a file that grows, %v of another", log.AttrTimeout(), doc.AttrTimeout())
	}
	for _, n := range []int{5, 13, 20} {
		live.set(nodes.Entry{Name: "r", Dir: newGrownDir(text, n)})
		if got := followed(t, k, log.NodeId); got != text[:n] {
			t.Errorf("%q of %d bytes", got, n)
		}
		if got := followed(t, k, doc.NodeId); got != text[:5] {
			t.Errorf("a file that does not grow became %q", got)
		}
		if again := k.walk("r/sub/log"); again.Attr.Ino != log.Attr.Ino || again.Attr.Size != uint64(n) {
			t.Errorf("a look-up finds inode %d of %d bytes, was %d", again.Attr.Ino, again.Attr.Size, log.Attr.Ino)
		}
	}
	for name, now := range map[string]nodes.Dir{
		"replaced": newGrownDir("another text than before", 22),
		"cut":      newGrownDir(text, 3),
		"a folder": nodes.List(),
	} {
		live.set(nodes.Entry{Name: "r", Dir: now})
		if got := followed(t, k, log.NodeId); got != text {
			t.Errorf("%s: %q", name, got)
		}
	}
	live.remove("r")
	if got := followed(t, k, log.NodeId); got != text {
		t.Errorf("removed: %q", got)
	}
	k.server.Forget(log.NodeId, 1)
	if _, status := k.getattr(log.NodeId); status != estale {
		t.Errorf("after it was forgotten: %v", status)
	}
}

// Who follows the name of a file learns by its inode number that another one took its place, which
// it keeps while that one grows, and when the kernel has forgotten all of them.
func TestGrowingReplaced(t *testing.T) {
	live := newLiveDir(nodes.Entry{Name: "r", Dir: newGrownDir("some text", 4)})
	k := newKernel(t, live, Options{})
	ino := func() uint64 {
		t.Helper()
		r := k.walk("r")
		listed := k.opendir(rootID).next(4096)
		if i := slices.IndexFunc(listed, func(e fuse.DirEntry) bool { return e.Name == "r" }); i < 0 || listed[i].Ino != r.Attr.Ino {
			t.Errorf("inode %d, listed %+v", r.Attr.Ino, listed)
		}
		return k.walk("r/sub/log").Attr.Ino
	}
	first := ino()
	live.set(nodes.Entry{Name: "r", Dir: newGrownDir("some text", 9)})
	if got := ino(); got != first {
		t.Errorf("inode %d after it grew, was %d", got, first)
	}
	live.set(nodes.Entry{Name: "r", Dir: newGrownDir("another text", 4)})
	other := ino()
	if other == first {
		t.Errorf("another file has the inode number of the first one")
	}
	live.set(nodes.Entry{Name: "r", Dir: newGrownDir("another text", 9)})
	if got := ino(); got != other {
		t.Errorf("inode %d after that grew, was %d", got, other)
	}
	for number := range k.server.table.slots {
		if number > rootNumber {
			k.server.Forget(uint64(number)<<indexBits, 100)
		}
	}
	if got := ino(); got != other || k.server.table.len() == 0 {
		t.Errorf("inode %d after all was forgotten, was %d", got, other)
	}
}

// A file of a recording that is at its end there shows the rest and grows no more.
func TestGrowingEnds(t *testing.T) {
	const text = "first, second, third"
	live := newLiveDir(nodes.Entry{Name: "r", Dir: newGrownDir(text, 5)})
	k := newKernel(t, live, Options{})
	log := k.walk("r/sub/log")
	whole := newGrownDir(text, len(text))
	whole.Dir = nodes.List(nodes.Entry{Name: "sub", Dir: nodes.List(nodes.Entry{Name: "log", File: nodes.Bytes([]byte(text))})})
	live.set(nodes.Entry{Name: "r", Dir: whole})
	if got := followed(t, k, log.NodeId); got != text {
		t.Errorf("%q", got)
	}
	if attr, _ := k.getattr(log.NodeId); attr.Timeout() != immutable {
		t.Errorf("its attributes are kept for %v", attr.Timeout())
	}
}

// Who has a file open never sees other bytes than before, though its recording says that it only
// grew.
func TestGrowingOtherwise(t *testing.T) {
	live := newLiveDir(nodes.Entry{Name: "r", Dir: newGrownDir("tick 1]\n", 8)})
	k := newKernel(t, live, Options{})
	log := k.walk("r/sub/log")
	for _, other := range []string{"tick 1, and more]\n", "tick 1, and more]\ntick 2]\n"} {
		now := newGrownDir(other, len(other))
		now.text, now.n = "tick 1]\n", 8
		live.set(nodes.Entry{Name: "r", Dir: now})
		if got := followed(t, k, log.NodeId); got != "tick 1]\n" {
			t.Errorf("%q", got)
		}
		if again := k.walk("r/sub/log"); again.Attr.Size != uint64(len(other)) {
			t.Errorf("a look-up finds %d bytes", again.Attr.Size)
		}
	}
}

func TestGrowingFile(t *testing.T) {
	const text = "one two three"
	live := newLiveDir(nodes.Entry{Name: "f", Grows: true, File: newGrownFile(text, 0)})
	k := newKernel(t, live, Options{})
	f := k.walk("f")
	for _, n := range []int{3, 7, 13} {
		live.set(nodes.Entry{Name: "f", Grows: true, File: newGrownFile(text, n)})
		if got := followed(t, k, f.NodeId); got != text[:n] {
			t.Errorf("%q of %d bytes", got, n)
		}
		if again := k.walk("f"); again.NodeId != f.NodeId || again.Attr.Size != uint64(n) {
			t.Errorf("a look-up finds node %#x of %d bytes, was %#x", again.NodeId, again.Attr.Size, f.NodeId)
		}
	}
	live.set(nodes.Entry{Name: "f", Grows: true, File: newGrownFile("replaced by what is longer", 20)})
	if again := k.walk("f"); again.NodeId == f.NodeId {
		t.Error("a file that was replaced has the node of the old one")
	}
	if got := followed(t, k, f.NodeId); got != text {
		t.Errorf("after it was replaced: %q", got)
	}
	k.server.Forget(f.NodeId, 100)
	if n := k.server.table.len(); n != 1 {
		t.Errorf("%d nodes are held, not 1", n)
	}
}

// Who looks a file up in a directory of the first version, once its node is of a later one, finds
// that.
func TestGrowingFromHeldDirectory(t *testing.T) {
	const text = "some text"
	live := newLiveDir(nodes.Entry{Name: "r", Dir: newGrownDir(text, 4)})
	k := newKernel(t, live, Options{})
	dir := k.walk("r/sub")
	log, _ := k.tryLookup(dir.NodeId, "log")
	at := sampleTime.Add(time.Minute)
	live.set(nodes.Entry{Name: "r", Attr: nodes.Attr{Time: at}, Dir: newGrownDir(text, 9)})
	if got := followed(t, k, log.NodeId); got != text {
		t.Errorf("%q", got)
	}
	again, status := k.tryLookup(dir.NodeId, "log")
	if status != fuse.OK || again.NodeId != log.NodeId || again.Attr.Size != uint64(len(text)) || !again.Attr.ModTime().Equal(at) {
		t.Errorf("%v: %+v", status, again)
	}
	if got := followed(t, k, log.NodeId); got != text {
		t.Errorf("after it was looked up again: %q", got)
	}
}

// A version that cannot be read yet leaves a file as it is.
func TestGrowingUnreadable(t *testing.T) {
	live := newLiveDir(nodes.Entry{Name: "r", Dir: newGrownDir("some text", 4)})
	k := newKernel(t, live, Options{})
	log := k.walk("r/sub/log")
	broken := newGrownDir("some text", 9)
	broken.Dir = nodes.List(nodes.Entry{Name: "sub", Dir: nodes.List(
		nodes.Entry{Name: "log", Grows: true, File: nodes.Failing(errors.New("not now"))},
	)})
	live.set(nodes.Entry{Name: "r", Dir: broken})
	if got := followed(t, k, log.NodeId); got != "some" {
		t.Errorf("%q", got)
	}
	live.set(nodes.Entry{Name: "r", Dir: newGrownDir("some text", 9)})
	if got := followed(t, k, log.NodeId); got != "some text" {
		t.Errorf("%q", got)
	}
}
