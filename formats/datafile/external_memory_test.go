package datafile

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"testing"

	"recfs/cache"
	"recfs/formats"
)

// The pixels of an external image are counted before they are made, where they have their own form
// and where not, and are given back.
func TestExternalMemory(t *testing.T) {
	rect := image.Rect(0, 0, 1500, 1000)
	for name, m := range map[string]image.Image{"rgba": image.NewNRGBA(rect), "gray": image.NewGray(rect)} {
		var file bytes.Buffer
		if err := png.Encode(&file, m); err != nil {
			t.Fatal(err)
		}
		x := &externalImage{name: "x", file: formats.File{ReaderAt: formats.BytesReader(file.Bytes()), Stamp: formats.Stamp{Size: int64(file.Len())}}}
		c := cache.New(0, nil)
		tries := 0
		err := c.Do(t.Context(), 0, func(ctx context.Context) error {
			tries++
			m, held, err := x.decode(ctx)
			defer held.Free()
			if err == nil && m.Rect != rect {
				t.Errorf("%s: %v", name, m.Rect)
			}
			return err
		})
		now, peak := c.Work()
		if want := int64(2 * 4 * 1500 * 1000); err != nil || tries < 2 || peak < want || now != 0 {
			t.Errorf("%s: %v after %d tries; %d bytes at most, %d expected, %d left", name, err, tries, peak, want, now)
		}
		c.Close()
	}
}
