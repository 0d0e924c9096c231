package hcrp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/klauspost/compress/zstd"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/internal/testing/parquettest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

var testTime = time.Date(2026, 8, 9, 18, 26, 40, 0, time.UTC)

func testCache(t testing.TB, disk cache.Store) *cache.Cache {
	c := cache.New(64<<20, disk)
	t.Cleanup(c.Close)
	return c
}

// readerOf returns the Reader of a recording that is one file.
func readerOf(ctx context.Context, b []byte) (*Reader, error) {
	return Options{}.newReader(ctx, formats.Input{ReaderAt: formats.BytesReader(b), Size: int64(len(b))})
}

// openBytes opens a recording that is one file.
func openBytes(t testing.TB, b []byte, opt Options) (nodes.Dir, error) {
	return formatstest.Open(t.Context(), New(opt), formatstest.BytesInput("test.hcrp", b, testTime), testCache(t, nil))
}

// openFS opens a recording in segments.
func openFS(t testing.TB, fsys iofs.FS, opt Options) (nodes.Dir, error) {
	src := dirInput(fsys)
	return formatstest.Open(t.Context(), New(opt), src, testCache(t, nil))
}

// read returns the content of a file of a tree.
func read(t testing.TB, dir nodes.Dir, name string) ([]byte, error) {
	t.Helper()
	e, err := nodes.Lookup(t.Context(), dir, name)
	if err != nil {
		return nil, err
	}
	if e.File == nil {
		return nil, fmt.Errorf("%s is no file", name)
	}
	return nodes.ReadAll(t.Context(), e.File)
}

func mustRead(t testing.TB, dir nodes.Dir, name string) string {
	t.Helper()
	b, err := read(t, dir, name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return string(b)
}

// names returns what a directory of a tree lists.
func names(t testing.TB, dir nodes.Dir, name string) (list []string) {
	t.Helper()
	e, err := nodes.Lookup(t.Context(), dir, name)
	if err != nil {
		t.Fatal(err)
	}
	n, err := e.Dir.Len(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		e, err := e.Dir.At(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e.Name)
	}
	return list
}

func TestGolden(t *testing.T) {
	nodestest.Golden(t, "../../testdata/hcrp/tiny.txtar", func(b []byte) (nodes.Dir, error) {
		return openBytes(t, b, Options{})
	}, parquettest.Show)
	nodestest.Golden(t, "../../testdata/hcrp/design.txtar", func(b []byte) (nodes.Dir, error) {
		return openBytes(t, b, Options{Schemas: []*Schema{testSchema(t, designSchema)}})
	}, parquettest.Show)
	nodestest.Golden(t, "../../testdata/hcrp/design-without-schema.txtar", func(b []byte) (nodes.Dir, error) {
		return openBytes(t, b, Options{})
	}, parquettest.Show)
}

// TestSegmentsAndFileAgree shows one recording in both forms.
func TestSegmentsAndFileAgree(t *testing.T) {
	for _, h := range hosts(t) {
		for seed := range uint64(nodestest.Times(8, 2)) {
			g := &generator{rand.New(rand.NewPCG(seed, 2)), h.schema}
			rec := g.recording(h.layout, h.version, 1+g.IntN(5), 20)
			opt := Options{Schemas: []*Schema{h.schema}}
			file, err := openBytes(t, rec.file(t), opt)
			if err != nil {
				t.Fatal(err)
			}
			fsys := rec.segments(t, 2)
			dir, err := openFS(t, fsys, opt)
			if err != nil {
				t.Fatal(err)
			}
			for _, tree := range []nodes.Dir{file, dir} {
				if bad := nodestest.Check(t, tree); len(bad) > 0 {
					t.Fatalf("%s, seed %d: %v", h.name, seed, bad)
				}
			}
			want, got := contents(t, file), contents(t, dir)
			for name := range want {
				if !bytes.Equal(want[name], got[name]) {
					t.Errorf("%s, seed %d: %s differs:\n%s\n%s", h.name, seed, name, want[name], got[name])
				}
			}
			if len(want) != len(got) {
				t.Errorf("%s, seed %d: %d files against %d", h.name, seed, len(want), len(got))
			}
			if copied := mustRead(t, dir, "export/compacted.hcrp"); copied != string(rec.file(t)) {
				t.Errorf("%s, seed %d: export/compacted.hcrp is not the compacted file", h.name, seed)
			}
			compactAgain(t, fsys, opt, want)
		}
	}
}

// contents returns the files of a tree that both forms of a recording share.
func contents(t *testing.T, dir nodes.Dir) map[string][]byte {
	files := map[string][]byte{}
	for _, top := range []string{"chunks", "lines", "ticks", "states", "snapshots", "tracks", "markers.json", "metadata", "metadata.json", "export/ghost.csv"} {
		e, err := nodes.Lookup(t.Context(), dir, top)
		if errors.Is(err, iofs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.File != nil {
			files[top] = []byte(mustRead(t, dir, top))
			continue
		}
		for _, name := range names(t, dir, top) {
			files[top+"/"+name] = []byte(mustRead(t, dir, path.Join(top, name)))
		}
	}
	return files
}

// compactAgain recompresses a recording and compares what it then shows.
func compactAgain(t *testing.T, fsys iofs.FS, opt Options, want map[string][]byte) {
	t.Helper()
	b, report := compacted(t, dirInput(fsys), opt)
	if len(report.Missing) > 0 {
		t.Fatal(report.Missing)
	}
	dir, err := openBytes(t, b, opt)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Problems []formats.Problem }
	if err := json.Unmarshal([]byte(mustRead(t, dir, "index.json")), &doc); err != nil || len(doc.Problems) > 0 {
		t.Fatal(err, doc.Problems)
	}
	got := contents(t, dir)
	for name := range want {
		if !bytes.Equal(want[name], got[name]) {
			t.Errorf("after compaction %s differs", name)
		}
	}
}

func compacted(t *testing.T, in formats.Input, opt Options) ([]byte, *formats.CompactReport) {
	t.Helper()
	h, err := New(opt).Open(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	scratch, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer scratch.Close()
	var out bytes.Buffer
	report, err := compact(t.Context(), formats.Recording{Input: in, Head: h}, &out, scratch, formats.CompactOptions{Level: 3})
	if err != nil {
		t.Fatal(err)
	}
	if int64(out.Len()) != report.Size {
		t.Errorf("%d bytes written, %d reported", out.Len(), report.Size)
	}
	return out.Bytes(), report
}

// TestCompactionKeepsWhatIsWhole compacts a recording with a cut segment.
func TestCompactionKeepsWhatIsWhole(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 3)), hosts(t)[0].schema}
	rec := g.recording(Published, 4, 5, 10)
	fsys := rec.segments(t, 2)
	cut := fsys[segmentName(1)]
	cut.Data = cut.Data[:len(cut.Data)-1]
	b, report := compacted(t, dirInput(fsys), Options{})
	if report.Chunks != 4 || report.Lost != 2 || report.Ticks != 24 || len(report.Missing) != 1 || report.Missing[0].Code != codeSegmentTruncated || *report.Missing[0].Chunk != 3 {
		t.Errorf("%+v", report)
	}
	dir, err := openBytes(t, b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range []int{0, 1, 2, 4} {
		if got := mustRead(t, dir, fmt.Sprintf("chunks/%06d", i)); got != string(rec.chunks[k].body) {
			t.Errorf("chunk %d is not chunk %d of the segments", i, k)
		}
	}
}

// TestFilesAreRescued compacts a file with a damaged chunk, and one whose index names too few.
func TestFilesAreRescued(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 3)), hosts(t)[0].schema}
	rec := g.recording(Published, 4, 5, 10)
	whole := rec.file(t)
	r, err := parseHeader(whole)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(whole)
	damaged[r.IndexEnd()]++ // the first byte of a frame
	first := bytes.Clone(whole)
	clear(first[r.IndexOffset()+3:][:8]) // the offset of the first chunk
	length := bytes.Clone(whole)
	length[r.IndexEnd()-1]++ // of the last body
	start := bytes.Clone(whole)
	start[r.IndexOffset()] |= 0x80 // the fields behind it shift
	few := bytes.Clone(whole)
	few[r.indexLengthOffset()+11]-- // the last byte of the chunk count
	for name, test := range map[string]struct {
		b                     []byte
		chunks, found, missed int
		lost                  int64
	}{
		"whole": {whole, 5, 0, 0, 0}, "damaged": {damaged, 4, 0, 1, 6}, "first": {first, 5, 1, 1, 0}, "length": {length, 5, 1, 1, 0}, "start": {start, 5, 1, 1, 0}, "unnamed": {few, 5, 1, 1, 0},
	} {
		b, report := compacted(t, formatstest.BytesInput("a.hcrp", test.b, time.Unix(1e9, 0)), Options{})
		if report.Chunks != test.chunks || report.Lost != test.lost || report.Found != test.found || report.Unnamed > 0 || len(report.Missing) != test.missed {
			t.Errorf("%s: %+v", name, report)
		}
		if _, err := openBytes(t, b, Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// store is a cache.Store in memory.
type store map[string][]byte

func (s store) Load(_ context.Context, name string) ([]byte, bool) { b, ok := s[name]; return b, ok }
func (s store) Save(name string, b []byte)                         { s[name] = bytes.Clone(b) }
func (s store) Forget(name string)                                 { delete(s, name) }

// TestReadsTouchOnlyWhatTheyNeed counts the bytes that opening, one tick and one state read of a
// recording that is larger than the first read.
func TestReadsTouchOnlyWhatTheyNeed(t *testing.T) {
	nodestest.Long(t)
	g := &generator{rand.New(rand.NewPCG(1, 4)), hosts(t)[0].schema}
	rec := g.recording(Published, 4, 700, 100)
	file := rec.file(t)
	if len(file) < 2*firstRead {
		t.Fatalf("the file has only %d bytes", len(file))
	}
	disk := store{}
	open := func() (nodes.Dir, *nodestest.Counted) {
		r := &nodestest.Counted{ReaderAt: formats.BytesReader(file)}
		src := formats.Input{ReaderAt: r, Name: "a.hcrp", Size: int64(len(file)), Stored: int64(len(file)), ModTime: testTime}
		src.Stamp = formats.Stamp{Size: src.Size, Changed: 1}
		formatstest.Keep(&src, disk)
		dir, err := formatstest.Open(t.Context(), New(Options{}), src, testCache(t, disk))
		if err != nil {
			t.Fatal(err)
		}
		return dir, r
	}
	dir, r := open()
	if n := r.Bytes.Load(); n > firstRead {
		t.Errorf("opening read %d bytes", n)
	}
	mustRead(t, dir, "header.json")
	if n := r.Bytes.Swap(0); n > firstRead {
		t.Errorf("header.json read %d bytes", n)
	}
	ticks := strings.SplitAfter(rec.chunks[200].lines, "\n")
	var tick struct{ Tick int64 }
	if err := json.Unmarshal([]byte(ticks[0]), &tick); err != nil {
		t.Fatal(err)
	}
	rd, err := readerOf(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	stored := rd.Entry(200).Stored
	mustRead(t, dir, fmt.Sprintf("ticks/%d.json", tick.Tick))
	if n := r.Bytes.Swap(0); n != stored {
		t.Errorf("a tick read %d bytes, its chunk has %d", n, stored)
	}
	mustRead(t, dir, "lines/201.jsonl")
	if n := r.Bytes.Swap(0); n != rd.Entry(201).Stored {
		t.Errorf("lines read %d bytes, the chunk has %d", n, rd.Entry(201).Stored)
	}
	state := fmt.Sprintf("states/%d.json", tick.Tick)
	want := mustRead(t, dir, state) // the index comes with it
	dir, r = open()
	r.Bytes.Store(0)
	if got := mustRead(t, dir, state); got != want {
		t.Errorf("the remembered index gives another state:\n%s\n%s", got, want)
	}
	if n := r.Bytes.Load(); n == 0 || n > 5*stored {
		t.Errorf("a state read %d bytes, its chunk has %d", n, stored)
	}
	if len(disk) != 2 { // and the note of it
		t.Errorf("%d things on disk", len(disk))
	}
}

// TestLive commits segments to a recording that is looked at all the time.
func TestLive(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 5)), hosts(t)[0].schema}
	rec := g.recording(Published, 4, 6, 20)
	whole := rec.segments(t, 2)
	root := t.TempDir()
	write := func(name string, b []byte) {
		if err := os.WriteFile(path.Join(root, "live", name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(path.Join(root, "live"), 0o777); err != nil {
		t.Fatal(err)
	}
	archive := archive.New(formatstest.FromFS(os.DirFS(root)), []formats.Format{New(Options{})}, testCache(t, nil), archive.Options{})
	chunks := func() int { return len(names(t, archive, "live/chunks")) }
	frames := rec.frames(t)
	for n := 2; n <= 6; n += 2 {
		name := segmentName(int64(n/2 - 1))
		before := n - 2
		if before > 0 { // a commit begins: half a segment, then the new preamble under its own name
			write(name, whole[name].Data[:len(whole[name].Data)/2])
			if got := chunks(); got != before {
				t.Errorf("%d chunks while a segment is being written, want %d", got, before)
			}
		}
		write(name, whole[name].Data)
		part := *rec
		part.chunks = rec.chunks[:n]
		offsets := make([]int64, n)
		for i := range offsets {
			offsets[i] = int64(i/2) << 32
			if i%2 == 1 {
				offsets[i] += int64(len(frames[i-1]))
			}
		}
		write(".preamble-1.tmp", part.preamble(frames[:n], func(i int) int64 { return offsets[i] }))
		if before > 0 {
			if got := chunks(); got != before {
				t.Errorf("%d chunks before the preamble is renamed, want %d", got, before)
			}
		}
		if err := os.Rename(path.Join(root, "live/.preamble-1.tmp"), path.Join(root, "live", preambleName)); err != nil {
			t.Fatal(err)
		}
		if got := chunks(); got != n {
			t.Errorf("%d chunks after a commit of %d", got, n)
		}
		if got := mustRead(t, archive, fmt.Sprintf("live/lines/%06d.jsonl", n-1)); got != rec.chunks[n-1].lines {
			t.Errorf("the lines of chunk %d:\n%s", n-1, got)
		}
	}
	write(finishedName, nil)
	if !strings.Contains(mustRead(t, archive, "live/header.json"), `"finished": true`) {
		t.Error("the marker is not seen")
	}
}

// TestSalvage takes preamble and index away.
func TestSalvage(t *testing.T) {
	for _, h := range hosts(t)[:2] {
		g := &generator{rand.New(rand.NewPCG(1, 6)), h.schema}
		rec := g.recording(Published, h.version, 5, 20)
		whole := rec.segments(t, 2)[preambleName].Data
		other, negative := bytes.Clone(whole), bytes.Clone(whole)
		other[0]++
		h, err := parseHeader(whole)
		if err != nil {
			t.Fatal(err)
		}
		negative[h.indexLengthOffset()] = 0x80
		for _, test := range []struct {
			preamble []byte
			code     string
		}{
			{nil, codeHeaderTruncated},
			{[]byte("HCRP"), codeHeaderTruncated},
			{make([]byte, 300), codeHeaderTruncated},
			{whole[:255], codeHeaderTruncated},
			{other, codeHeaderMagic},
			{append(make([]byte, 300), 1), codeHeaderMagic},
			{negative, codeHeaderField},
		} {
			fsys := rec.segments(t, 2)
			fsys[preambleName].Data = test.preamble
			dir, err := openFS(t, fsys, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := mustRead(t, dir, "error.txt"); !strings.HasSuffix(got, "code: "+test.code+"\n") {
				t.Errorf("error.txt: %s", got)
			}
			if bad := nodestest.Check(t, dir); len(bad) > 0 {
				t.Error(bad)
			}
			for i, c := range rec.chunks {
				if got := mustRead(t, dir, fmt.Sprintf("salvage/chunks/%06d", i)); got != string(c.body) {
					t.Errorf("chunk %d: another body", i)
				}
				if got := mustRead(t, dir, fmt.Sprintf("salvage/lines/%06d.jsonl", i)); got != c.lines {
					t.Errorf("chunk %d:\n%s\nwant:\n%s", i, got, c.lines)
				}
			}
		}
		fsys := rec.segments(t, 2)
		fsys["segment-007.dat"] = &fstest.MapFile{Data: append(slices.Clone(fsys["segment-000.dat"].Data), "rest"...)}
		fsys["segment-002.dat"].Data = append(fsys["segment-002.dat"].Data, fsys["segment-001.dat"].Data...)
		dir, err := openFS(t, fsys, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := names(t, dir, "salvage/lines"); len(got) != 4 {
			t.Errorf("salvage/lines: %v", got)
		}
		index := mustRead(t, dir, "index.json")
		for _, code := range []string{codeUnreferenced, codeTrailing} {
			if !strings.Contains(index, `"`+code+`"`) {
				t.Errorf("index.json does not tell of %s", code)
			}
		}
		file := rec.file(t)
		r, err := readerOf(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		file[r.Entry(4).rawAt]++ // far behind the file
		if dir, err = openBytes(t, file, Options{}); err != nil {
			t.Fatal(err)
		}
		if got := mustRead(t, dir, "salvage/chunks/000000"); got != string(rec.chunks[4].body) {
			t.Error("the chunk that no entry finds is not there")
		}
	}
}

// TestSalvagedVersion compacts recordings of version 3 without a preamble. The first chunk decodes
// as version 4, too, or as none.
func TestSalvagedVersion(t *testing.T) {
	host := hosts(t)[1]
	g := &generator{rand.New(rand.NewPCG(1, 6)), host.schema}
	silent := testChunk{ticks: 2, body: []byte{0, 0, 0, 1, 0, 0}}
	damaged := testChunk{ticks: 2, body: []byte{0, 0, 1, 99}}
	for _, first := range []testChunk{silent, damaged} {
		for _, header := range []int{0, 6} {
			rec := g.recording(Published, host.version, 5, 20)
			rec.chunks = []testChunk{first}
			want := []string{}
			for start := 2; len(rec.chunks) < 6; {
				c := g.chunk(Published, start, 20)
				rec.chunks, start, want = append(rec.chunks, c), start+c.ticks, append(want, c.lines)
			}
			fsys := rec.segments(t, 2)
			fsys[preambleName].Data = fsys[preambleName].Data[:header]
			b, _ := compacted(t, dirInput(fsys), Options{})
			dir, err := openBytes(t, b, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i, lines := range want {
				if len(first.body) > len(damaged.body) {
					i++ // the first chunk is there
				}
				if got := mustRead(t, dir, fmt.Sprintf("lines/%06d.jsonl", i)); got != lines {
					t.Errorf("chunk %d, with %d bytes of a header:\n%s\nwant:\n%s", i, header, got, lines)
				}
			}
		}
	}
}

// TestSalvageDesign loses the preamble of a recording whose ticks are relative: no tick is shown.
func TestSalvageDesign(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 9)), hosts(t)[2].schema}
	rec := g.recording(Design, 1, 3, 20)
	fsys := rec.segments(t, 2)
	fsys[preambleName].Data = fsys[preambleName].Data[:200]
	dir, err := openFS(t, fsys, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir, "salvage"); !slices.Equal(got, []string{"chunks", "index.json"}) {
		t.Errorf("salvage: %v", got)
	}
	if got := mustRead(t, dir, "salvage/chunks/000002"); got != string(rec.chunks[2].body) {
		t.Error("another body")
	}
	if h, err := New(Options{}).Open(t.Context(), dirInput(fsys)); err != nil {
		t.Error(err)
	} else if _, err := compact(t.Context(), formats.Recording{Input: dirInput(fsys), Head: h}, io.Discard, nil, formats.CompactOptions{}); err == nil {
		t.Error("chunks without ticks were compacted")
	}
}

// TestDictionaries opens a recording whose chunks need a raw dictionary.
func TestDictionaries(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 7)), hosts(t)[2].schema}
	rec := g.recording(Design, 1, 3, 60)
	dict := bytes.Repeat(rec.chunks[1].body, 3)
	rec.dict = 77
	rec.options = []zstd.EOption{zstd.WithEncoderDictRaw(0, dict)}
	file := rec.file(t)
	opt := Options{Schemas: []*Schema{g.schema}}
	open := func(beside iofs.FS, opt Options) nodes.Dir {
		src := formatstest.BytesInput("d.hcrp", file, testTime)
		if beside != nil {
			src.Beside = formatstest.Folder{FS: beside}
		}
		dir, err := formatstest.Open(t.Context(), New(opt), src, testCache(t, nil))
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	withDict := fstest.MapFS{"77.dict": {Data: dict}}
	for _, dir := range []nodes.Dir{
		open(withDict, opt),
		open(fstest.MapFS{"dictionaries/77.dict": {Data: dict}}, opt),
		open(nil, Options{Schemas: opt.Schemas, DictDirs: []formats.Folder{formatstest.Folder{FS: fstest.MapFS{}}, formatstest.Folder{FS: withDict}}}),
	} {
		if bad := nodestest.Check(t, dir); len(bad) > 0 {
			t.Error(bad)
		}
		if got := mustRead(t, dir, "lines/000001.jsonl"); got != rec.chunks[1].lines {
			t.Errorf("other lines:\n%s", got)
		}
	}
	dir := open(nil, opt)
	if !strings.Contains(mustRead(t, dir, "header.json"), codeDictionary) {
		t.Error("the missing dictionary is not told")
	}
	if _, err := read(t, dir, "chunks/000001"); !errors.Is(err, formats.ErrCorrupt) {
		t.Errorf("a chunk without its dictionary: %v", err)
	}
	if len(mustRead(t, dir, "stored/000001.zst")) == 0 {
		t.Error("no stored bytes")
	}
}

// TestDamage walks recordings that were cut and changed everywhere.
func TestDamage(t *testing.T) {
	for _, h := range hosts(t) {
		g := &generator{rand.New(rand.NewPCG(1, 8)), h.schema}
		rec := g.recording(h.layout, h.version, 3, 8)
		whole := rec.file(t)
		format, c := New(Options{Schemas: []*Schema{h.schema}}), testCache(t, nil)
		walk := func(what string, b []byte) {
			dir, err := formatstest.Open(t.Context(), format, formatstest.BytesInput("test.hcrp", b, testTime), c)
			if err != nil {
				if _, ok := formats.Coded(err); !ok {
					t.Errorf("%s, %s: %v", h.name, what, err)
				}
				return
			}
			for name, err := range nodestest.Check(t, dir) {
				if !errors.Is(err, formats.ErrCorrupt) && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("%s, %s: %s: %v", h.name, what, name, err)
				}
			}
			for _, name := range []string{"header.json", "index.json", "raw"} {
				mustRead(t, dir, name)
			}
		}
		step := 1 + len(whole)/nodestest.Times(120, 30)
		for n := 0; n < len(whole); n += step {
			walk(fmt.Sprintf("cut at %d", n), whole[:n])
		}
		for n := 0; n < len(whole); n += step {
			b := slices.Clone(whole)
			b[n] ^= 1 << g.IntN(8)
			walk(fmt.Sprintf("changed at %d", n), b)
		}
	}
}

// TestIndexBeyondTheLimit opens a recording whose index is longer than is read.
func TestIndexBeyondTheLimit(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 10)), hosts(t)[0].schema}
	file := g.recording(Published, 4, 5, 8).file(t)
	dir, err := openBytes(t, file, Options{Limits: Limits{Index: 40}})
	if err != nil {
		t.Fatal(err)
	}
	if bad := nodestest.Check(t, dir); len(bad) > 0 {
		t.Error(bad)
	}
	shown := len(names(t, dir, "chunks"))
	if shown != 2 && shown != 3 {
		t.Errorf("%d chunks of 40 bytes of index", shown)
	}
	index := mustRead(t, dir, "index.json")
	for _, want := range []string{
		`"complete": false`, `"end": "compacted"`,
		fmt.Sprintf(`{"code":"index.count","offset":298,"message":"71 bytes of index, 40 are the limit: only the first %d of 5 chunks are shown"}`, shown),
	} {
		if !strings.Contains(index, want) {
			t.Errorf("index.json has no %s:\n%s", want, index)
		}
	}
	if strings.Contains(index, codeIndexTruncated) {
		t.Errorf("the index is not cut:\n%s", index)
	}
}

// TestIndexInPieces reads a table of chunks that is made in pieces.
func TestIndexInPieces(t *testing.T) {
	rec := &testRecording{layout: Published, version: 4, metadata: []byte{10, 0}}
	for i := range 2*rowsPerPart + 3 {
		rec.chunks = append(rec.chunks, testChunk{start: i, ticks: 1, body: append(appendVarint(nil, int64(i)), 0, 0)})
	}
	dir, err := openBytes(t, rec.file(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := mustRead(t, dir, "index.json")
	var index struct {
		Complete bool
		Totals   struct{ Chunks, Ticks, Size, Events int }
		Chunks   []struct{ Chunk, Records int }
		Problems []any
	}
	if err := json.Unmarshal([]byte(text), &index); err != nil {
		t.Fatal(err)
	}
	if !index.Complete || index.Totals.Ticks != len(rec.chunks) || len(index.Chunks) != len(rec.chunks) || len(index.Problems) > 0 {
		t.Errorf("totals %+v, %d chunks, problems %v", index.Totals, len(index.Chunks), index.Problems)
	}
	for i, c := range index.Chunks {
		if c.Chunk != i || c.Records != 1 {
			t.Fatalf("row %d: %+v", i, c)
		}
	}
	if again := string(jsonenc.AppendIndented(nil, []byte(text))) + "\n"; again != text {
		t.Error("index.json is laid out otherwise than documents are")
	}
}

// TestStatesAroundDamage looks at holes and at a chunk that is not readable, also once it is
// compacted.
func TestStatesAroundDamage(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 9)), hosts(t)[2].schema}
	rec := &testRecording{layout: Design, version: 1, metadata: []byte{10, 0}}
	for i := range 4 {
		c := g.chunk(Design, 20*i, 10)
		for c.flags != 0 && i < 3 || c.flags == 0 && i == 3 { // only the last has a snapshot
			c = g.chunk(Design, 20*i, 10)
		}
		rec.chunks = append(rec.chunks, c)
	}
	file := rec.file(t)
	r, err := readerOf(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	file[r.Entry(1).Raw] ^= 1
	opt := Options{Schemas: []*Schema{g.schema}}
	rescued, report := compacted(t, formatstest.BytesInput("a.hcrp", file, testTime), opt)
	if report.Chunks != 3 || report.Lost != 10 {
		t.Errorf("%+v", report)
	}
	dir, err := openBytes(t, file, opt)
	if err != nil {
		t.Fatal(err)
	}
	again, err := openBytes(t, rescued, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		tick int
		want error
	}{
		{0, nil},
		{9, nil},
		{10, nil}, // nothing happens in the hole
		{19, nil},
		{20, formats.ErrCorrupt}, // the damaged chunk
		{29, formats.ErrCorrupt},
		{30, formats.ErrCorrupt}, // a hole behind it
		{40, formats.ErrCorrupt}, // no snapshot
		{60, nil},                // one
		{69, nil},
		{70, iofs.ErrNotExist},
	} {
		for _, dir := range []nodes.Dir{dir, again} {
			if _, err := read(t, dir, fmt.Sprintf("states/%d.json", x.tick)); !errors.Is(err, x.want) {
				t.Errorf("state %d: %v, want %v", x.tick, err, x.want)
			}
		}
	}
}

// TestSharedRecordings walks recordings of the wild, if they are there.
func TestSharedRecordings(t *testing.T) {
	if _, err := os.Stat(shared); err != nil {
		t.Skip("there is no folder of shared recordings")
	}
	opt := Options{Schemas: []*Schema{testSchema(t, shared+"schemas/kart-host.json"), testSchema(t, shared+"schemas/design-demo.json")}}
	list, err := os.ReadDir(shared)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Name() == "run-long.hcrp" && testing.Short() {
			continue
		}
		var dir nodes.Dir
		var err error
		switch {
		case strings.HasSuffix(e.Name(), ".hcrp"):
			b, rerr := os.ReadFile(shared + e.Name())
			if rerr != nil {
				t.Fatal(rerr)
			}
			src := formatstest.BytesInput(e.Name(), b, testTime)
			src.Beside = formatstest.Folder{FS: os.DirFS(shared)}
			dir, err = formatstest.Open(t.Context(), New(opt), src, testCache(t, nil))
		case strings.HasPrefix(e.Name(), "run-") || strings.HasPrefix(e.Name(), "design-"):
			dir, err = openFS(t, os.DirFS(shared+e.Name()), opt)
		default:
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", e.Name(), err)
			continue
		}
		if e.Name() == "run-long.hcrp" {
			mustRead(t, dir, "index.json")
			continue
		}
		if bad := nodestest.Check(t, dir); len(bad) > 0 {
			t.Errorf("%s: %v", e.Name(), bad)
		}
	}
}

func TestGrowing(t *testing.T) {
	b, err := os.ReadFile("../../testdata/archive/hcrp/run-short.hcrp")
	if err != nil {
		t.Fatal(err)
	}
	formatstest.Growing(t, New(Options{}), b, 400, 211, "export/ghost.csv", "tracks/entity-0.csv",
		"tracks/entity-1.csv", "tracks/entity-2.csv", "tracks/entity-3.csv", "tracks/entity-4.csv", "tracks/entity-5.csv")
}
