//go:build linux && (amd64 || arm64 || riscv64)

package hcrp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/source"
	"recfs/fs"
	"recfs/nodes/nodestest"
)

// A mounted archive is looked at by other programs only: a process that reads its own mount may
// wait for itself.
type mounted struct {
	t           *testing.T
	source, dir string
}

func mountArchive(t *testing.T) *mounted {
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no FUSE here: %v", err)
	}
	f.Close()
	for _, name := range []string{"cat", "ls", "stat", "tail", "jq"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	m := &mounted{t, t.TempDir(), t.TempDir()}
	local, err := source.OpenLocal(m.source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	root := archive.New(local, []formats.Format{New(Options{})}, testCache(t, store{}), archive.Options{})
	server, err := fs.Mount(m.dir, root, fs.Options{})
	if err != nil {
		t.Skipf("cannot mount here: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Unmount(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func (m *mounted) write(name string, b []byte) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.source, name), b, 0o666); err != nil {
		m.t.Fatal(err)
	}
}

// command returns a program to run in the mount. It goes there itself: a fork that does holds up
// this process, which would have to answer it.
func (m *mounted) command(name string, args ...string) *exec.Cmd {
	return exec.Command("env", append([]string{"-C", m.dir, name}, args...)...)
}

// try runs a program in the mount.
func (m *mounted) try(name string, args ...string) (string, error) {
	cmd := m.command(name, args...)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %v: %w: %s", name, args, err, &problem)
	}
	return string(out), err
}

func (m *mounted) run(name string, args ...string) string {
	m.t.Helper()
	out, err := m.try(name, args...)
	if err != nil {
		m.t.Error(err)
	}
	return out
}

// commit renames a new preamble into place.
func (m *mounted) commit(dir string, preamble []byte) {
	m.t.Helper()
	m.write(dir+"/.preamble-1.tmp", preamble)
	if err := os.Rename(filepath.Join(m.source, dir, ".preamble-1.tmp"), filepath.Join(m.source, dir, preambleName)); err != nil {
		m.t.Fatal(err)
	}
}

// watch lets programs read a recording until ctx ends. What they see is whole and never less than
// before; a file that is replaced meanwhile may be stale.
func (m *mounted) watch(ctx context.Context, name, lines string) {
	last := 0
	for ctx.Err() == nil {
		out, err := m.try("jq", "-c", "[.totals.chunks, .totals.events, (.chunks | length), [.problems[].code]]", name+"/index.json")
		var see []json.RawMessage
		var chunks, rows int
		switch {
		case err != nil && strings.Contains(err.Error(), "Stale"):
			continue
		case err != nil:
			m.t.Error(err)
			continue
		}
		if err := errors.Join(json.Unmarshal([]byte(out), &see), json.Unmarshal(see[0], &chunks), json.Unmarshal(see[2], &rows)); err != nil {
			m.t.Errorf("%s: %v", out, err)
			return
		}
		if chunks < last || rows != chunks {
			m.t.Errorf("%s has %d chunks and %d rows after %d", name, chunks, rows, last)
		}
		last = chunks
		if out, err := m.try("cat", name+"/lines/000000.jsonl"); err == nil && out != lines {
			m.t.Errorf("%s: other lines:\n%s", name, out)
		}
		if _, err := m.try("ls", "-l", name+"/ticks"); err != nil && !strings.Contains(err.Error(), "Stale") {
			m.t.Error(err)
		}
	}
}

// follow starts tail -f and returns what it printed when it is stopped.
func (m *mounted) follow(name string) (stop func() string) {
	cmd := m.command("tail", "-c", "+1", "-f", name)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	return func() string {
		if err := cmd.Process.Kill(); err != nil {
			m.t.Error(err)
		}
		_ = cmd.Wait() // it was killed
		return out.String()
	}
}

// TestMountedSegments writes a recording in segments, crashes, goes on, finishes and compacts while
// programs read it through a mount.
func TestMountedSegments(t *testing.T) {
	nodestest.Long(t)
	m := mountArchive(t)
	g := &generator{rand.New(rand.NewPCG(1, 30)), hosts(t)[0].schema}
	rec := g.recording(Published, 4, 8, 60)
	for rec.chunks[0].lines == "" {
		rec = g.recording(Published, 4, 8, 60)
	}
	if err := os.Mkdir(filepath.Join(m.source, "live"), 0o777); err != nil {
		t.Fatal(err)
	}
	versions := func(n int) map[string][]byte {
		part := *rec
		part.chunks = rec.chunks[:n]
		files := map[string][]byte{}
		for name, f := range part.segments(t, 2) {
			files[name] = f.Data
		}
		return files
	}
	m.write("live/"+segmentName(0), versions(2)[segmentName(0)])
	m.commit("live", versions(2)[preambleName])

	var first struct{ Tick int64 }
	if err := json.Unmarshal([]byte(strings.SplitAfter(rec.chunks[0].lines, "\n")[0]), &first); err != nil {
		t.Fatal(err)
	}
	tick := fmt.Sprintf("live/ticks/%08d.json", first.Tick)
	inode := m.run("stat", "-c", "%i", tick) // nothing is indexed yet
	stop := m.follow("live/lines/000000.jsonl")
	grown := map[string]func() string{}
	for _, name := range []string{"export/ghost.csv", "tracks/entity-0.csv"} {
		if _, err := m.try("stat", "live/"+name); err == nil {
			grown[name] = m.follow("live/" + name)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	readers.Go(func() { m.watch(ctx, "live", rec.chunks[0].lines) })
	for n := 4; n <= len(rec.chunks); n += 2 {
		files := versions(n)
		name := segmentName(int64(n/2 - 1))
		m.write("live/"+name, files[name][:len(files[name])/2])
		if n == 6 { // a crash: the segment is cut and no preamble names it
			if got := m.run("jq", "-c", "[.problems[].code]", "live/index.json"); got != `["segment.unreferenced"]`+"\n" {
				t.Errorf("problems after a crash: %s", got)
			}
		}
		m.write("live/"+name, files[name])
		m.commit("live", files[preambleName])
		if got := m.run("cat", fmt.Sprintf("live/lines/%06d.jsonl", n-1)); got != rec.chunks[n-1].lines {
			t.Errorf("chunk %d right behind its commit:\n%s", n-1, got)
		}
		if got := m.run("ls", "live/chunks"); strings.Count(got, "\n") != n {
			t.Errorf("%d chunks were committed, ls shows %s", n, got)
		}
		if got := m.run("stat", "-c", "%i", tick); got != inode {
			t.Errorf("%s has inode %s, had %s", tick, got, inode)
		}
	}
	m.write("live/"+finishedName, nil)
	if got := m.run("jq", "-r", ".end", "live/index.json"); got != "finished\n" {
		t.Errorf("the end is %s", got)
	}
	cancel()
	readers.Wait()
	if got := stop(); got != rec.chunks[0].lines {
		t.Errorf("tail -f printed\n%s", got)
	}
	time.Sleep(2200 * time.Millisecond) // attributes hold for a second, and tail looks once in one
	if len(grown) == 0 {
		t.Error("no file that grows")
	}
	for name, stop := range grown {
		if got, want := stop(), m.run("cat", "live/"+name); got != want || strings.Count(got, "\n") < 2 {
			t.Errorf("tail -f of %s printed\n%s\nnot\n%s", name, got, want)
		}
	}

	m.write("live.hcrp", []byte(m.run("cat", "live/export/compacted.hcrp")))
	if err := os.RemoveAll(filepath.Join(m.source, "live")); err != nil {
		t.Fatal(err)
	}
	if _, err := m.try("ls", "live"); err == nil {
		t.Error("the folder of segments is still there")
	}
	for i, c := range rec.chunks {
		if got := m.run("cat", fmt.Sprintf("live.hcrp/lines/%06d.jsonl", i)); got != c.lines {
			t.Errorf("chunk %d after compaction:\n%s", i, got)
		}
	}
}

// TestMountedFile lets a recording in one file arrive piece by piece.
func TestMountedFile(t *testing.T) {
	m := mountArchive(t)
	g := &generator{rand.New(rand.NewPCG(1, 31)), hosts(t)[0].schema}
	rec := g.recording(Published, 4, 5, 60)
	whole := rec.file(t)
	r, err := readerOf(t.Context(), whole)
	if err != nil {
		t.Fatal(err)
	}
	start := int(r.Entry(1).Raw)
	m.write("a.hcrp", whole[:start])
	f, err := os.OpenFile(filepath.Join(m.source, "a.hcrp"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	readers.Go(func() { m.watch(ctx, "a.hcrp", rec.chunks[0].lines) })
	for rest := whole[start:]; len(rest) > 0; {
		n := min(len(rest), 1+g.IntN(len(whole)/6))
		if _, err := f.Write(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
		here := len(whole) - len(rest)
		for i, c := range rec.chunks {
			e := r.Entry(i)
			got, err := m.try("cat", fmt.Sprintf("a.hcrp/lines/%06d.jsonl", i))
			if there := e.Raw+e.Stored <= int64(here); there != (err == nil) || there && got != c.lines {
				t.Errorf("chunk %d of a file of %d bytes: %v\n%s", i, here, err, got)
			}
		}
	}
	cancel()
	readers.Wait()
	if got := m.run("jq", "-c", "[.complete, .end, .problems]", "a.hcrp/index.json"); got != `[true,"compacted",[]]`+"\n" {
		t.Errorf("the whole file: %s", got)
	}
}
