package echo

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"recfs/formats"
)

// processorTime returns how much of it do takes.
func processorTime(b *testing.B, do func() error) time.Duration {
	b.Helper()
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	start := used()
	if err := do(); err != nil {
		b.Fatal(err)
	}
	return used() - start
}

// BenchmarkPass tells what part of the processor time that an index pass takes it is to inflate the
// text alone, and of going through the frames for tables, what it is to inflate and to find the
// lines.
func BenchmarkPass(b *testing.B) {
	packed, err := os.ReadFile("../../testdata/archive/butter/first-24-frames.echoreplay")
	if err != nil {
		b.Fatal(err)
	}
	r, err := newReplayReader(b.Context(), formats.BytesReader(packed), int64(len(packed)))
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(r.text(b.Context()))
	if err != nil {
		b.Fatal(err)
	}
	packed = zipOf(b, bytes.Repeat(text, 12), zip.Deflate, "x")
	if r, err = newReplayReader(b.Context(), formats.BytesReader(packed), int64(len(packed))); err != nil {
		b.Fatal(err)
	}
	var inflating, lines, tables, pass time.Duration
	var x *Index
	none := func(*Frame) error { return nil }
	for b.Loop() {
		inflating += processorTime(b, func() error {
			_, err := io.Copy(io.Discard, r.text(b.Context()))
			return err
		})
		pass += processorTime(b, func() (err error) {
			x, err = r.Scan(b.Context(), r.size, nil)
			return err
		})
		info := &x.Chunks[0]
		lines += processorTime(b, func() error {
			return r.lines(b.Context(), info, nil, func([]byte) error { return nil })
		})
		tables += processorTime(b, func() error {
			_, err := r.visit(b.Context(), 0, info, none)
			return err
		})
	}
	b.ReportMetric(float64(inflating)/float64(pass), "inflating/pass")
	b.ReportMetric(float64(inflating)/float64(tables), "inflating/tables")
	b.ReportMetric(float64(lines)/float64(tables), "lines/tables")
}
