package hcrp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// openKept opens a recording whose bytes did not change since it was opened with the same disk.
func openKept(t testing.TB, format formats.Format, in formats.Input, disk cache.Store) nodes.Dir {
	t.Helper()
	in.Stamp = formats.Stamp{Size: in.Size, Changed: 1}
	formatstest.Keep(&in, disk)
	dir, err := formatstest.Open(t.Context(), format, in, testCache(t, disk))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// outline reads what takes the index and no chunk: documents, names and sizes.
func outline(t *testing.T, dir nodes.Dir) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range []string{"header.json", "index.json", "metadata", "metadata.json", "markers.json"} {
		if b, err := read(t, dir, name); err == nil {
			all[name] = string(b)
		} else if !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	all["."] = strings.Join(names(t, dir, "."), " ")
	for _, name := range []string{"chunks", "stored", "ticks", "ticks.hex", "states", "tracks", "tables", "export", "snapshots", "raw"} {
		e, err := nodes.Lookup(t.Context(), dir, name)
		if err != nil || e.Dir == nil {
			continue
		}
		list := names(t, dir, name)
		all[name] = strings.Join(list, " ")
		if name == "tracks" || name == "tables" || name == "export" {
			for _, n := range list {
				e, err := nodes.Lookup(t.Context(), dir, name+"/"+n)
				if err == nil {
					_, err = e.File.Size(t.Context())
				}
				if err != nil && !errors.Is(err, formats.ErrCorrupt) && !errors.Is(err, errTruncated) {
					t.Errorf("%s/%s: %v", name, n, err)
				}
			}
		}
	}
	return all
}

// TestKeptTree holds that the tree of a recording whose head and index are kept stands without a
// read of the recording, also of a damaged one.
func TestKeptTree(t *testing.T) {
	for _, h := range hosts(t) {
		g := &generator{rand.New(rand.NewPCG(4, 31)), h.schema}
		rec := g.recording(h.layout, h.version, 5, 20)
		file, segments := rec.file(t), rec.segments(t, 2)
		more := maps.Clone(segments)
		more["segment-009.dat"] = segments["segment-000.dat"]
		hurt := slices.Clone(file)
		hurt[len(hurt)-20] ^= 1
		for name, in := range map[string]formats.Input{
			"file": fileInput(file, len(file)), "cut": fileInput(file, len(file)-1), "cut in a chunk": fileInput(file, len(file)*3/4),
			"cut in the index": fileInput(file, headerSize+len(rec.metadata)+5), "changed": fileInput(hurt, len(hurt)),
			"with a rest": fileInput(append(slices.Clone(file), file[len(file)-10:]...), len(file)+10),
			"segments":    dirInput(segments), "more segments": dirInput(more),
		} {
			for _, schemas := range [][]*Schema{nil, {h.schema}} {
				format, disk := New(Options{Schemas: schemas}), store{}
				want := outline(t, openKept(t, format, in, disk))
				counter := &nodestest.Counted{ReaderAt: in.ReaderAt}
				counters := []*nodestest.Counted{counter}
				counted := in
				if in.ReaderAt != nil {
					counted.ReaderAt = counter
				}
				counted.Files = slices.Clone(in.Files)
				for i, f := range counted.Files {
					counters = append(counters, &nodestest.Counted{ReaderAt: f})
					counted.Files[i].ReaderAt = counters[i+1]
				}
				got := outline(t, openKept(t, format, counted, disk))
				for _, c := range counters {
					if n := c.Bytes.Load(); n > 0 {
						t.Errorf("%s, %s: %d bytes read", h.name, name, n)
					}
				}
				if !maps.Equal(got, want) {
					t.Errorf("%s, %s: %v\nnot\n%v", h.name, name, got, want)
				}
			}
		}
	}
}

// TestGrowingSegments looks at a recording in segments after each commit, with what the last look
// left on disk: it shows what a first look does, and makes no index anew.
func TestGrowingSegments(t *testing.T) {
	for _, h := range hosts(t) {
		g := &generator{rand.New(rand.NewPCG(2, 32)), h.schema}
		rec := g.recording(h.layout, h.version, 7, 20)
		disk := store{}
		for n := 1; n <= len(rec.chunks); n++ {
			part := *rec
			part.chunks = rec.chunks[:n]
			in := dirInput(part.segments(t, 2))
			format := New(Options{Schemas: []*Schema{h.schema}})
			want := nodestest.Files(t, openKept(t, format, in, nil))
			in.Stamp = formats.Stamp{Size: int64(n), Changed: int64(n)}
			formatstest.Keep(&in, disk)
			anew := false
			goOn := format.Scan
			format.Scan = func(ctx context.Context, in formats.Input, h formats.Head, earlier formats.Index) (formats.Index, error) {
				anew = anew || earlier == nil
				return goOn(ctx, in, h, earlier)
			}
			dir, err := formatstest.Open(t.Context(), format, in, testCache(t, disk))
			if err != nil {
				t.Fatal(err)
			}
			got := nodestest.Files(t, dir)
			if !maps.Equal(got, want) {
				t.Errorf("%s: the tree of %d chunks is another", h.name, n)
			}
			if anew != (n == 1) {
				t.Errorf("%s: %d chunks, indexed anew: %v", h.name, n, anew)
			}
		}
	}
}

// A schema that is put beside a recording, or taken away, counts although head and index are kept.
func TestSidecarComesAndGoes(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 33)), hosts(t)[0].schema}
	file := g.recording(Published, 4, 3, 20).file(t)
	disk, format := store{}, New(Options{})
	other := []byte(strings.Replace(string(parkourV4), `"name": "mapmaker-parkour"`, `"name": "of my own"`, 1))
	if _, err := ParseSchema(other); err != nil || string(other) == string(parkourV4) {
		t.Fatal("no other schema:", err)
	}
	for i, beside := range []fstest.MapFS{{}, {"test.schema.json": {Data: other}}, {"test.schema.json": {Data: other}}, {}} {
		in := fileInput(file, len(file))
		in.Beside = formatstest.Folder{FS: beside}
		want := `"schema": "mapmaker-parkour"`
		if len(beside) > 0 {
			want = `"schema": "of my own"`
		}
		if got := mustRead(t, openKept(t, format, in, disk), "index.json"); !strings.Contains(got, want) {
			t.Errorf("look %d: no %s in %s", i, want, got)
		}
	}
}

// What opening takes is counted where the preamble is large: metadata of empty compounds becomes
// text of 31 times as much.
func TestOpeningIsCharged(t *testing.T) {
	nodestest.Long(t)
	const n = 1 << 20
	metadata := append([]byte{tagCompound, tagList, 0, 1, 'x', tagCompound}, binary.BigEndian.AppendUint32(nil, n)...)
	metadata = append(metadata, make([]byte, n+1)...) // each the end of a compound, and that of the root
	rec := testRecording{layout: Published, version: 4, metadata: metadata, chunks: []testChunk{{ticks: 10, body: []byte{0, 0, 0}}}}
	file := rec.file(t)
	for name, in := range map[string]formats.Input{
		"file":     formatstest.BytesInput("x.hcrp", file, testTime),
		"segments": dirInput(rec.segments(t, 1)),
	} {
		c := testCache(t, nil)
		var h formats.Head
		err := c.Do(t.Context(), 1, func(ctx context.Context) (err error) {
			h, err = Options{}.open(ctx, in)
			return err
		})
		if err != nil || len(h.(*head).Problems) > 0 {
			t.Fatalf("%s: %v, problems %v", name, err, h)
		}
		text, _, err := typedMetadata(h.(*head).metadata, h.(*head).limits)
		if now, peak := c.Work(); err != nil || len(text) < 31*n || now != 0 || peak < int64(len(text)) {
			t.Errorf("%s: %d bytes counted, %d not given back, for %d of text, %v", name, peak, now, len(text), err)
		}
	}
}

// TestRepeatedNames holds compounds with few and many members, of whose names some come again, to
// the last member of each.
func TestRepeatedNames(t *testing.T) {
	for _, c := range []struct{ members, names int }{{1, 1}, {3, 2}, {16, 16}, {17, 17}, {17, 16}, {40, 3}, {60, 50}, {60, 17}} {
		b := []byte{tagCompound}
		want := []string{}
		for i := range c.members {
			name := fmt.Sprint(i % c.names)
			b = append(b, tagByte, 0, byte(len(name)))
			b = append(append(b, name...), byte(i))
			if i+c.names >= c.members {
				want = append(want, fmt.Sprintf(`%q:{"type":"byte","value":%d}`, name, i))
			}
		}
		got, _, err := typedMetadata(append(b, tagEnd), Limits{}.withDefaults())
		if err != nil || string(got) != `{"type":"compound","value":{`+strings.Join(want, ",")+"}}" {
			t.Errorf("%d members, %d names: %s, %v", c.members, c.names, got, err)
		}
	}
}
