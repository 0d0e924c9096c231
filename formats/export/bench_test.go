package export_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	iofs "io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mikelolasagasti/xz"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/columnar"
	"recfs/formats/datafile"
	"recfs/formats/echo"
	"recfs/formats/export"
	"recfs/formats/hcrp"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/nethack"
	"recfs/formats/teehistorian"
	"recfs/nodes"
)

// remembering returns a format whose tables have their rows in memory from the second time on that
// they are asked for.
func remembering(f formats.Format) formats.Format {
	type key struct {
		table string
		group int
	}
	var known sync.Map
	tree := f.Tree
	f.Tree = func(rec formats.Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
		dir, tables := tree(rec, c)
		makers := tables()
		for i := range makers {
			name, load := makers[i].Name, makers[i].Make
			makers[i].Make = func(ctx context.Context) (columnar.Table, error) {
				t, err := load(ctx)
				fill := t.Fill
				t.Fill = func(ctx context.Context, b *columnar.Batch, group int) error {
					if made, ok := known.Load(key{name, group}); ok {
						*b = *made.(*columnar.Batch)
						return nil
					}
					err := fill(ctx, b, group)
					if err == nil {
						known.Store(key{name, group}, b)
					}
					return err
				}
				return t, err
			}
		}
		return dir, tables
	}
	return f
}

// library returns the processor time that parquet-go takes to write the rows of files from memory,
// under zstd too.
func library(b *testing.B, program string, files []string) time.Duration {
	b.Helper()
	out, err := exec.CommandContext(b.Context(), program, append([]string{"-write"}, files...)...).Output()
	if err != nil {
		b.Fatal(err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(n)
}

// sample returns a file, without compression.
func sample(b *testing.B, name string) string {
	b.Helper()
	f, err := os.Open(name)
	if errors.Is(err, iofs.ErrNotExist) {
		b.Skip(name, "is not there")
	}
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".xz") {
		if r, err = xz.NewReader(f, 0); err != nil {
			b.Fatal(err)
		}
	}
	text, err := io.ReadAll(r)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

// copies is how many recordings a run exports: making the directories and the compressor is not
// done for each.
const copies = 4

// A bench exports copies of one recording over and over. Their indexes are on disk.
type bench struct {
	*testing.B
	source string
	disk   *cache.Disk
	files  []string // of one of them, written last
}

// export exports the recordings with nothing of them in memory, and returns the processor time.
func (b *bench) export(f formats.Format) time.Duration {
	c := cache.New(256<<20, b.disk)
	defer c.Close()
	root := archive.New(formatstest.OpenLocal(b, b.source), []formats.Format{f}, c, archive.Options{Disk: b.disk, Sniff: true})
	x, err := export.New(b.TempDir(), c, 1)
	if err != nil {
		b.Fatal(err)
	}
	names, err := os.ReadDir(b.source)
	if err != nil {
		b.Fatal(err)
	}
	before := formatstest.CPU()
	for _, name := range names {
		b.exportOne(x, root, name.Name())
	}
	return formatstest.CPU() - before
}

func (b *bench) exportOne(x *export.Exporter, root nodes.Dir, at string) {
	e, err := nodes.Lookup(b.Context(), root, at)
	if err != nil {
		b.Fatal(err)
	}
	r, _ := archive.RecordingOf(e.Dir)
	files, err := x.Export(b.Context(), export.Recording{Recording: r, Path: at, Mode: 0o600}, everything)
	if err != nil {
		b.Fatal(err)
	}
	b.files = nil
	for _, f := range files {
		if f.Err != nil || f.Same {
			b.Fatal(f.Err, f.Same)
		}
		b.files = append(b.files, f.File)
	}
}

// repeated returns a butter recording that has its chunks but the last so many times
// (docs/formats/butter.md sections 3 and 4).
func repeated(b *testing.B, recording string, times int) string {
	b.Helper()
	const fixed, afterName, playerBytes, afterPlayers = 4, 16 + 4, 8 + 1 + 1, 3
	at := fixed + strings.IndexByte(recording[fixed:], 0) + 1 + afterName
	players := int(recording[at])
	at++
	for range players {
		at += strings.IndexByte(recording[at:], 0) + 1
	}
	at += players*playerBytes + afterPlayers
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32([]byte(recording[at:]))) }
	n := u32(at)
	sizes, last := at+4, at+4*n
	text, end := last+4, len(recording)-u32(last)
	if n < 2 || text > end {
		b.Fatalf("%d chunks from %d to %d", n, text, end)
	}
	return recording[:at] + string(binary.LittleEndian.AppendUint32(nil, uint32((n-1)*times+1))) +
		strings.Repeat(recording[sizes:last], times) + recording[last:text] + strings.Repeat(recording[text:end], times) + recording[end:]
}

// BenchmarkExport compares the processor time of exporting all tables of recordings, with their
// indexes on disk and nothing in memory, with that of writing the same rows from memory to files:
// by the same code, and by parquet-go if go has that. It reports what parts of an export these are.
//
// A .echoreplay recording is 15 KB of JSON a frame, for nine rows: to inflate it alone takes longer
// than to write them. The text of HCRP events is mostly numbers: to inflate and decode them and to
// write them in decimal takes as long as to write what comes of it.
func BenchmarkExport(b *testing.B) {
	program := filepath.Join(b.TempDir(), "reader")
	build := exec.CommandContext(b.Context(), "go", "build", "-C", "../internal/parquet/testdata/reader", "-o", program, ".")
	build.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off")
	if build.Run() != nil {
		program = ""
	}
	const bones = "butter/arena_private_bones_v3_zstd7.butter"
	for _, s := range []struct {
		name  string
		file  string
		times int // it is repeated
		of    formats.Format
	}{
		{"teehistorian", "teehistorian/busy-20.1.teehistorian.xz", 1, teehistorian.Format},
		{"butter", "butter/arena_v1_gzip.butter", 1, echo.NewButter(echo.Options{})},
		{"butter-bones", bones, 1, echo.NewButter(echo.Options{})},
		{"butter-long", bones, 20, echo.NewButter(echo.Options{})},
		{"echoreplay", "butter/first-24-frames.echoreplay", 1, echo.Replay},
		{"nethack", "nethack/beta1.nhgame", 1, nethack.Format},
		{"hcrp", "hcrp/run-short.hcrp", 1, hcrp.New(hcrp.Options{})},
		{"hcrp-long", "../../../shared/recordings/hcrp/run-long.hcrp", 1, hcrp.New(hcrp.Options{})},
		{"datafile", "datafile/maps/new.map", 1, datafile.New(datafile.Options{})},
	} {
		b.Run(s.name, func(b *testing.B) {
			recording := sample(b, "../../testdata/archive/"+s.file)
			if s.times > 1 {
				recording = repeated(b, recording, s.times)
			}
			measure(b, program, strings.TrimSuffix(filepath.Base(s.file), ".xz"), recording, s.of)
		})
	}
}

// measure is BenchmarkExport for one recording.
func measure(b *testing.B, program, name, recording string, format formats.Format) {
	x := &bench{B: b, source: b.TempDir(), disk: cache.NewDisk(b.TempDir(), 1<<30, slog.New(slog.DiscardHandler))}
	for i := range copies {
		put(b, filepath.Join(x.source, strconv.Itoa(i)+name), recording)
	}
	inMemory := remembering(format)
	x.export(inMemory)
	var all, writing, others time.Duration
	for b.Loop() {
		all += x.export(format)
		writing += x.export(inMemory)
		if program != "" {
			others += copies * library(b, program, x.files)
		}
	}
	b.ReportMetric(float64(writing)/float64(all), "writing/export")
	if program != "" {
		b.ReportMetric(float64(others)/float64(all), "parquet-go/export")
	}
}
