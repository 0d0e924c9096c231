//go:build linux

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	iofs "io/fs"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	loopback "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"recfs/formats/outfile"
	"recfs/nodes/nodestest"
)

// A failure is what happens at one of the calls by which a command writes.
type failure struct {
	name   string
	status fuse.Status    // of the call
	signal syscall.Signal // sent to the command before the call, if not 0
	on     bool           // for all later calls that need room, too
}

var failuresOfWrites = []failure{
	{name: "EIO", status: fuse.EIO},
	{name: "full disk", status: fuse.Status(syscall.ENOSPC), on: true},
	{name: "SIGINT", signal: syscall.SIGINT}, // at every second call SIGTERM, which is the same to a command
	{name: "SIGKILL", signal: syscall.SIGKILL},
}

// A failingDisk is a directory in which one call fails.
type failingDisk struct {
	fuse.RawFileSystem

	mu      sync.Mutex
	failure failure
	left    int // calls before the one that fails; -1: none does
	process *os.Process
	met     string // the call that failed
	calls   []call // since it was armed
}

// A call is one by which a command writes.
type call struct {
	name      string
	needsRoom bool
}

// arm makes the call after so many fail.
func (d *failingDisk) arm(calls int, f failure) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failure, d.left, d.met, d.calls, d.process = f, calls, "", nil, nil
}

// start starts a command, which a signal then is for.
func (d *failingDisk) start(cmd *exec.Cmd) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := cmd.Start()
	d.process = cmd.Process
	return err
}

// call returns the status with which a call fails.
func (d *failingDisk) call(name string, needsRoom bool) fuse.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, call{name, needsRoom})
	again := d.met != "" && d.failure.on && needsRoom
	if d.failure.on && !needsRoom || d.left < 0 && !again {
		return fuse.OK
	}
	if d.left--; d.left >= 0 {
		return fuse.OK
	}
	d.met = cmp.Or(d.met, name)
	if d.failure.signal != 0 {
		_ = d.process.Signal(d.failure.signal)
	}
	return d.failure.status
}

func (d *failingDisk) Create(cancel <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	if failed := d.call("create", true); failed != fuse.OK {
		return failed
	}
	return d.RawFileSystem.Create(cancel, in, name, out)
}

func (d *failingDisk) Mkdir(cancel <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	if failed := d.call("mkdir", true); failed != fuse.OK {
		return failed
	}
	return d.RawFileSystem.Mkdir(cancel, in, name, out)
}

func (d *failingDisk) Symlink(cancel <-chan struct{}, in *fuse.InHeader, to, name string, out *fuse.EntryOut) fuse.Status {
	if failed := d.call("symlink", true); failed != fuse.OK {
		return failed
	}
	return d.RawFileSystem.Symlink(cancel, in, to, name, out)
}

func (d *failingDisk) Link(cancel <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	if failed := d.call("link", true); failed != fuse.OK {
		return failed
	}
	return d.RawFileSystem.Link(cancel, in, name, out)
}

func (d *failingDisk) SetAttr(cancel <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	if failed := d.call("setattr", false); failed != fuse.OK {
		return failed
	}
	return d.RawFileSystem.SetAttr(cancel, in, out)
}

func (d *failingDisk) Fsync(cancel <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	if failed := d.call("fsync", true); failed != fuse.OK {
		return failed
	}
	return d.RawFileSystem.Fsync(cancel, in)
}

func (d *failingDisk) Flush(cancel <-chan struct{}, in *fuse.FlushIn) fuse.Status {
	if failed := d.call("flush", true); failed != fuse.OK {
		return failed
	}
	return d.RawFileSystem.Flush(cancel, in)
}

func (d *failingDisk) Rename(cancel <-chan struct{}, in *fuse.RenameIn, from, to string) fuse.Status {
	if failed := d.call("rename", false); failed != fuse.OK {
		return failed
	}
	return d.RawFileSystem.Rename(cancel, in, from, to)
}

func (d *failingDisk) Unlink(cancel <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	if failed := d.call("unlink", false); failed != fuse.OK {
		return failed
	}
	return d.RawFileSystem.Unlink(cancel, in, name)
}

func (d *failingDisk) Write(cancel <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	if failed := d.call("write", true); failed != fuse.OK {
		return 0, failed
	}
	return d.RawFileSystem.Write(cancel, in, data)
}

// Init keeps the server from the directory, which would have the kernel write to its files itself.
func (d *failingDisk) Init(*fuse.Server) {}

// Writev leaves all to Write.
func (d *failingDisk) Writev(<-chan struct{}, *fuse.WriteIn, [][]byte) (uint32, fuse.Status) {
	return 0, fuse.ENOSYS
}

// mountFailing shows a directory as a disk that fails.
func mountFailing(t *testing.T, dir string) (*failingDisk, string) {
	t.Helper()
	root, err := loopback.NewLoopbackRoot(dir)
	must(t, err)
	d := &failingDisk{RawFileSystem: loopback.NewNodeFS(root, &loopback.Options{}), left: -1}
	mnt := t.TempDir()
	server, err := fuse.NewServer(d, mnt, &fuse.MountOptions{DirectMount: true, EnableLocks: false})
	must(t, err)
	go server.Serve()
	must(t, server.WaitMount())
	t.Cleanup(func() { must(t, server.Unmount()) })
	return d, mnt
}

// A writer is a command that writes below a directory. Each word DIR in its arguments is that.
type writer struct {
	args []string
	old  []string // files that are there before
	one  bool     // it writes one file alone: if it fails, that is the old one
}

var writers = map[string]writer{
	"cp":              {args: []string{"cp", "ARCHIVE/nethack/small.nhgame/metadata", "DIR/file"}, old: []string{"file"}, one: true},
	"cp -a":           {args: []string{"cp", "-a", "ARCHIVE/butter/arena_v1_gzip.butter/header.json", "DIR/"}, old: []string{"header.json"}, one: true},
	"cp -r":           {args: []string{"cp", "-rp", "SOURCE", "DIR/copy"}, old: []string{"copy/a", "copy/sub/b"}},
	"demo":            {args: []string{"demo", "ARCHIVE/teehistorian/reload-20.1.teehistorian", "0", "100", "-o", "DIR/demo"}, old: []string{"demo"}, one: true},
	"diff":            {args: []string{"diff", "--png", "DIR/png", "ARCHIVE/datafile/maps/new.map", "ARCHIVE/datafile/maps/old.map"}, old: []string{"png"}, one: true},
	"compact":         {args: []string{"compact", "--level=1", "ARCHIVE/hcrp/run-live", "DIR/new.hcrp"}, one: true},
	"export":          {args: []string{"export", "--table=ticks", "tables", "ARCHIVE/nethack/small.nhgame", "DIR/lake"}},
	"export --merge":  {args: []string{"export", "--table=ticks", "--table=heroes", "--merge", "--by=month", "tables", "ARCHIVE/nethack/small.nhgame", "DIR/lake"}},
	"install-helpers": {args: []string{"install-helpers", "--dir", "DIR"}},
}

// TestWrites fails each command that writes at each of its calls in turn. All files then are the
// old ones or the new ones, none is left that is neither but what a killed process could not
// remove, and the next run removes that.
func TestWrites(t *testing.T) {
	nodestest.Long(t)
	if !canMount() {
		t.Skip("mounts a disk that fails")
	}
	archive, err := filepath.Abs("../../testdata/archive")
	must(t, err)
	source := t.TempDir()
	must(t, os.Mkdir(filepath.Join(source, "sub"), 0o777))
	for _, name := range []string{"a", "sub/b"} {
		must(t, os.WriteFile(filepath.Join(source, name), bytes.Repeat([]byte(name), 100_000), 0o666))
	}
	must(t, os.Symlink("a", filepath.Join(source, "link")))
	for name, w := range writers {
		t.Run(name, func(t *testing.T) {
			x := &writesTest{writer: w, T: t, dir: t.TempDir(), cache: t.TempDir(), began: time.Now(), seen: map[string]bool{}}
			x.disk, x.mnt = mountFailing(t, x.dir)
			for i, arg := range w.args {
				w.args[i] = strings.NewReplacer("ARCHIVE", archive, "SOURCE", source, "DIR", x.mnt).Replace(arg)
			}
			x.test()
		})
	}
}

// A writesTest tests a command.
type writesTest struct {
	*testing.T
	writer
	disk            *failingDisk
	dir, mnt, cache string
	before, after   map[string]string // what files have, by their paths
	calls           []call            // of a run without a failure
	began           time.Time
	seen            map[string]bool // what failures left, of which the next run was looked at
}

func (x *writesTest) test() {
	x.look()
	if maps.Equal(x.before, x.after) {
		x.Fatal("nothing was written")
	}
	if len(x.old) == 0 { // the files are known now
		for name, text := range x.after {
			part := strings.HasPrefix(filepath.Base(name), "part-") // what is none stays
			if text != "" && x.args[0] != "compact" && text[0] != '>' && !part {
				x.old = append(x.old, name)
			}
		}
		x.look()
	}
	for _, f := range failuresOfWrites {
		for calls := range x.places(f) {
			f := f
			if f.signal == syscall.SIGINT && calls%2 == 1 {
				f.name, f.signal = "SIGTERM", syscall.SIGTERM
			}
			x.reset()
			x.disk.arm(calls, f)
			failed := x.run(f.signal != 0)
			if x.disk.met == "" {
				if calls == 0 {
					x.Errorf("%s: there is no call that can fail", f.name)
				}
				break
			}
			x.check(f, calls, failed)
		}
	}
}

// places yields which calls are to fail, and with that behind the last one does not end by itself.
// Of writes that follow each other the first two and the last stand for all: those between find the
// same files.
func (x *writesTest) places(f failure) iter.Seq[int] {
	calls := x.calls
	if f.on {
		calls = slices.DeleteFunc(slices.Clone(calls), func(c call) bool { return !c.needsRoom })
	}
	isWrite := func(i int) bool { return i >= 0 && i < len(calls) && calls[i].name == "write" }
	return func(yield func(int) bool) {
		for i := 0; isWrite(i-2) && isWrite(i-1) && isWrite(i) && isWrite(i+1) || yield(i); i++ {
		}
	}
}

// look takes note of what files have before and after a run without a failure.
func (x *writesTest) look() {
	x.reset()
	x.before = x.files()
	x.run(false)
	x.after, x.calls = x.files(), x.disk.calls
}

// reset puts the old files into the directory, with other names that they have.
func (x *writesTest) reset() {
	x.disk.arm(-1, failure{})
	entries, err := os.ReadDir(x.dir)
	must(x.T, err)
	for _, e := range entries {
		must(x.T, os.RemoveAll(filepath.Join(x.dir, e.Name())))
	}
	for _, name := range x.old {
		name = filepath.Join(x.dir, name)
		must(x.T, os.MkdirAll(filepath.Dir(name), 0o777))
		must(x.T, os.WriteFile(name, []byte("-- recfs: old"), 0o666)) // as views.sql begins
		must(x.T, os.Link(name, name+".snapshot"))
	}
}

// run runs the command, in a process of its own if a signal is to reach it, and reports whether it
// failed.
func (x *writesTest) run(apart bool) bool {
	x.Helper()
	args := x.args
	if args[0] != "install-helpers" {
		args = slices.Insert(slices.Clone(args), 1, "--cache-dir="+x.cache)
	}
	var told bytes.Buffer
	var code int
	if apart {
		cmd := recfs(x.T, args...)
		cmd.Env = append(cmd.Env, "GOGC=400")
		cmd.Stderr = &told
		must(x.T, x.disk.start(cmd))
		_ = cmd.Wait()
		code = cmd.ProcessState.ExitCode()
	} else {
		code = run(&env{stdout: io.Discard, stderr: &told}, append([]string{"recfs"}, args...))
	}
	failed := code != exitOK && (args[0] != "diff" || code != exitFailed) // which is that there are differences
	if x.disk.met == "" && failed {
		x.Fatalf("%q: %d\n%s", args, code, &told)
	}
	if bytes.Contains(told.Bytes(), []byte("goroutine")) || bytes.Contains(told.Bytes(), []byte(".recfs-")) {
		x.Errorf("%q: %s", args, &told)
	}
	return failed
}

// files returns all files of the directory.
func (x *writesTest) files() map[string]string {
	x.Helper()
	files := map[string]string{}
	must(x.T, filepath.WalkDir(x.dir, func(name string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(x.dir, name)
		if err != nil {
			return err
		}
		if d.Type() == iofs.ModeSymlink {
			to, err := os.Readlink(name)
			files[rel] = "> " + to
			return err
		}
		b, err := os.ReadFile(name)
		files[rel] = string(b)
		return err
	}))
	return files
}

// state tells all of the directory that the next run may look at: names, modes, times that were set
// and what files have, but not the names of temporary files, which are drawn by chance.
func (x *writesTest) state() string {
	x.Helper()
	var all []string
	must(x.T, filepath.WalkDir(x.dir, func(name string, d iofs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var text []byte
		if d.Type().IsRegular() {
			text, err = os.ReadFile(name)
		}
		if outfile.IsTemporary(d.Name()) {
			name = filepath.Join(filepath.Dir(name), "temporary")
		}
		set := info.ModTime()
		if set.After(x.began) {
			set = x.began
		}
		all = append(all, fmt.Sprintf("%q %v %v %q", name, info.Mode(), set, text))
		return err
	}))
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// check looks at what a run left behind that met a failure.
func (x *writesTest) check(f failure, calls int, failed bool) {
	x.Helper()
	what := strings.Join([]string{f.name, "at", x.disk.met}, " ")
	got, left := x.files(), 0
	for name, text := range got {
		old, wasThere := x.before[name]
		switch {
		case outfile.IsTemporary(filepath.Base(name)):
			left++
		case text == x.after[name] && text != "" && !(failed && x.one && f.signal == 0 && !wasThere):
		case !wasThere || text != old:
			x.Errorf("%s, call %d: %s has %.40q", what, calls, name, text)
		}
	}
	for name := range x.before {
		if _, ok := got[name]; !ok {
			x.Errorf("%s, call %d: %s is gone", what, calls, name)
		}
	}
	if left > 0 && f.signal != syscall.SIGKILL && x.disk.met != "unlink" {
		x.Errorf("%s, call %d: %d temporary files are left", what, calls, left)
	}
	x.disk.arm(-1, failure{})
	state := x.state()
	if x.args[0] == "compact" && got["new.hcrp"] != "" || maps.Equal(got, x.before) || x.seen[state] {
		return // it replaces nothing, or would do what it did at first or after another failure
	}
	x.seen[state] = true
	x.run(false)
	if after := x.files(); !maps.Equal(after, x.after) {
		x.Errorf("%s, call %d: the next run leaves %q", what, calls, slices.Sorted(maps.Keys(after)))
	}
}
