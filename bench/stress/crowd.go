//go:build linux

package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"recfs/bench/internal/harness"
	"recfs/bench/internal/packing"
	"recfs/bench/internal/pieces"
)

// A maker writes one file.
type maker struct {
	name  string
	write func(w io.Writer, i int) error
}

// imageMap has an image of 400 MB, which a layer shows.
var imageMap = mapOf([]int32{1, 10_000, 10_000, 0, -1, 0}, []item{tiles(1, 1000, -1, 1), tiles(0, 1000, 0, 1)},
	content{10_000, 10_000, 4, 7}, content{1000, 1000, 4, 7})

// makers are the kinds of hostile files in the crowd.
var makers = []maker{
	// Two megabytes: the game layer has 11000×11000 tiles, 484 MB of hardly anything.
	{"tiles.map", mapOf(nil, []item{tiles(1, 11_000, -1, 0)}, content{11_000, 11_000, 4, 1})},
	{"lines.nhgame", longLog},
	{"image.map", imageMap},
	{"window.tar.zst", wideTar},
	// The preview has as many pixels as one may have.
	{"preview.map", mapOf(nil, []item{tiles(1, 9400, -1, 0), tiles(0, 9400, -1, 0)}, content{9400, 9400, 4, 7})},
	{"frames.butter", swollen("butter/arena_v1_gzip.butter", 1<<24)},
	// As many numbered tiles as a document may have.
	{"numbers.map", mapOf(nil, []item{tiles(1, 2300, -1, 0), tiles(2, 2300, -1, 0)}, content{2300, 2300, 4, 7}, content{2300, 2300, 2, 7})},
	{"line.echoreplay", longFrames},
	{"bomb.teehistorian.gz", bomb(0, "teehistorian/reload-20.1.teehistorian", 400)},
	// As many quads as a document may have.
	{"quads.map", mapOf(nil, []item{tiles(1, 1000, -1, 1), {5, []int32{0, 3, 0, 2, 650_000, 0, -1, 0, 0, 0}}},
		content{152, 650_000, 1, 7}, content{1000, 1000, 4, 7})},
	{"bodies.hcrp", swollen("hcrp/run-short.hcrp", 1<<26)},
	{"bomb.nhgame.xz", bomb(1, "nethack/small.nhgame", 400)},
	{"packed.map.zst", packed(2, imageMap)},
	{"bomb.hcrp.zst", bomb(2, "hcrp/tiny.hcrp", 400)},
	{"saves.nhgame", swollen("nethack/small.nhgame", 1<<24)},
	{"bomb.echoreplay.bz2", bomb(3, "butter/first-24-frames.echoreplay", 400)},
	{"chunks.butter", swollen("butter/arena_private_bones_v3_zstd7.butter", 1<<24)},
	{"bombs.tar.gz", bombs(0)},
	{"bombs.tar.xz", bombs(1)},
	{"bombs.tar.zst", bombs(2)},
	{"bombs.tar.bz2", bombs(3)},
	{"bombs.zip", zipBombs},
}

// crowd makes one file of each kind, or twelve of those that are asked for, and whole recordings.
func crowd(dir string) error {
	for i, m := range makers {
		each := 1
		if *only != "" {
			each = 12 * strings.Count(","+*only+",", ","+m.name+",")
		}
		for n := range each {
			file := filepath.Join(dir, fmt.Sprintf("%02d-%s", n, m.name))
			if err := harness.Create(file, func(w io.Writer) error { return m.write(w, i+n) }); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	return os.CopyFS(filepath.Join(dir, ordinary), os.DirFS(archiveDir))
}

// ordinary is where the crowd has whole recordings.
const ordinary = "whole"

const archiveDir = "testdata/archive"

func sampleOf(name string) ([]byte, error) { return os.ReadFile(filepath.Join(archiveDir, name)) }

// zeroes are n MiB of nothing.
func zeroes(n int64) io.Reader { return io.LimitReader(endless{}, n*mib) }

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// bomb is a sample with MiB of zeroes behind it, compressed.
func bomb(how int, name string, size int64) func(io.Writer, int) error {
	return func(w io.Writer, _ int) error { return packBomb(w, packing.Compressions[how], name, size) }
}

func packBomb(w io.Writer, c packing.Compression, name string, size int64) error {
	b, err := sampleOf(name)
	return cmp.Or(err, c.Pack(context.Background(), w, io.MultiReader(bytes.NewReader(b), zeroes(size))))
}

func packed(how int, write func(io.Writer, int) error) func(io.Writer, int) error {
	return func(w io.Writer, i int) error {
		var b bytes.Buffer
		return errors.Join(write(&b, i), packing.Compressions[how].Pack(context.Background(), w, &b))
	}
}

// inTemp makes a directory of a bomb for each format, and lets do pack it.
func inTemp(do func(dir string) error) error {
	return harness.InTemp("", func(dir string) (err error) {
		for i, name := range []string{"teehistorian/reload-20.1.teehistorian", "nethack/small.nhgame", "hcrp/tiny.hcrp"} {
			for file, c := range map[string]packing.Compression{"": packing.Plain, "bomb-": packing.Compressions[i]} {
				file = filepath.Join(dir, file+filepath.Base(name)+c.Ext)
				err = cmp.Or(err, harness.Create(file, func(w io.Writer) error { return packBomb(w, c, name, 100) }))
			}
		}
		return cmp.Or(err, do(dir))
	})
}

func bombs(how int) func(io.Writer, int) error {
	return func(w io.Writer, _ int) error {
		return inTemp(func(dir string) error {
			return packing.TarIn(context.Background(), w, dir, packing.Compressions[how])
		})
	}
}

func zipBombs(w io.Writer, _ int) error {
	return inTemp(func(dir string) error { return packing.Zip(w, dir, 8) })
}

// swollen is a sample whose largest compressed piece holds itself again and again, up to size
// bytes.
func swollen(name string, size int) func(io.Writer, int) error {
	return func(w io.Writer, _ int) error {
		b, err := sampleOf(name)
		if err != nil {
			return err
		}
		found := pieces.Find(b)
		if len(found) == 0 {
			return errors.New("nothing is compressed there")
		}
		i := 0
		for k, p := range found {
			if len(p.Content) > len(found[i].Content) {
				i = k
			}
		}
		p := found[i].Content
		_, err = w.Write(pieces.Replace(b, found, i, bytes.Repeat(p, size/len(p))))
		return err
	}
}

// longFrames is a recording of lines of 9 MiB each.
func longFrames(w io.Writer, _ int) error {
	filler := strings.Repeat(`{"name":"x","id":12345,"position":[0.1,2.3,4.5]},`, 9*mib/49)
	for i := range 30 {
		_, err := fmt.Fprintf(w, "2022/05/01 20:15:30.%03d\t{\"sessionid\":\"0123\",\"game_status\":\"playing\",\"extra\":[%s{}],\"teams\":[{},{},{}]}\r\n", i, filler)
		if err != nil {
			return err
		}
	}
	return nil
}

// noise returns bytes that compress to about a half.
func noise(n, seed int) []byte {
	random := rand.New(rand.NewPCG(1, uint64(seed)))
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[random.IntN(16)]
	}
	return b
}

// longLog is a NetHack log with a line of 300 MB of zeroes.
func longLog(w io.Writer, i int) error {
	head := fmt.Sprintf("NHGAME done 00000000 4.003.000\n%78s\n%x 0 0 UGxheWVy Arc Hum Mal Neu\n", "a game of no moves", 1<<50+i)
	_, err := io.Copy(w, io.MultiReader(strings.NewReader(head), zeroes(300), strings.NewReader("\nQ\n")))
	return err
}

// windowSize is how large the windows of zstd frames are, in MiB.
const windowSize = 64

// wideTar is a tar of files of 1 MiB in a zstd frame that asks for such a window.
func wideTar(w io.Writer, i int) error {
	z, err := zstd.NewWriter(w, zstd.WithWindowSize(windowSize*mib), zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return err
	}
	const files = 60
	t := tar.NewWriter(z)
	for n := range files {
		err = cmp.Or(err, t.WriteHeader(&tar.Header{Name: fmt.Sprintf("f%02d.txt", n), Size: mib, Mode: 0o644}))
		_, writeErr := t.Write(noise(mib, i*files+n))
		err = cmp.Or(err, writeErr)
	}
	return cmp.Or(err, t.Close(), z.Close())
}
