//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"recfs/bench/internal/packing"
	"recfs/bench/internal/pieces"
)

// A maker writes one file.
type maker struct {
	name  string
	write func(w io.Writer, i int) error
}

// makers are the kinds of hostile files in the crowd.
var makers = []maker{
	{"tiles.map", hugeMap},
	{"lines.nhgame", longLog},
	{"image.map", imageMap},
	{"window.tar.zst", wideTar},
	{"preview.map", previewMap},
	{"frames.butter", swollen("butter/arena_v1_gzip.butter", 1<<24)},
	{"numbers.map", teleMap},
	{"line.echoreplay", longFrames},
	{"bomb.teehistorian.gz", bomb(0, "teehistorian/reload-20.1.teehistorian", 400)},
	{"quads.map", quadsMap},
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
			each = 0
			if slices.Contains(strings.Split(*only, ","), m.name) {
				each = 12
			}
		}
		for n := range each {
			file := filepath.Join(dir, fmt.Sprintf("%02d-%s", n, m.name))
			if err := create(file, func(w io.Writer) error { return m.write(w, i+n) }); err != nil {
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
	return func(w io.Writer, _ int) error {
		b, err := sampleOf(name)
		if err != nil {
			return err
		}
		return packing.Compressions[how].Pack(context.Background(), w, io.MultiReader(bytes.NewReader(b), zeroes(size)))
	}
}

func packed(how int, write func(io.Writer, int) error) func(io.Writer, int) error {
	return func(w io.Writer, i int) error {
		var b bytes.Buffer
		return errors.Join(write(&b, i), packing.Compressions[how].Pack(context.Background(), w, &b))
	}
}

// inTemp makes a directory of a bomb for each format, and lets do pack it.
func inTemp(do func(dir string) error) (err error) {
	dir, err := os.MkdirTemp("", "recfs-bombs-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for i, name := range []string{"teehistorian/reload-20.1.teehistorian", "nethack/small.nhgame", "hcrp/tiny.hcrp"} {
		b, err := sampleOf(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), append(b, make([]byte, 100*mib)...), 0o666); err != nil {
			return err
		}
		pack := func(w io.Writer) error { return bomb(i, name, 100)(w, 0) }
		if err := create(filepath.Join(dir, "bomb-"+filepath.Base(name)+packing.Compressions[i].Ext), pack); err != nil {
			return err
		}
	}
	return do(dir)
}

func bombs(how int) func(io.Writer, int) error {
	return func(w io.Writer, _ int) error {
		return inTemp(func(dir string) error {
			r, to := io.Pipe()
			go func() { to.CloseWithError(packing.Tar(to, dir)) }()
			return packing.Compressions[how].Pack(context.Background(), w, r)
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
