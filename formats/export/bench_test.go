package export_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mikelolasagasti/xz"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/butter"
	"recfs/formats/columnar"
	"recfs/formats/export"
	"recfs/formats/internal/formatstest"
	"recfs/formats/nethack"
	"recfs/formats/teehistorian"
	"recfs/nodes"
)

// remembering returns a format whose tables have their rows in memory from the second time on that they are asked for.
func remembering(f formats.Format) formats.Format {
	type key struct {
		table string
		group int
	}
	var known sync.Map
	tree := f.Tree
	f.Tree = func(rec formats.Recording, c *cache.Cache) (nodes.Dir, []columnar.Maker) {
		dir, makers := tree(rec, c)
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
		return dir, makers
	}
	return f
}

// processorTime returns how much of it this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// library returns the processor time that parquet-go takes to write the rows of files from memory, under zstd too.
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

// A bench exports one recording over and over. Its index is on disk.
type bench struct {
	*testing.B
	source, at string
	disk       *cache.Disk
	files      []string // written last
}

// export exports the recording with nothing of it in memory, and returns the processor time.
func (b *bench) export(f formats.Format) time.Duration {
	c := cache.New(64<<20, b.disk)
	defer c.Close()
	root := archive.New(formatstest.OpenLocal(b, b.source), []formats.Format{f}, c, archive.Options{Disk: b.disk})
	e, err := nodes.Lookup(b.Context(), root, b.at)
	if err != nil {
		b.Fatal(err)
	}
	r, _ := archive.RecordingOf(e.Dir)
	x, err := export.New(b.TempDir(), c, 1)
	if err != nil {
		b.Fatal(err)
	}
	before := processorTime(b.B)
	files, err := x.Export(b.Context(), export.Recording{Recording: r, Path: b.at, Name: "x", Mode: 0o600}, everything)
	took := processorTime(b.B) - before
	if err != nil {
		b.Fatal(err)
	}
	b.files = nil
	for _, f := range files {
		if f.Err != nil || f.Same {
			b.Fatal(f.Err, f.Same)
		}
		b.files = append(b.files, f.Path)
	}
	return took
}

// BenchmarkExport compares the processor time of exporting all tables of a recording, with its index on disk and nothing
// in memory, with that of writing the same rows from memory: by the same code, and by parquet-go if go has that. It
// reports what parts of an export these are.
func BenchmarkExport(b *testing.B) {
	program := filepath.Join(b.TempDir(), "reader")
	build := exec.CommandContext(b.Context(), "go", "build", "-C", "../internal/parquet/testdata/reader", "-o", program, ".")
	build.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off")
	missing := build.Run() != nil
	for name, format := range map[string]formats.Format{
		"teehistorian/busy-20.1.teehistorian.xz": teehistorian.Format, "butter/arena_private_bones_v3_zstd7.butter": butter.New(butter.Options{}),
		"nethack/beta1.nhgame": nethack.Format,
	} {
		b.Run(format.Name, func(b *testing.B) {
			x := &bench{B: b, source: b.TempDir(), disk: cache.NewDisk(b.TempDir(), 1<<30, slog.New(slog.DiscardHandler))}
			x.at = strings.TrimSuffix(filepath.Base(name), ".xz")
			put(b, filepath.Join(x.source, x.at), sample(b, "../../testdata/archive/"+name))
			inMemory := remembering(format)
			x.export(inMemory)
			var all, writing time.Duration
			for b.Loop() {
				all += x.export(format)
				writing += x.export(inMemory)
			}
			b.ReportMetric(float64(writing)/float64(all), "writing/export")
			if !missing {
				b.ReportMetric(float64(library(b, program, x.files))*float64(b.N)/float64(all), "parquet-go/export")
			}
		})
	}
}
