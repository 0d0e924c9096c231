package datafile

import (
	"bytes"
	"io"
	"os"
	"testing"
	"time"

	"recfs/formats"

	"github.com/klauspost/compress/zlib"
)

// BenchmarkData reads all data of a large map in turns with the floor: the same streams inflated
// into buffers of the right size with the library alone. x-floor is the ratio of the best turns.
func BenchmarkData(b *testing.B) {
	r, size := benchReader(b)
	stored := storedData(b, r)
	compare(b, size, func() {
		inflateAll(b, stored, func(zr io.Reader, i int) error {
			_, err := io.ReadFull(zr, make([]byte, r.Data[i].Size))
			return err
		})
	}, func() {
		for i := range r.Data {
			if _, err := r.ReadData(b.Context(), i); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkCheck inflates all data of a large map as for index.json. Its floor throws the data
// away, too.
func BenchmarkCheck(b *testing.B) {
	r, size := benchReader(b)
	stored := storedData(b, r)
	compare(b, size, func() {
		inflateAll(b, stored, func(zr io.Reader, _ int) error {
			_, err := io.Copy(io.Discard, zr)
			return err
		})
	}, func() {
		for i := range r.Data {
			if _, err := r.CheckData(b.Context(), i, io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func compare(b *testing.B, size int64, floor, ours func()) {
	b.SetBytes(2 * size)
	best := [2]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		for k, f := range []func(){floor, ours} {
			start := time.Now()
			f()
			best[k] = min(best[k], time.Since(start))
		}
	}
	b.ReportMetric(float64(best[1])/float64(best[0]), "x-floor")
}

// benchReader returns a large real map if there is one, else one of our own.
func benchReader(b *testing.B) (r *Reader, size int64) {
	src, err := os.ReadFile(sharedMaps + "/ddnet-Tutorial.map")
	if err != nil {
		src = largeMap()
	}
	if r, err = NewReader(b.Context(), formats.BytesReader(src), int64(len(src))); err != nil {
		b.Fatal(err)
	}
	for _, d := range r.Data {
		size += d.Size
	}
	return r, size
}

func storedData(b *testing.B, r *Reader) [][]byte {
	stored := make([][]byte, len(r.Data))
	for i := range stored {
		var err error
		if stored[i], err = readFull(b.Context(), r.src, r.Data[i].Offset, r.Data[i].Stored); err != nil {
			b.Fatal(err)
		}
	}
	return stored
}

func inflateAll(b *testing.B, stored [][]byte, read func(zr io.Reader, i int) error) {
	zr, err := zlib.NewReader(bytes.NewReader(stored[0]))
	if err != nil {
		b.Fatal(err)
	}
	for i, src := range stored {
		if err := zr.(zlib.Resetter).Reset(bytes.NewReader(src), nil); err != nil {
			b.Fatal(err)
		}
		if err := read(zr, i); err != nil {
			b.Fatal(err)
		}
		if n, err := zr.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			b.Fatal(n, err)
		}
	}
}
